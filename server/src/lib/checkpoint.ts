/** Names of the places where a death of the process matters most. Tests kill it at each of them. */
export const checkpoints = [
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
