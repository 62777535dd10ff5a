export type BlockRef = Readonly<{ height: number; hash: string }>

export type FeeRate = Readonly<{
  /** bitcoin: units per 1000 virtual bytes; evm: maximum wei per gas; monero: units per byte. */
  rate: bigint
  /** evm: priority fee in wei per gas; 0 elsewhere. */
  tip: bigint
  /** OP stack: wei per transaction for layer 1, on top of gas. Absent elsewhere. */
  l1Fee?: bigint
}>

/** A read with reduced certainty: a block without traces or without some of its logs, or a state that the node has pruned. */
export type NodeNote = Readonly<{
  kind: 'traces-missing' | 'logs-missing' | 'state-pruned'
  /** For example `eth node 1`. */
  node: string
  detail: string
}>
