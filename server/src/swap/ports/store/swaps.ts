import type { AssetId } from '../../../core/domain/asset.ts'
import type { Swap, SwapProgress, SwapStatus, SwapTerms } from '../../domain/swap.ts'

export type NewSwap = SwapTerms &
  Readonly<{
    id: string
    partnerId: string
    /** The signed transaction, kept until nodes have taken it; null where it was sent by others. */
    raw: string | null
    /** The fee goes to the operator, who owes it to the partner. */
    owesFee: boolean
  }>

/** A swap as the tracker works on it. */
export type TrackedSwap = Readonly<{
  swap: Swap
  /** Counts updates: whoever decided upon an older state decided in vain. */
  version: number
  raw: string | null
  /** When some node knew it last; before that, when it was recorded. */
  seenAt: Date
}>

export type SwapAdvance = Readonly<{
  progress: SwapProgress
  /** What of it stands in the books, where it is the operator's debt; null = nothing, and what stood there is taken back. */
  fee: Readonly<{ assetId: AssetId; units: bigint }> | null
  /** Some node knows it: now, by the database's clock. */
  isSeen: boolean
  /** Nodes have it: we need not keep it. */
  isSent: boolean
  /** When it is looked at again. */
  nextLookMs: number
}>

/** Exact, ANDed; tokens in canonical form. */
export type SwapFilter = Readonly<{
  status?: SwapStatus
  tokenIn?: string
  tokenOut?: string
  network?: string
}>
export type SwapQuestion = SwapFilter & Readonly<{ partnerId: string }>

export interface SwapStore {
  /** One row per network and hash: a repeat finds the first, and opens it again where nodes had refused or dropped it. null = another partner's. */
  record(swap: NewSwap): Promise<TrackedSwap | null>
  find(id: string): Promise<TrackedSwap | null>
  /** The partner's own of this hash. */
  findSent(partnerId: string, network: string, hash: string): Promise<Swap | null>
  /** False where somebody else was faster. The row, its journal entries and the next look: together, or not at all. */
  advance(tracked: TrackedSwap, advance: SwapAdvance): Promise<boolean>
  /** The last 24 hours, newest first. */
  list(
    question: SwapQuestion,
    after: Readonly<{ createdAt: Date; id: string }> | null,
    limit: number,
    offset: number,
  ): Promise<readonly Swap[]>
  count(question: SwapQuestion): Promise<number>
}

export type HeldFees = Readonly<{ address: string; assetId: AssetId; units: bigint }>

/** Answers that are kept by their Idempotency-Key for a day, and where a partner's fees go. */
export interface SwapDesk {
  findAnswer(partnerId: string, key: string): Promise<Readonly<{ requestHash: string; answer: string | null }> | null>
  /** The first answer of a key stays: returns the one that counts. */
  keepAnswer(
    partnerId: string,
    kept: Readonly<{ key: string; requestHash: string; answer: string }>,
  ): Promise<Readonly<{ requestHash: string; answer: string }>>
  /** Where the partner takes its fees on a network; null = none is set. */
  feeAddress(partnerId: string, network: string): Promise<string | null>
  setFeeAddress(partnerName: string, network: string, address: string | null): Promise<boolean>
  /** What the ledger says that the operator's addresses hold of partners' fees; where something was, also nothing. */
  fees(): Promise<readonly HeldFees[]>
  /** Of an asset in which a fee stands in the books; null where none does. */
  feeDecimals(assetId: AssetId): Promise<number | null>
  /** An address of the service's own, as its ecosystem spells it: of its wallets or of an exchange, on any network. */
  isOurs(address: string): Promise<boolean>
}
