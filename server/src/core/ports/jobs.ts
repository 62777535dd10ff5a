/** A row that is to be looked at: `dispatch` names a network, the others a row's id. */
export type Job = { kind: 'exchange' | 'transaction' | 'dispatch' | 'swap'; id: string }
