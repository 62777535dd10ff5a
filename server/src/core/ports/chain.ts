import { smallest } from '../../lib/bigint.ts'

export type BlockRef = Readonly<{ height: number; hash: string }>

export type FeeRate = Readonly<{
  /** bitcoin: units per 1000 virtual bytes; evm: maximum wei per gas; monero: units per byte. */
  rate: bigint
  /** evm: priority fee in wei per gas; 0 elsewhere. */
  tip: bigint
  /** evm: wei per gas that the next block charges, base fee and tip. Absent elsewhere. */
  least?: bigint
  /** OP stack: wei per transaction for layer 1 and the operator, on top of gas. Absent elsewhere. */
  l1Fee?: bigint
}>

/** The maximum that a sweep offers: it may wait, so a quarter above the base fee suffices. */
export function sweepRate({ rate, tip, least }: FeeRate): bigint {
  return least === undefined ? rate : smallest(rate, least + (least - tip) / 4n)
}

/** A read with reduced certainty: a block without traces or some of its logs, replies that disagree, or a pruned state. */
export type NodeNote = Readonly<{
  kind: 'traces-missing' | 'logs-missing' | 'logs-disagree' | 'receipts-disagree' | 'state-pruned' | 'nodes-apart'
  /** For example `eth node 1`. */
  node: string
  detail: string
}>
