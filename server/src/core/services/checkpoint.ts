/** Names of the places where a death of the process matters most. Tests kill it at each of them. */
export const exchangeCheckpoints = [
  'create.committed',
  'watch.appended',
  'watch.rewound',
  'step.gathered',
  'step.decided',
  'step.committed',
  'dispatch.estimated',
  'dispatch.signed',
  'dispatch.committed',
  'transaction.before-broadcast',
  'transaction.broadcast',
  'transaction.observed',
  'transaction.confirming',
  'transaction.confirmed',
  'sweep.planned',
] as const

/** On the way of a swap on chain. What broadcasts is the API at first, and the worker where the API died. */
export const swapCheckpoints = [
  'swap.built',
  'approval.checked',
  'approval.sent',
  'swap.recorded',
  'swap.before-broadcast',
  'swap.broadcast',
  'swap.sent',
  'swap.observed',
  'swap.tracked',
] as const

export const checkpoints = [...exchangeCheckpoints, ...swapCheckpoints] as const
export type Checkpoint = (typeof checkpoints)[number]

let listener: ((name: Checkpoint) => void) | null = null

/** Says that the process has come to this place. Free while nobody listens. */
export function checkpoint(name: Checkpoint): void {
  if (listener !== null) listener(name)
}

/** One listener per process; null takes it away. */
export function onCheckpoint(next: ((name: Checkpoint) => void) | null): void {
  listener = next
}
