/** The networks of the DeFi half, as the partner interface names them. */
export const swapNetworks = [
  'eth',
  'sol',
  'sui',
  'sei',
  'arbitrum',
  'base',
  'bsc',
  'cchain',
  'celo',
  'linea',
  'matic',
  'op',
  'sonic',
  'uni',
] as const

export const swapStatuses = ['pending', 'confirming', 'finished', 'failed'] as const
export type SwapStatus = (typeof swapStatuses)[number]

/** Nodes refused it; the contract did; no node knows it any more; another transaction took its nonce. */
export const swapReasons = ['rejected', 'reverted', 'dropped', 'replaced'] as const
export type SwapReason = (typeof swapReasons)[number]

type Block = Readonly<{ height: number; hash: string }>
/** A side of a swap: units of a token, with the decimals by which partners read them. */
export type SwapSide = Readonly<{ token: string; decimals: number; units: bigint }>

/** What is known of a swap from its transaction, and never changes. Addresses are lower case. */
export type SwapTerms = Readonly<{
  network: string
  hash: string
  sender: string
  nonce: number
  recipient: string
  from: SwapSide
  /** What the partner expected to receive. */
  to: SwapSide
  minReceived: bigint
  feePpm: number
  feeTo: string
  /** Seconds since 1970 after which the contract refuses it. */
  deadline: number
}>

/** A swap that a partner sent. */
export type Swap = SwapTerms &
  Readonly<{
    id: string
    partnerId: string
    status: SwapStatus
    reason: SwapReason | null
    /** What the recipient got, by the receipt. */
    receivedUnits: bigint | null
    block: Block | null
    createdAt: Date
    updatedAt: Date
  }>

/** What the chain says of its transaction now. */
export type TransactionObservation =
  | Readonly<{
      kind: 'included'
      block: Block
      confirmations: number
      ok: boolean
      received: bigint | null
      fee: bigint | null
    }>
  | Readonly<{ kind: 'pending' }>
  | Readonly<{ kind: 'unseen' }>
  | Readonly<{ kind: 'replaced' }>

export type SwapProgress = Readonly<{
  status: SwapStatus
  reason: SwapReason | null
  receivedUnits: bigint | null
  /** What the referrer got, by the receipt. */
  feeUnits: bigint | null
  block: Block | null
  /** Nothing can change any more: it is looked at no longer. */
  isFinal: boolean
}>

export type TrackLimits = Readonly<{
  confirmations: number
  /** Depth from which no block is taken back. */
  finalityBlocks: number
  /** A transaction that no node has known for so long is dropped. */
  droppedMs: number
}>

/**
 * Where a swap stands by what the chain says. Up to finality the row follows the chain, so that a reorg under a finished swap
 * opens it again, and one that was dropped or refused and gets on the chain before its deadline counts.
 */
export function decideProgress(
  swap: Pick<Swap, 'deadline' | 'reason'>,
  sight: TransactionObservation,
  at: Readonly<{ nowMs: number; seenMs: number }>,
  { confirmations, finalityBlocks, droppedMs }: TrackLimits,
): SwapProgress {
  const nowhere = { receivedUnits: null, feeUnits: null, block: null }
  switch (sight.kind) {
    case 'included': {
      const { block, ok, received, fee } = sight
      const paid = { block, receivedUnits: received, feeUnits: fee }
      const depth = sight.confirmations
      const isFinal = depth >= Math.max(finalityBlocks, confirmations)
      // What a receipt says of a shallow block is not told as an end.
      if (depth < confirmations) return { ...paid, status: 'confirming', reason: null, isFinal: false }
      return ok
        ? { ...paid, status: 'finished', reason: null, isFinal }
        : { ...nowhere, status: 'failed', reason: 'reverted', block, isFinal }
    }
    case 'pending':
      return { ...nowhere, status: 'pending', reason: null, isFinal: false }
    case 'replaced':
      return { ...nowhere, status: 'failed', reason: 'replaced', isFinal: true }
    case 'unseen': {
      const isRejected = swap.reason === 'rejected'
      if (!isRejected && at.nowMs - at.seenMs < droppedMs)
        return { ...nowhere, status: 'pending', reason: null, isFinal: false }
      // Whoever still has it may send it again; after its deadline it can only revert.
      const isFinal = at.nowMs > swap.deadline * 1000 + droppedMs
      return { ...nowhere, status: 'failed', reason: isRejected ? 'rejected' : 'dropped', isFinal }
    }
  }
}
