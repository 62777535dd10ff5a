export type BlockRef = Readonly<{ height: number; hash: string }>

export type FeeRate = Readonly<{
  /** bitcoin: units per 1000 virtual bytes; evm: maximum wei per gas; monero: units per byte. */
  rate: bigint
  /** evm: priority fee in wei per gas; 0 elsewhere. */
  tip: bigint
  /** OP stack: wei per transaction for layer 1, on top of gas. Absent elsewhere. */
  l1Fee?: bigint
}>
