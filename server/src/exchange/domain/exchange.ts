import type { Asset, AssetId } from '../../core/domain/asset.ts'
import { present } from '../../lib/assert.ts'
import type { PrivatePlan } from './private-plan.ts'

/** Statuses that partners see. `finished`, `failed` and `refunded` are terminal. */
export const exchangeStatuses = [
  'pending',
  'confirming',
  'verifying',
  'exchanging',
  'sending',
  'refunding',
  'finished',
  'failed',
  'refunded',
] as const
export type ExchangeStatus = (typeof exchangeStatuses)[number]

export type ExchangeType = 'standard' | 'private'
export type Flow = 'standard' | 'fixed-rate'

/** The reason for a status; `statusReason` in the API. */
export const statusReasons = [
  'EXPIRED',
  'BELOW_MIN',
  'ABOVE_MAX',
  'OUTSIDE_TOLERANCE',
  'NO_LIQUIDITY',
  'DUST',
  'LATE_DEPOSIT',
  'WRONG_ASSET',
  'NOT_RECEIVED',
  'SCREENING',
  'PRICE_GUARD',
  'REFUND_ADDRESS_REQUIRED',
  'DEPOSIT_VANISHED',
  'REORG_AFTER_PAYOUT',
  'PAYOUT_VANISHED',
  'LIMIT',
  'OPERATOR',
  'NETWORK_UNAVAILABLE',
  'CANCELLED',
] as const
export type StatusReason = (typeof statusReasons)[number]

/** One conversion of a plan. A standard exchange has one leg; a private one two, through an intermediary. */
export type Leg = Readonly<{ from: Asset; to: Asset }>

/** What a create states about its deposit. Null where a network is not listed. */
export type Estimate = Readonly<{
  /** Confirmations that a deposit of the requested amount needs. */
  confirmations: number | null
  /** Average time from the deposit to the payout. */
  seconds: number | null
}>

/** The price that a fixed rate was created at, in units of the target. The conversion needs no live price. */
export type QuotedFees = Readonly<{
  /** Value of the ordered amount at the reference rate, before all fees. */
  grossUnits: bigint
  networkUnits: bigint
}>

/** An exchange as ordered. Amounts are units of the first leg's `from` and the last leg's `to`. */
export type Exchange = Readonly<{
  id: string
  partnerId: string
  type: ExchangeType
  flow: Flow
  legs: readonly Leg[]
  fromUnits: bigint
  toUnits: bigint
  /** null for a row without one. */
  estimate: Estimate | null
  deposit: { address: string; memo: string | null }
  /** null = the proceeds are credited to the partner's balance. */
  recipient: { address: string; memo: string | null } | null
  refund: { address: string; memo: string | null } | null
  status: ExchangeStatus
  reason: StatusReason | null
  createdAt: Date
  expiresAt: Date
  /** A deposit must be first seen by then to get the fixed rate; null = floating. */
  fixedUntil: Date | null
  /** A payment that was first seen in the mempool must be in a block within this time; null = floating. */
  fixedInclusionMs: number | null
  /** The partner cancelled it before anything was seen: every deposit is refunded. */
  isCancelled: boolean
  /** The partner's own id of it: any text, not unique. */
  externalId: string | null
  /** The partner's fee at creation. */
  partnerFeeBps: number
  /** null without a fixed rate. */
  quotedFees: QuotedFees | null
  /** Of a private exchange. Internal: no response shows it. */
  plan?: PrivatePlan
}>

/** A refund, from the moment it is reserved. `assetId` is the received asset, which may differ from the ordered one. */
export type RefundView = Readonly<{
  assetId: AssetId
  units: bigint
  address: string
  memo: string | null
  /** null until it is signed. A replacement with a higher fee changes it. */
  txHash: string | null
}>

/** Confirmations of a deposit. `seen` is at most `required`, so that a deep deposit does not change with each block. */
export type ConfirmationsView = Readonly<{ network: string; height: number | null; required: number; seen: number }>

/** The confirmations of a deposit in the block at `height`, if the chain's recorded head is at `head`. */
export function countConfirmations(height: number | null, head: number | null, required: number): number {
  if (height === null || head === null || head < height) return 0
  return Math.min(head - height + 1, required)
}

/** One item of the API's `exchanges`: the execution of one deposit (standard) or one leg (private). */
export type ExecutionView = Readonly<{
  leg: number
  status: ExchangeStatus
  reason: StatusReason | null
  receivedUnits: bigint | null
  sentUnits: bigint | null
  payinHash: string | null
  payoutHash: string | null
  /** null if there is no refund. */
  refund: RefundView | null
  confirmations: ConfirmationsView
  createdAt: Date
}>

/** Source and target asset of an exchange over all of its legs. */
export function endsOf({ id, legs }: Pick<Exchange, 'id' | 'legs'>): Leg {
  const [first, last] = [legs[0], legs.at(-1)]
  return { from: present(first, `the first leg of exchange ${id}`).from, to: present(last, `the last leg of ${id}`).to }
}

/** An exchange with its latest executions, in the order of their deposits. */
export type ExchangeView = Readonly<{ exchange: Exchange; executions: readonly ExecutionView[] }>

/** `completedAt`: when its status became terminal; null while it is open. */
export type ReportedView = ExchangeView & Readonly<{ completedAt: Date | null }>
