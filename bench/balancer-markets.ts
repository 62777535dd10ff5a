import type { BalancerStablePool } from '../server/src/swap/routing/pools/balancer-stable.ts'
import type { BalancerWeightedPool } from '../server/src/swap/routing/pools/balancer-weighted.ts'
import { addressOf, createDraws, createRandom, type Market } from './swap-markets.ts'

export type BalancerPool = BalancerStablePool | BalancerWeightedPool

/** Weighted and stable pools of Balancer's V2 vault. All tokens have 18 decimals. */
export type BalancerMarket = Market<BalancerPool>

/** The first tokens are connector tokens, and the first of these are stablecoins. */
const CONNECTORS = 6
const STABLECOINS = 4
const TOKENS_PER_POOL = 0.3
const ONE = 10n ** 18n
const WEIGHTS: readonly (readonly number[])[] = [
  [50, 50],
  [80, 20],
  [50, 50],
  [34, 33, 33],
]
const FEES = [5n, 10n, 30n, 100n].map((bps) => (bps * ONE) / 10_000n)
const STABLE_FEE = (4n * ONE) / 10_000n
const AMPS = [100n, 200n, 500n, 1000n]
const STABLE_POOL_PART = 0.15
/** Median value of a weighted pool, by the number of its connector tokens; the value varies by a factor of e^2 both ways. */
const POOL_USD = [2e4, 4e5, 1e7, 1e7]
const FIRST_POOL = 0x300000
const VAULT = '0xba12222222228d8ba445958a75a0704d566bf2c8'

export function createBalancerMarket(size: number, seed: number): BalancerMarket {
  const random = createRandom(seed)
  const count = Math.max(CONNECTORS + 2, Math.round(size * TOKENS_PER_POOL))
  const usd = Array.from({ length: count }, (_, n) => (n < STABLECOINS ? 1 : Math.exp(random() * 12 - 4)))
  const tokens = usd.map((_, n) => addressOf(n + 1))
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const { anyConnector, anyToken, unitsOf, drawTrade } = createDraws(random, usd, CONNECTORS)

  function pickTokens(index: number, length: number): number[] {
    const chosen = new Set([index < count ? index : anyToken()])
    while (chosen.size < length) chosen.add(random() < 0.8 ? anyConnector() : anyToken())
    return [...chosen].sort((a, b) => a - b)
  }
  function commonFields(index: number, chosen: readonly number[]) {
    const id = `${addressOf(FIRST_POOL + index)}${'0'.repeat(24)}`
    const scales = chosen.map(() => ({ factor: 1n, rate: ONE }))
    const base = { id, address: VAULT, dex: 'bench', vault: 'v2', scales, aggregateFee: 0n } as const
    return { ...base, tokens: chosen.map((token) => tokens[token] ?? '') }
  }
  function createWeightedPool(index: number): BalancerPool {
    const percents = pick(WEIGHTS)
    const chosen = pickTokens(index, percents.length)
    const value = (POOL_USD[chosen.filter((token) => token < CONNECTORS).length] ?? 0) * Math.exp(random() * 4 - 2)
    const swapFee = pick(FEES)
    const priceFactor = () => 1 + (random() - 0.5) * (Number(swapFee) / 1e18)
    return {
      ...commonFields(index, chosen),
      ...{ kind: 'balancer-weighted', swapFee, shortcuts: true },
      weights: percents.map((percent) => (BigInt(percent) * ONE) / 100n),
      balances: chosen.map((token, n) => unitsOf(token, ((value * (percents[n] ?? 0)) / 50) * priceFactor())),
    }
  }
  function createStablePool(index: number): BalancerPool {
    const omitted = Math.floor(random() * STABLECOINS)
    const chosen = Array.from({ length: STABLECOINS }, (_, n) => n).filter((n) => n !== omitted)
    const value = 1e7 * Math.exp(random() * 4 - 2)
    return {
      ...commonFields(index, chosen),
      ...{ kind: 'balancer-stable', rounding: 'down', amp: pick(AMPS) * 1000n, swapFee: STABLE_FEE },
      balances: chosen.map((token) => unitsOf(token, value * (0.6 + 0.8 * random()))),
    }
  }
  return {
    tokens,
    pools: Array.from({ length: size }, (_, index) =>
      index >= count && random() < STABLE_POOL_PART ? createStablePool(index) : createWeightedPool(index),
    ),
    draw: () => drawTrade(100, 1e3),
  }
}
