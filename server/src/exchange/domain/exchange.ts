import type { Asset, AssetId } from '../../core/domain/asset.ts'
import type { PrivatePlan } from './private-plan.ts'

/** What partners see. The partner API fixes the three terminal statuses. */
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

/** Why an exchange or execution is where it is; additive `statusReason` of the API. */
export const statusReasons = [
  'EXPIRED',
  'CANCELLED',
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
  'NO_REFUND_ADDRESS',
  'DEPOSIT_VANISHED',
  'REORG_AFTER_PAYOUT',
  'PAYOUT_VANISHED',
  'LIMIT',
  'OPERATOR',
  'UNKNOWN_OUTCOME',
] as const
export type StatusReason = (typeof statusReasons)[number]

/** One conversion of a plan. A standard exchange has one leg; a private one two, through an intermediary. */
export type Leg = Readonly<{ from: Asset; to: Asset }>

/** The exchange as it was asked for. Amounts are units of the first leg's `from` and the last leg's `to`. */
export type Exchange = Readonly<{
  id: string
  partnerId: string
  type: ExchangeType
  flow: Flow
  legs: readonly Leg[]
  fromUnits: bigint
  toUnits: bigint
  deposit: { address: string; memo: string | null }
  /** null = the proceeds are credited to the partner's balance. */
  recipient: { address: string; memo: string | null } | null
  refund: { address: string; memo: string | null } | null
  status: ExchangeStatus
  reason: StatusReason | null
  createdAt: Date
  expiresAt: Date
  /** Until when a deposit must be first seen for the fixed rate to hold; null where it floats. */
  fixedUntil: Date | null
  /** Partner's fee in force when it was created. */
  partnerFeeBps: number
  /** Of a private one, for whoever steps it: no answer shows it. */
  plan?: PrivatePlan
}>

/** What goes back to the user, from the moment it is reserved: in the asset that came in, which need not be the leg's. */
export type RefundView = Readonly<{
  assetId: AssetId
  units: bigint
  address: string
  memo: string | null
  /** null until it is signed; another one where the fee was raised. */
  txHash: string | null
}>

/** One item of the API's `exchanges`: what became of one deposit (standard) or one leg (private). */
export type ExecutionView = Readonly<{
  leg: number
  status: ExchangeStatus
  reason: StatusReason | null
  receivedUnits: bigint | null
  sentUnits: bigint | null
  payinHash: string | null
  payoutHash: string | null
  /** null where nothing goes back. */
  refund: RefundView | null
  createdAt: Date
}>

/** `executions`: the latest ones, in the order of their deposits. */
export type ExchangeView = Readonly<{ exchange: Exchange; executions: readonly ExecutionView[] }>
