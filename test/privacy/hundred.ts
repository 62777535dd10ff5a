import { setTimeout as delay } from 'node:timers/promises'
import { formatUnits } from 'viem'
import type { AssetId } from '../../server/src/core/domain/asset.ts'
import { unitsWorth } from '../../server/src/core/domain/price.ts'
import type { Json, Scenario } from '../support/scenario.ts'
import type { PayerFact, RecipientFact } from './observer.ts'

export type Sizes = 'random' | 'equal'
export type Order = Readonly<{
  from: AssetId
  to: AssetId
  sizes: Sizes
  usd: number
  privateType: 'efficient' | 'privatePlus'
  /** When the payer pays, after the first one. */
  atMs: number
}>

/** One exchange with both of its ends, which nobody outside knows to belong together. */
export type Pair = Order &
  Readonly<{
    id: string
    amount: string
    depositAddress: string
    refundAddress: string
    payer: PayerFact
    recipient: RecipientFact
    /** Transactions of its two payouts. */
    between: string
    paidBy: string
  }>

const DONE_MS = 600_000
const EQUAL_USD = 60
/** A decade, evenly in its logarithm, as sizes of payments are. */
const [LEAST_USD, MOST_USD] = [20, 200]

/**
 * A hundred: half of one size, half of random ones; both directions of a pair at the same time, so that each wallet takes
 * deposits of some and pays recipients of others. `throughMonero` of them insist on Monero. Payers come in random order over `overMs`.
 */
export function drawOrders(
  ends: readonly (readonly [AssetId, AssetId])[],
  { count, overMs, throughMonero }: Readonly<{ count: number; overMs: number; throughMonero: number }>,
): readonly Order[] {
  return Array.from({ length: count }, (_, n) => {
    const sizes = n < count / 2 ? 'equal' : 'random'
    const [from, to] = ends[n % ends.length] ?? ['btc@btc', 'eth@eth']
    const usd = sizes === 'equal' ? EQUAL_USD : LEAST_USD * (MOST_USD / LEAST_USD) ** Math.random()
    const privateType =
      n % Math.ceil(count / Math.max(throughMonero, 1)) < Math.min(throughMonero, 1) ? 'privatePlus' : 'efficient'
    return { from, to, sizes, usd, privateType, atMs: Math.random() * overMs }
  })
}

/** All created over HTTP at once and paid by real transactions; returns when the last one is finished. */
export async function runExchanges(scenario: Scenario, orders: readonly Order[]): Promise<readonly Pair[]> {
  const made = await Promise.all(orders.map((order) => create(scenario, order)))
  const startedAt = performance.now()
  const hashes = await Promise.all(
    made.map(async ({ exchange, amount }, n) => {
      await delay(Math.max(0, (orders[n]?.atMs ?? 0) - (performance.now() - startedAt)))
      return scenario.deposit(exchange, amount)
    }),
  )
  await scenario.until('all are finished', () => allFinished(scenario, orders.length), DONE_MS)
  return Promise.all(made.map((one, n) => readPair(scenario, one, hashes[n] ?? '')))
}

type Made = Readonly<{ exchange: Json; order: Order; amount: string }>

async function create(scenario: Scenario, order: Order): Promise<Made> {
  const [[fromCurrency, fromNetwork], [toCurrency, toNetwork]] = [split(order.from), split(order.to)]
  const [{ address }, back] = await Promise.all([scenario.wallet(toNetwork), scenario.wallet(fromNetwork)])
  const amount = amountOf(scenario, order)
  const { status, body } = await scenario.call('POST', '/v1/cross-chain/exchange/private', {
    fromCurrency,
    fromNetwork,
    toCurrency,
    toNetwork,
    fromAmount: amount,
    address,
    refundAddress: back.address,
    privateType: order.privateType,
  })
  if (status !== 201) throw new Error(`${order.from} → ${order.to} of ${amount}: ${JSON.stringify(body)}`)
  return { exchange: { ...body, refundAddress: back.address }, order, amount }
}

export const split = (asset: string): [ticker: string, network: string] => {
  const [ticker = '', network = ''] = asset.split('@')
  return [ticker, network]
}

const USD_DIGITS = 4
/** What a person would type. */
const SHOWN_DECIMALS = 8

function amountOf({ app }: Scenario, { from, usd }: Order): string {
  const [ticker, network] = split(from)
  const currency = app.catalogue.list().find(({ asset }) => asset.ticker === ticker && asset.network === network)
  const price = app.books.current().prices.usd.get(currency?.definition.priceKey ?? '')
  if (!currency || !price) throw new Error(`no price of ${from}`)
  const { decimals } = currency.asset
  const units = unitsWorth(BigInt(Math.round(usd * 10 ** USD_DIGITS)) * 10n ** 8n, currency.asset, price.ask, 'up')
  const rest = 10n ** BigInt(Math.max(0, decimals - SHOWN_DECIMALS))
  return formatUnits(units - (units % rest), decimals)
}

async function allFinished({ app }: Scenario, count: number): Promise<boolean> {
  const rows = await app.database.query<{ status: string; count: number }>(
    'select status, count(*)::int as count from exchanges where plan is not null group by 1',
  )
  const bad = rows.filter(({ status }) => status === 'failed' || status === 'refunded')
  if (bad.length > 0) throw new Error(`exchanges ended otherwise: ${JSON.stringify(rows)}`)
  return rows.find(({ status }) => status === 'finished')?.count === count
}

async function readPair(scenario: Scenario, { order, exchange: made, amount }: Made, txHash: string): Promise<Pair> {
  const { request, exchanges } = await scenario.status(made)
  const [first, second, ...more] = exchanges
  if (more.length > 0 || second?.payinHash !== first?.payoutHash) throw new Error(`${made.id} has not two legs`)
  return {
    ...order,
    id: made.id,
    amount,
    depositAddress: request.depositAddress,
    refundAddress: made.refundAddress,
    payer: { network: request.fromNetwork, txHash },
    recipient: { network: request.toNetwork, address: request.recipientAddress },
    between: first.payoutHash,
    paidBy: second.payoutHash,
  }
}
