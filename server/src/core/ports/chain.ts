export type BlockRef = Readonly<{ height: number; hash: string }>

export type FeeRate = Readonly<{
  /** bitcoin: units per 1000 virtual bytes; evm: wei per gas, the most that is paid; monero: units per byte. */
  rate: bigint
  /** evm: priority part in wei per gas; 0 elsewhere. */
  tip: bigint
  /** evm, OP stack: wei that the first layer takes per transaction, besides gas. Absent elsewhere. */
  l1Fee?: bigint
}>
