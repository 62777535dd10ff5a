/* The order books of the simulated Sui chain. */
import { priceOf } from '../prices.ts'
import { findCoin, type SuiCoin, suiCoin } from './coins.ts'
import {
  createDeepbookPool,
  type DeepbookPlan,
  type MakerOrder,
  type MakerOrders,
  setMakerOrders,
} from './deepbook-pool.ts'
import type { SuiNode } from './sui-node.ts'
import { SUI_TYPE } from './sui-object.ts'

export const deepbookPackage = `0x${'db'.repeat(32)}`

type Level = Readonly<{
  /** Distance from the price, in millionths. */
  ppm: number
  /** US dollars on each side, in so many orders of equal size. */
  dollars: number
  orders: number
}>

type BookPlan = Readonly<{ coins: readonly [string, string]; levels: readonly Level[] }> &
  Pick<DeepbookPlan, 'tickSize' | 'lotSize' | 'minSize' | 'takerFee' | 'makerFee'>

/** Fees of DeepBook's volatile and stable pools, of 10^9. */
const volatile = { takerFee: 1_000_000n, makerFee: 500_000n }
const stable = { takerFee: 100_000n, makerFee: 50_000n }

/** Sizes in base units of the base coin. */
const plans: readonly BookPlan[] = [
  {
    ...{ coins: ['sui', 'usdc'], ...volatile, tickSize: 10n, lotSize: 100_000_000n, minSize: 1_000_000_000n },
    levels: [
      { ppm: 400, dollars: 20_000, orders: 4 },
      { ppm: 1_000, dollars: 60_000, orders: 16 },
      { ppm: 3_000, dollars: 150_000, orders: 24 },
      { ppm: 10_000, dollars: 300_000, orders: 36 },
    ],
  },
  {
    ...{ coins: ['wbtc', 'usdc'], ...volatile, tickSize: 1_000_000n, lotSize: 1_000n, minSize: 10_000n },
    levels: [
      { ppm: 500, dollars: 30_000, orders: 2 },
      { ppm: 2_000, dollars: 120_000, orders: 5 },
      { ppm: 8_000, dollars: 400_000, orders: 8 },
    ],
  },
  {
    ...{ coins: ['usdt', 'usdc'], ...stable, tickSize: 10_000n, lotSize: 100_000n, minSize: 1_000_000n },
    levels: [
      { ppm: 50, dollars: 100_000, orders: 3 },
      { ppm: 200, dollars: 400_000, orders: 6 },
    ],
  },
  {
    ...{ coins: ['ns', 'usdc'], ...volatile, tickSize: 1_000n, lotSize: 100_000n, minSize: 1_000_000n },
    levels: [
      { ppm: 400, dollars: 2_000, orders: 2 },
      { ppm: 2_000, dollars: 10_000, orders: 4 },
      { ppm: 10_000, dollars: 40_000, orders: 8 },
    ],
  },
]

export type SuiBook = Readonly<{
  id: string
  coins: readonly [SuiCoin, SuiCoin]
  plan: DeepbookPlan
  levels: readonly Level[]
}>

const makers = ['a1', 'a2', 'a3'].map((byte) => `0x${byte.repeat(32)}`)
const million = 1_000_000n
const scale = 1_000_000_000n
/** About 0.03 US dollars for a DEEP, which has as many decimals as the quote coins. */
const deepPrice = { assetIsBase: false, deepPerAsset: 33_333_333_333n }

/** Quote per base in base units, scaled by 10^9, at a Unix second; null gives the base price. */
export const bookPriceOf = ([base, quote]: readonly [SuiCoin, SuiCoin], second: number | null): bigint =>
  (priceOf(base.ticker, second) * 10n ** BigInt(quote.decimals) * scale) /
  (priceOf(quote.ticker, second) * 10n ** BigInt(base.decimals))

const roundTo = (value: bigint, step: bigint): bigint => (value / step) * step

function ordersOf({ coins: [base, quote], plan, levels }: Omit<SuiBook, 'id'>, second: number | null): MakerOrders {
  const price = bookPriceOf([base, quote], second)
  const side = (sign: 1n | -1n): MakerOrder[] =>
    levels.flatMap(({ ppm, dollars, orders }) => {
      const away = price + (sign * price * BigInt(ppm)) / million
      // Away from the price, so that no bid meets an ask.
      const onTick = roundTo(away + (sign === 1n ? plan.tickSize - 1n : 0n), plan.tickSize)
      const units = (BigInt(dollars) * million * million * 10n ** BigInt(base.decimals)) / priceOf(base.ticker, null)
      const quantity = roundTo(units / BigInt(orders), plan.lotSize)
      return Array.from({ length: orders }, (_, n) => ({
        maker: makers[n % makers.length] ?? '',
        price: onTick,
        quantity,
      }))
    })
  return { bids: side(-1n), asks: side(1n) }
}

/** Replaces the orders of a book by those around the price of a second. */
export const placeOrders = (node: SuiNode, book: SuiBook, second: number | null): void =>
  setMakerOrders(node, book.id, book.plan, ordersOf(book, second))

const typeOf = ({ type }: SuiCoin): string => (type === suiCoin.type ? SUI_TYPE : type)

export const createSuiBooks = (node: SuiNode): readonly SuiBook[] =>
  plans.map(({ coins: tickers, levels, ...sizes }, index) => {
    const coins = [findCoin(tickers[0]), findCoin(tickers[1])] as const
    const types = [typeOf(coins[0]), typeOf(coins[1])] as const
    const plan = { ...sizes, address: deepbookPackage, types, index, deepPrice }
    const book = { id: createDeepbookPool(node, plan), coins, plan, levels }
    placeOrders(node, book, null)
    return book
  })
