import type { AdminRow } from '@swapyard/schema'

type Texts = string | null

export type Exchange = Readonly<{
  id: string
  partner: Texts
  external_id: Texts
  type: string
  flow: string
  status: string
  reason: Texts
  from: string
  to: string
  fromAmount: Texts
  toAmount: Texts
  /** What the quote gives for one coin. */
  rate: Texts
  /** Of a fixed rate, in coins of the target. */
  quotedFees: Readonly<{ service: Texts; partner: Texts; network: Texts }> | null
  /** The intermediary of a private exchange. */
  via: Texts
  partner_fee_bps: number
  created_at: string
  expires_at: string
  /** What the create stated about its deposit. */
  estimate: Readonly<{ confirmations: number | null; seconds: number | null }> | null
}>
export type Address = Readonly<{
  kind: 'deposit' | 'recipient' | 'refund'
  leg?: number
  network: string
  address: string
  memo: Texts
  url: Texts
}>
export type Event = Readonly<{
  at: string
  event: string
  status: Texts
  reason: Texts
  detail: Readonly<Record<string, unknown>> | null
}>
/** A deposit (`execution`) or a payout, refund or sweep. */
export type Transfer = Readonly<{
  what: 'execution' | 'payout'
  id: string
  leg: number
  currency: Texts
  amount: Texts
  units: string
  created_at: string
  links: readonly Readonly<{ hash: string; url: Texts }>[]
  /** Of an execution. */
  status?: string
  reason?: Texts
  decision?: Texts
  deposit?: string
  dueAmount?: Texts
  dueCurrency?: Texts
  rate_kind?: Texts
  /** Of a payout. */
  purpose?: string
  state?: string
  attention?: Texts
  address?: string
}>
/** A comparison of the price guard. With `at` it held a deposit then; without, it is that of current prices. */
export type Move = Readonly<{
  at?: string
  deposit: Texts
  currency: Texts
  quoted: Texts
  current: Texts
  movePercent: Texts
  allowedPercent?: string
  isFar?: boolean | null
}>
export type Guards = Readonly<{
  fixedUntil: Texts
  includedBy: Texts
  tolerancePercent: Texts
  leastPercent: Texts
  maxAmount: Texts
  price: Readonly<{ allowedPercent: Texts; whenHeld: readonly Move[]; now: readonly Move[] | null }>
}>
export type Order = Readonly<{
  id: string
  venue: string
  state: string
  give_asset: string
  giveAmount: Texts
  take_asset: string
  takeAmount: Texts
  created_at: string
}>
export type Entry = Readonly<{
  id: string
  event: string
  at: string
  postings: readonly Readonly<{ debit: string; credit: string; currency: string; amount: string }>[]
}>
export type ExchangeDetails = Readonly<{
  exchange: Exchange
  addresses: readonly Address[]
  guards: Guards
  timeline: readonly Event[]
  transfers: readonly Transfer[]
  orders: readonly Order[]
  ledger: readonly Entry[]
  facts: readonly unknown[]
  plan: unknown
}>

/** The schema leaves the members of rows open: server/src/admin/reads/exchange-details.ts writes them. */
export const readExchangeDetails = (row: AdminRow<'exchange'>): ExchangeDetails => row as unknown as ExchangeDetails
