import { type Expiry, isProvenByChain } from './expiry.ts'

/** The networks of the DeFi half, by their names in the partner API. */
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

/**
 * Refused by nodes; reverted by the contract; no longer known by any node; replaced by another transaction with its nonce; in no
 * final block before its expiry.
 */
export const swapReasons = ['rejected', 'reverted', 'dropped', 'replaced', 'expired'] as const
export type SwapReason = (typeof swapReasons)[number]

type Block = Readonly<{ height: number; hash: string }>
/** A side of a swap: base units of a token, with its decimals. */
export type SwapSide = Readonly<{ token: string; decimals: number; units: bigint }>

/** The immutable terms of a swap, from its transaction. Addresses are canonical. */
export type SwapTerms = Readonly<{
  network: string
  hash: string
  sender: string
  /** Null in families without nonces. */
  nonce: number | null
  recipient: string
  from: SwapSide
  /** The output that the partner expected. */
  to: SwapSide
  minReceived: bigint
  feePpm: number
  /** Null without a fee. */
  feeTo: string | null
  expiry: Expiry
}>

/** A swap that a partner sent. */
export type Swap = SwapTerms &
  Readonly<{
    id: string
    partnerId: string
    status: SwapStatus
    reason: SwapReason | null
    /** Amount that the recipient got, from the receipt. */
    receivedUnits: bigint | null
    block: Block | null
    createdAt: Date
    updatedAt: Date
    /** The partner's own id of it; null without one. */
    externalId: string | null
  }>

/** The current state of the transaction on the chain. */
export type TransactionObservation =
  | Readonly<{
      kind: 'included'
      block: Block
      confirmations: number
      ok: boolean
      /** Amount that the recipient got, from the receipt. */
      received: bigint | null
      /** Referrer fee, from the receipt. */
      fee: bigint | null
    }>
  | Readonly<{ kind: 'pending' }>
  /** `chainTimeMs`: time of a block that every node had before it answered; absent if it was not read. */
  | Readonly<{ kind: 'unseen'; chainTimeMs?: number }>
  /** Another transaction with the same account and nonce is final. */
  | Readonly<{ kind: 'replaced' }>
  /** No final block contains the transaction, and no later one can. */
  | Readonly<{ kind: 'expired' }>

export type SwapProgress = Readonly<{
  status: SwapStatus
  reason: SwapReason | null
  receivedUnits: bigint | null
  /** Referrer fee, from the receipt. */
  feeUnits: bigint | null
  block: Block | null
  /** The result cannot change: tracking ends. */
  isFinal: boolean
}>

export type TrackLimits = Readonly<{
  confirmations: number
  /** Depth from which a block counts as final. */
  finalityBlocks: number
  /** After this time without any node knowing a transaction, it counts as dropped, unless the chain proves its expiry. */
  droppedMs: number
}>

/** The amounts and the block of a swap that is in no block. */
export const unmined = { receivedUnits: null, feeUnits: null, block: null } as const

/**
 * Derives a swap's progress from the chain. Until finality the row follows the chain: a reorg reopens a finished swap, and a
 * dropped or refused transaction that is still mined before its expiry counts.
 */
export function decideProgress(
  swap: Pick<Swap, 'expiry' | 'status' | 'reason' | 'block'>,
  observation: TransactionObservation,
  at: Readonly<{ nowMs: number; lastSeenMs: number }>,
  { confirmations, finalityBlocks, droppedMs }: TrackLimits,
): SwapProgress {
  switch (observation.kind) {
    case 'included': {
      const { block, ok, received, fee } = observation
      const paid = { block, receivedUnits: received, feeUnits: fee }
      const depth = observation.confirmations
      const isFinal = depth >= Math.max(finalityBlocks, confirmations)
      const hasEnded = swap.status === 'finished' || swap.reason === 'reverted'
      // The depth counts to the head of the slowest node, which may be lower than before without a reorganisation.
      const wasConfirmed = hasEnded && swap.block?.hash === block.hash
      // A receipt in a shallow block does not end the swap.
      if (depth < confirmations && !wasConfirmed) return { ...paid, status: 'confirming', reason: null, isFinal: false }
      return ok
        ? { ...paid, status: 'finished', reason: null, isFinal }
        : { ...unmined, status: 'failed', reason: 'reverted', block, isFinal }
    }
    case 'pending':
      return { ...unmined, status: 'pending', reason: null, isFinal: false }
    case 'replaced':
      return { ...unmined, status: 'failed', reason: 'replaced', isFinal: true }
    case 'expired':
      return {
        ...unmined,
        status: 'failed',
        reason: swap.reason === 'rejected' ? 'rejected' : 'expired',
        isFinal: true,
      }
    case 'unseen': {
      const isRejected = swap.reason === 'rejected'
      const { expiry } = swap
      // The block or checkpoint that proves the expiry ends the swap, within minutes for a height and a day or two for an epoch.
      const isWaiting = isProvenByChain(expiry) || at.nowMs - at.lastSeenMs < droppedMs
      if (!isRejected && isWaiting) return { ...unmined, status: 'pending', reason: null, isFinal: false }
      // Anyone with its bytes may broadcast it again; after its time it can only revert. The time is that of the blocks, which a stopped
      // sequencer leaves behind our clock. Other expiries are observed on the chain.
      const { chainTimeMs = 0 } = observation
      const isFinal = expiry.by === 'time' && chainTimeMs > expiry.at * 1000 + droppedMs
      return { ...unmined, status: 'failed', reason: isRejected ? 'rejected' : 'dropped', isFinal }
    }
  }
}
