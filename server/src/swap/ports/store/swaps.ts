import type { AssetId } from '../../../core/domain/asset.ts'
import type { Swap, SwapProgress, SwapStatus, SwapTerms } from '../../domain/swap.ts'

export type NewSwap = SwapTerms &
  Readonly<{
    id: string
    partnerId: string
    /** The signed transaction, stored until a node keeps it or it is in a block; null if we did not broadcast it. */
    raw: string | null
    /** The fee goes to the operator, who owes it to the partner. */
    owesFee: boolean
    /** The partner's own id of it; null = that of the build, if it had one. */
    externalId: string | null
    /** The reference in the transaction. */
    ref: string
  }>

/** A swap with the state that the tracker needs. */
export type TrackedSwap = Readonly<{
  swap: Swap
  /** Row version for optimistic locking. */
  version: number
  raw: string | null
  /** When a node last knew the transaction; initially the time of recording. */
  lastSeenAt: Date
}>

export type SwapAdvance = Readonly<{
  progress: SwapProgress
  /** The fee that the operator owes and that the ledger shall show; null reverses an earlier booking. */
  fee: Readonly<{ assetId: AssetId; units: bigint }> | null
  /** A node knows the transaction now: sets `lastSeenAt` by the database's clock. */
  isSeen: boolean
  /** The transaction need not be sent again: deletes the stored bytes. */
  isSent: boolean
  /** Delay until the next check. */
  nextCheckMs: number
}>

/** Exact matches, combined with AND. A list matches any of its canonical forms, and an empty one nothing. */
export type SwapFilter = Readonly<{
  status?: SwapStatus
  tokensIn?: readonly string[]
  tokensOut?: readonly string[]
  network?: string
  hashes?: readonly string[]
  senders?: readonly string[]
  externalId?: string
}>
export type SwapQuery = SwapFilter & Readonly<{ partnerId: string }>

export interface SwapStore {
  /**
   * One row per network and hash. A repeat returns the row, and reopens it if nodes had refused or dropped the transaction, or if it had
   * expired and is reported without bytes: then a node has found it on the chain. Null if another partner owns it.
   */
  record(swap: NewSwap): Promise<TrackedSwap | null>
  find(id: string): Promise<TrackedSwap | null>
  /** The partner's swap with this hash. */
  findByHash(partnerId: string, network: string, hash: string): Promise<Swap | null>
  /** A swap that the partner reported, of any age. */
  findReported(partnerId: string, key: Readonly<{ id: string } | { hashes: readonly string[] }>): Promise<Swap | null>
  /** Updates row, journal entries and next check in one transaction. False if the version has changed. */
  advance(tracked: TrackedSwap, advance: SwapAdvance): Promise<boolean>
  /** The last 24 hours, newest first. */
  list(
    query: SwapQuery,
    after: Readonly<{ createdAt: Date; id: string }> | null,
    limit: number,
    offset: number,
  ): Promise<readonly Swap[]>
  count(query: SwapQuery): Promise<number>
}
