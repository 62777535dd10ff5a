import type { AssetId } from '../../../core/domain/asset.ts'

/** From `from`, included, to `to`, excluded. */
export type Period = Readonly<{ from: Date; to: Date }>

/** What the rows of a report are grouped by: a day in UTC, `btc@btc/eth@eth`, a partner's name, or an exchange's id. */
export type Grouping = 'day' | 'pair' | 'partner' | 'exchange'

/** Kinds of accounts: `liability:exchange` stands for the accounts of all exchanges. Debits less credits, in base units. */
export type TrialBalanceRow = Readonly<{
  account: string
  assetId: AssetId
  opening: bigint
  debits: bigint
  credits: bigint
  closing: bigint
}>

/**
 * Income of conversions and refunds, net of reversals, in base units. `spread` is below zero where conversions lost more than
 * they earned. `partnerFees` are owed to partners. `group` is null for converted balances of partners, which belong to no
 * exchange, except by day.
 */
export type RevenueRow = Readonly<{
  group: string | null
  assetId: AssetId
  exchanges: number
  spread: bigint
  partnerFees: bigint
  networkFees: bigint
  dust: bigint
}>

/**
 * What networks were paid, in base units: for payouts, refunds and withdrawals, for sweeps of deposits with splits and
 * consolidations of outputs, and for supplying gas. `stranded` is the gas that stays on deposit addresses; later sweeps use
 * it, and then it is negative. `lost` are deposits that left the chain after their payout was signed, and fees of reversed
 * conversions that their partner had been paid; it is negative when a lost deposit returns. The fee of a transaction that pays
 * several exchanges is divided equally. `group` is null where no exchange caused the cost.
 */
export type CostRow = Readonly<{
  group: string | null
  assetId: AssetId
  transactions: number
  payouts: bigint
  sweeps: bigint
  gas: bigint
  stranded: bigint
  lost: bigint
}>

/** A row of a report by its place in the order: by group, the one without a group last, and by asset. */
export type ReportPlace = Pick<RevenueRow, 'group' | 'assetId'>

/** Sums of the ledger over a period, in the order of their groups. They read the postings of the period, or all of them. */
export interface ReportStore {
  trialBalance(period: Period): Promise<readonly TrialBalanceRow[]>
  /** At most `limit` rows after the place `after`. */
  revenue(period: Period, grouping: Grouping, limit: number, after?: ReportPlace | null): Promise<readonly RevenueRow[]>
  costs(period: Period, grouping: Grouping, limit: number, after?: ReportPlace | null): Promise<readonly CostRow[]>
}
