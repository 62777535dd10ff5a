/** Points at which a crash of the process matters most. Tests kill the process at each of them. */
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

/** Points of a swap. The API broadcasts first; a worker does so if the API crashed. */
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

/** Points of an event on its way to partners. */
export const eventCheckpoints = [
  'event.rendered',
  'event.published',
  'delivery.claimed',
  'delivery.answered',
  'delivery.finished',
] as const

export const checkpoints = [...exchangeCheckpoints, ...swapCheckpoints, ...eventCheckpoints] as const
export type Checkpoint = (typeof checkpoints)[number]

let listener: ((name: Checkpoint) => void) | null = null

/** Reports that the process reached this point. Costs nothing without a listener. */
export function checkpoint(name: Checkpoint): void {
  if (listener !== null) listener(name)
}

/** Sets the listener of this process; null removes it. */
export function onCheckpoint(next: ((name: Checkpoint) => void) | null): void {
  listener = next
}
