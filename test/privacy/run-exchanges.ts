import { setTimeout as delay } from 'node:timers/promises'
import { formatUnits } from 'viem'
import type { AssetId } from '../../server/src/core/domain/asset.ts'
import type { Currency } from '../../server/src/core/domain/currency.ts'
import { unitsWorth } from '../../server/src/core/domain/price.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { createRandom } from '../support/random.ts'
import type { Json, Scenario } from '../support/scenario.ts'
import { seed } from '../support/seed.ts'
import type { PublicPayment, PublicRecipient } from './observer.ts'

export type Sizes = 'random' | 'equal'
export type Order = Readonly<{
  from: AssetId
  to: AssetId
  sizes: Sizes
  usd: number
  privateType: 'efficient' | 'privatePlus'
  /** Time of the deposit, from the start of the run. */
  atMs: number
}>

/** One exchange with both of its ends. An outsider does not know which ends belong together. */
export type Pair = Order &
  Readonly<{
    id: string
    amount: string
    depositAddress: string
    refundAddress: string
    payer: PublicPayment
    recipient: PublicRecipient
    /** Transaction hashes of its two payouts. */
    firstPayoutHash: string
    secondPayoutHash: string
  }>

/** Few enough that the app accepts all of them on a busy machine. The time of a create is not observed. */
const CREATES_AT_ONCE = 5
const FINISH_MS_MAX = 5 * PATIENCE_MS
const EQUAL_USD = 60
/** Random sizes spread over a factor of ten, uniformly in the logarithm, like real payments. */
const [USD_MIN, USD_MAX] = [20, 200]

/**
 * Draws orders: half of one size and half of random sizes, in both directions of each pair at the same time, so that each
 * wallet receives deposits of some exchanges and pays recipients of others. `moneroCount` of them require Monero. Payers pay
 * at random times within `durationMs`. `scale` multiplies all sizes: network fees move on a busy machine, and are a smaller
 * fraction of larger amounts.
 */
export function drawOrders(
  assetPairs: readonly (readonly [AssetId, AssetId])[],
  {
    count,
    durationMs,
    moneroCount,
    scale,
  }: Readonly<{ count: number; durationMs: number; moneroCount: number; scale: number }>,
): readonly Order[] {
  const random = createRandom(seed)
  return Array.from({ length: count }, (_, n) => {
    const sizes = n < count / 2 ? 'equal' : 'random'
    const [from, to] = assetPairs[n % assetPairs.length] ?? ['btc@btc', 'eth@eth']
    const usd = scale * (sizes === 'equal' ? EQUAL_USD : USD_MIN * (USD_MAX / USD_MIN) ** random.next())
    const privateType =
      n % Math.ceil(count / Math.max(moneroCount, 1)) < Math.min(moneroCount, 1) ? 'privatePlus' : 'efficient'
    // Monero needs ten confirmations: these pay early, so that the others do not wait for them.
    const atMs = (privateType === 'privatePlus' ? 0.1 : 1) * random.next() * durationMs
    return { from, to, sizes, usd, privateType, atMs }
  })
}

/** Creates all exchanges over HTTP and pays them with real transactions. Returns when the last one is finished. */
export async function runExchanges(scenario: Scenario, orders: readonly Order[]): Promise<readonly Pair[]> {
  const created: CreatedExchange[] = []
  for (let n = 0; n < orders.length; n += CREATES_AT_ONCE)
    created.push(...(await Promise.all(orders.slice(n, n + CREATES_AT_ONCE).map((order) => create(scenario, order)))))
  const startedAt = performance.now()
  const hashes = await Promise.all(
    created.map(async ({ exchange, amount }, n) => {
      await delay(Math.max(0, (orders[n]?.atMs ?? 0) - (performance.now() - startedAt)))
      return scenario.deposit(exchange, amount)
    }),
  )
  await scenario.until('every exchange is finished', () => areAllFinished(scenario, orders.length), FINISH_MS_MAX)
  return Promise.all(created.map((one, n) => readPair(scenario, one, hashes[n] ?? '')))
}

type CreatedExchange = Readonly<{ exchange: Json; order: Order; amount: string }>

async function create(scenario: Scenario, order: Order): Promise<CreatedExchange> {
  const [[fromCurrency, fromNetwork], [toCurrency, toNetwork]] = [splitAssetId(order.from), splitAssetId(order.to)]
  const [{ address }, refundWallet] = await Promise.all([scenario.wallet(toNetwork), scenario.wallet(fromNetwork)])
  const amount = toAmount(scenario, order)
  const { status, body } = await scenario.call('POST', '/v1/cross-chain/exchange/private', {
    fromCurrency,
    fromNetwork,
    toCurrency,
    toNetwork,
    fromAmount: amount,
    address,
    refundAddress: refundWallet.address,
    privateType: order.privateType,
  })
  if (status !== 201) throw new Error(`${order.from} → ${order.to} of ${amount}: ${JSON.stringify(body)}`)
  return { exchange: { ...body, refundAddress: refundWallet.address }, order, amount }
}

export const splitAssetId = (asset: string): [ticker: string, network: string] => {
  const [ticker = '', network = ''] = asset.split('@')
  return [ticker, network]
}

export function findCurrency({ app }: Scenario, assetId: string): Currency {
  const currency = app.catalogue.list().find(({ asset }) => asset.id === assetId)
  if (!currency) throw new Error(`${assetId} is not listed`)
  return currency
}

const USD_DECIMALS = 4
/** Decimals that a person would type. */
const DECIMALS_MAX = 8

function toAmount(scenario: Scenario, { from, usd }: Order): string {
  const { asset, definition } = findCurrency(scenario, from)
  const price = scenario.app.books.current().prices.usd.get(definition.priceKey)
  if (!price) throw new Error(`no price of ${from}`)
  const units = unitsWorth(BigInt(Math.round(usd * 10 ** USD_DECIMALS)) * 10n ** 8n, asset, price.ask, 'up')
  const unitStep = 10n ** BigInt(Math.max(0, asset.decimals - DECIMALS_MAX))
  return formatUnits(units - (units % unitStep), asset.decimals)
}

async function areAllFinished({ database }: Scenario, count: number): Promise<boolean> {
  const sql = 'select status, count(*)::int as count from exchanges where plan is not null group by 1'
  const rows = await database.query<{ status: string; count: number }>(sql)
  const failed = rows.filter(({ status }) => status === 'failed' || status === 'refunded')
  if (failed.length > 0) throw new Error(`some exchanges failed or were refunded: ${JSON.stringify(rows)}`)
  return rows.find(({ status }) => status === 'finished')?.count === count
}

async function readPair(
  scenario: Scenario,
  { order, exchange: created, amount }: CreatedExchange,
  txHash: string,
): Promise<Pair> {
  const { request, exchanges } = await scenario.status(created)
  const [first, second, ...more] = exchanges
  if (more.length > 0 || second?.payinHash !== first?.payoutHash)
    throw new Error(`${created.id} does not have two connected legs`)
  return {
    ...order,
    id: created.id,
    amount,
    depositAddress: request.depositAddress,
    refundAddress: created.refundAddress,
    payer: { network: request.fromNetwork, txHash },
    recipient: { network: request.toNetwork, address: request.recipientAddress },
    firstPayoutHash: first.payoutHash,
    secondPayoutHash: second.payoutHash,
  }
}
