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
export type SwapQuery = SwapFilter & Readonly<{ partnerId: string }>

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
    question: SwapQuery,
    after: Readonly<{ createdAt: Date; id: string }> | null,
    limit: number,
    offset: number,
  ): Promise<readonly Swap[]>
  count(question: SwapQuery): Promise<number>
}
