/* The DEXes of the simulated Sui chain. */
import { bcs } from '@mysten/sui/bcs'
import { cetusLiquidityOfAmount } from '@swapyard/lib/pools/sui/cetus-liquidity.ts'
import { SQRT_PRICE_MAX, SQRT_PRICE_MIN, TICK_MAX, tickAtSqrtPrice } from '@swapyard/lib/pools/sui/q64-tick.ts'
import type { ListedMarket } from '../market/snapshot.ts'
import { sqrtPriceX96 } from '../market/sqrt-price.ts'
import { priceOf } from '../prices.ts'
import { createSuiBooks, deepbookPackage, type SuiBook } from './books.ts'
import { createCetusFunctions } from './cetus-functions.ts'
import { createCetusPool } from './cetus-pool.ts'
import { deepType, findCoin, type SuiCoin, suiCoin, suiTokens } from './coins.ts'
import { createDeepbookFunctions } from './deepbook-functions.ts'
import type { MoveFunctions } from './move-function.ts'
import type { Position } from './positions.ts'
import type { SuiNode } from './sui-node.ts'
import { SUI_TYPE } from './sui-object.ts'
import { createTurbosFunctions } from './turbos-functions.ts'
import { createTurbosPool } from './turbos-pool.ts'

/** The sandbox's own packages, as that of its coins. */
export const cetusPackage = `0x${'ce'.repeat(32)}`
export const turbosPackage = `0x${'7b'.repeat(32)}`

type Plan = Readonly<{
  dex: 'cetus' | 'turbos'
  coins: readonly [string, string]
  /** Millionths. */
  feeRate: number
  tickSpacing: number
  /** US dollars on each side, within a percentage of the price or over the full range. */
  positions: readonly Readonly<{ percent: number | 'all'; dollars: number }>[]
}>

const plan = (
  dex: Plan['dex'],
  coins: Plan['coins'],
  [feeRate, tickSpacing]: readonly [number, number],
  thousands: number,
): Plan => ({
  ...{ dex, coins, feeRate, tickSpacing },
  positions: [
    { percent: 2, dollars: thousands * 1000 },
    { percent: 20, dollars: thousands * 1000 },
    { percent: 'all', dollars: thousands * 1000 },
  ],
})

/** Fees and tick spacings of the DEXes. */
const plans: readonly Plan[] = [
  plan('cetus', ['sui', 'usdc'], [2_500, 60], 800),
  plan('cetus', ['sui', 'usdc'], [500, 10], 300),
  plan('cetus', ['usdt', 'usdc'], [100, 2], 900),
  plan('cetus', ['wbtc', 'usdc'], [2_500, 60], 500),
  plan('cetus', ['wbtc', 'sui'], [2_500, 60], 400),
  plan('turbos', ['sui', 'usdc'], [3_000, 60], 500),
  plan('turbos', ['usdt', 'sui'], [3_000, 60], 300),
  plan('cetus', ['weth', 'usdc'], [2_500, 60], 350),
  plan('cetus', ['fdusd', 'usdc'], [100, 2], 250),
  plan('cetus', ['deep', 'sui'], [2_500, 60], 60),
  plan('cetus', ['cetus', 'sui'], [2_500, 60], 150),
  plan('cetus', ['wal', 'sui'], [2_500, 60], 200),
  plan('cetus', ['blue', 'usdc'], [10_000, 200], 40),
  plan('turbos', ['sca', 'sui'], [3_000, 60], 30),
  plan('turbos', ['turbos', 'sui'], [10_000, 200], 20),
]

export type SuiPool = Readonly<{ id: string; dex: Plan['dex']; coins: readonly [SuiCoin, SuiCoin]; feeRate: number }>

export type SuiMarket = Readonly<{
  /** The objects with the settings of the DEXes. */
  cetusConfig: string
  turbosVersioned: string
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
/** Of Cetus, in parts per 10,000. */
const protocolFeeRate = 2_000
const turbosVersion = 18

/** A position around the price that holds about so many dollars of coin A. */
function positionOf(
  { positions: _, ...pool }: Plan,
  sqrtPrice: bigint,
  { percent, dollars }: Plan['positions'][number],
): Position {
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

/** The type that stands for a fee of Turbos, in its package. */
export const turbosFeeType = (feeRate: number): string => `${turbosPackage}::fee${feeRate}bps::FEE${feeRate}BPS`

/** Creates a pool at the sandbox's base price. */
function createPool(node: SuiNode, one: Plan, index: number): SuiPool {
  const { dex, feeRate, tickSpacing } = one
  const coins = [findCoin(one.coins[0]), findCoin(one.coins[1])] as const
  const sqrtPrice = sqrtPriceOf(coins, null)
  if (sqrtPrice <= SQRT_PRICE_MIN || sqrtPrice >= SQRT_PRICE_MAX) throw new Error('the price is out of range')
  const positions = one.positions.map((position) => positionOf(one, sqrtPrice, position))
  const types = coins.map(({ type }) => (type === suiCoin.type ? SUI_TYPE : type)) as [string, string]
  const pool = { types, index, feeRate, tickSpacing, sqrtPrice, positions }
  const id =
    dex === 'cetus'
      ? createCetusPool(node, { ...pool, address: cetusPackage })
      : createTurbosPool(node, { ...pool, address: turbosPackage, feeType: turbosFeeType(feeRate) })
  return { id, dex, coins, feeRate }
}

/** Creates the coin types, and the pools and books at the sandbox's base prices. */
export function createSuiMarket(node: SuiNode): SuiMarket {
  for (const { type, name, symbol, decimals } of suiTokens)
    node.createCoinType(type, { name, symbol, decimals, description: '', iconUrl: null })
  /** A shared object of an id and one number. */
  const share = (type: string, number: number, id?: string) =>
    node.createObject(
      { type, owner: { kind: 'shared', initialVersion: 1n }, hasPublicTransfer: false },
      (own) => bcs.struct(type, { id: bcs.Address, number: bcs.u64() }).serialize({ id: own, number }).toBytes(),
      id,
    ).id
  return {
    clock: share('0x2::clock::Clock', 0, `0x${'6'.padStart(64, '0')}`),
    cetusConfig: share(`${cetusPackage}::config::GlobalConfig`, protocolFeeRate),
    turbosVersioned: share(`${turbosPackage}::pool::Versioned`, turbosVersion),
    pools: plans.map((one, index) => createPool(node, one, index)),
    books: createSuiBooks(node),
  }
}

/** The functions of all DEXes. */
export const dexFunctions: MoveFunctions = new Map([
  ...createCetusFunctions(cetusPackage),
  ...createDeepbookFunctions(deepbookPackage, deepType),
  ...createTurbosFunctions(turbosPackage),
])

/** The DEXes, as `chains.json` lists them. */
export function describeDexes({ cetusConfig, turbosVersioned, pools, books }: SuiMarket): ListedMarket['dexes'] {
  const idsOf = (dex: Plan['dex']) => pools.filter((pool) => pool.dex === dex).map(({ id }) => id)
  return [
    { name: 'cetus', kind: 'cetus', factory: cetusPackage, config: cetusConfig, pools: idsOf('cetus') },
    {
      ...{ name: 'deepbook', kind: 'deepbook', factory: deepbookPackage, feeCoin: deepType },
      pools: books.map(({ id }) => id),
    },
    { name: 'turbos', kind: 'turbos', factory: turbosPackage, config: turbosVersioned, pools: idsOf('turbos') },
  ]
}
