/* The DEXes of the simulated Sui chain. */
import { bcs } from '@mysten/sui/bcs'
import { cetusLiquidityOfAmount } from '@swapyard/lib/pools/sui/cetus-liquidity.ts'
import { SQRT_PRICE_MAX, SQRT_PRICE_MIN, TICK_MAX, tickAtSqrtPrice } from '@swapyard/lib/pools/sui/q64-tick.ts'
import type { ListedMarket } from '../market/snapshot.ts'
import { sqrtPriceX96 } from '../market/sqrt-price.ts'
import { priceOf } from '../prices.ts'
import { createSuiBooks, deepbookPackage, type SuiBook } from './books.ts'
import { createCetusFunctions } from './cetus-functions.ts'
import { type CetusPosition, createCetusPool } from './cetus-pool.ts'
import { deepType, findCoin, type SuiCoin, suiCoin, suiTokens } from './coins.ts'
import { createDeepbookFunctions } from './deepbook-functions.ts'
import type { MoveFunctions } from './move-function.ts'
import type { SuiNode } from './sui-node.ts'
import { SUI_TYPE } from './sui-object.ts'

/** The sandbox's own package, as that of its coins. */
export const cetusPackage = `0x${'ce'.repeat(32)}`

type Plan = Readonly<{
  coins: readonly [string, string]
  /** Millionths. */
  feeRate: number
  tickSpacing: number
  /** US dollars on each side, within a percentage of the price or over the full range. */
  positions: readonly Readonly<{ percent: number | 'all'; dollars: number }>[]
}>

const plan = (coins: Plan['coins'], feeRate: number, tickSpacing: number, thousands: number): Plan => ({
  ...{ coins, feeRate, tickSpacing },
  positions: [
    { percent: 2, dollars: thousands * 1000 },
    { percent: 20, dollars: thousands * 1000 },
    { percent: 'all', dollars: thousands * 1000 },
  ],
})

/** Fees and tick spacings of Cetus. */
const plans: readonly Plan[] = [
  plan(['sui', 'usdc'], 2_500, 60, 800),
  plan(['sui', 'usdc'], 500, 10, 300),
  plan(['usdt', 'usdc'], 100, 2, 900),
  plan(['wbtc', 'usdc'], 2_500, 60, 500),
  plan(['wbtc', 'sui'], 2_500, 60, 400),
]

export type SuiPool = Readonly<{ id: string; coins: readonly [SuiCoin, SuiCoin]; feeRate: number }>

export type SuiMarket = Readonly<{
  /** The object with the settings of the DEX. */
  cetusConfig: string
  clock: string
  pools: readonly SuiPool[]
  books: readonly SuiBook[]
}>

/** √(price of A ÷ price of B) in base units, Q64.64. */
export function sqrtPriceOf([a, b]: readonly [SuiCoin, SuiCoin], second: number | null): bigint {
  const priced = ({ ticker, decimals }: SuiCoin) => ({ price: priceOf(ticker, second), decimals })
  return sqrtPriceX96(priced(a), priced(b)) >> 32n
}

const microDollars = 1_000_000n

/** A position around the price that holds about so many dollars of coin A. */
function positionOf(
  { positions: _, ...pool }: Plan,
  sqrtPrice: bigint,
  { percent, dollars }: Plan['positions'][number],
): CetusPosition {
  const tick = tickAtSqrtPrice(sqrtPrice)
  const align = (index: number) => Math.floor(index / pool.tickSpacing) * pool.tickSpacing
  const reach = percent === 'all' ? TICK_MAX : Math.round(Math.log1p(percent / 100) / Math.log1p(0.0001))
  const tickLower = Math.max(align(tick - reach), align(-TICK_MAX) + pool.tickSpacing)
  const tickUpper = Math.min(align(tick + reach) + pool.tickSpacing, align(TICK_MAX))
  const { ticker, decimals } = findCoin(pool.coins[0])
  const units = (BigInt(dollars) * microDollars * microDollars * 10n ** BigInt(decimals)) / priceOf(ticker, null)
  const { liquidity } = cetusLiquidityOfAmount({ tickLower, tickUpper, sqrtPrice }, units, true)
  return { tickLower, tickUpper, liquidity }
}

/** Creates the coin types, and the pools at the sandbox's base prices. */
export function createSuiMarket(node: SuiNode): SuiMarket {
  for (const { type, name, symbol, decimals } of suiTokens)
    node.createCoinType(type, { name, symbol, decimals, description: '', iconUrl: null })
  node.createCoinType(deepType, { name: 'DeepBook Token', symbol: 'DEEP', decimals: 6, description: '', iconUrl: null })
  const share = (type: string, encode: (id: string) => Uint8Array, id?: string) =>
    node.createObject({ type, owner: { kind: 'shared', initialVersion: 1n }, hasPublicTransfer: false }, encode, id)
  const clock = share(
    '0x2::clock::Clock',
    (id) =>
      bcs.struct('Clock', { id: bcs.Address, timestampMs: bcs.u64() }).serialize({ id, timestampMs: 0 }).toBytes(),
    `0x${'6'.padStart(64, '0')}`,
  )
  const config = share(`${cetusPackage}::config::GlobalConfig`, (id) =>
    bcs
      .struct('GlobalConfig', { id: bcs.Address, protocolFeeRate: bcs.u64() })
      .serialize({ id, protocolFeeRate: 2_000 })
      .toBytes(),
  )
  const pools = plans.map((one, index): SuiPool => {
    const coins = [findCoin(one.coins[0]), findCoin(one.coins[1])] as const
    const sqrtPrice = sqrtPriceOf(coins, null)
    if (sqrtPrice <= SQRT_PRICE_MIN || sqrtPrice >= SQRT_PRICE_MAX) throw new Error('the price is out of range')
    const positions = one.positions.map((position) => positionOf(one, sqrtPrice, position))
    const types = coins.map(({ type }) => (type === suiCoin.type ? SUI_TYPE : type)) as [string, string]
    const { feeRate, tickSpacing } = one
    const pool = createCetusPool(node, {
      ...{ address: cetusPackage, types, index, feeRate, tickSpacing, sqrtPrice, positions },
    })
    return { id: pool, coins, feeRate }
  })
  return { cetusConfig: config.id, clock: clock.id, pools, books: createSuiBooks(node) }
}

/** The functions of all DEXes. */
export const dexFunctions: MoveFunctions = new Map([
  ...createCetusFunctions(cetusPackage),
  ...createDeepbookFunctions(deepbookPackage, deepType),
])

/** The DEXes, as `chains.json` lists them. */
export const describeDexes = ({ cetusConfig, pools, books }: SuiMarket): ListedMarket['dexes'] => [
  {
    ...{ name: 'cetus', kind: 'cetus', factory: cetusPackage, config: cetusConfig },
    pools: pools.map(({ id }) => id),
  },
  {
    ...{ name: 'deepbook', kind: 'deepbook', factory: deepbookPackage, feeCoin: deepType },
    pools: books.map(({ id }) => id),
  },
]
