/** A row to process. The id of `dispatch` is a network, the others are row ids. */
export type Job = { kind: 'exchange' | 'transaction' | 'dispatch' | 'swap'; id: string }
