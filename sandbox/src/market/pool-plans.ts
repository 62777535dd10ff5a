import { findLeadingTokens, marketTokens } from './tokens.ts'

/** A part of a pool's liquidity: US dollars within a percentage of the price, or over the full range. */
export type LiquidityRange = Readonly<{ percent: number | 'all'; dollars: number }>

/** The definition of a pool. Tokens by ticker; `wrapped` is the wrapped native coin, `native` the native coin. */
export type PoolPlan = Readonly<{
  kind: 'uniswap-v2' | 'uniswap-v3' | 'uniswap-v4' | 'algebra' | 'balancer-weighted'
  tokens: readonly [string, string]
  /** Fee in millionths of the input. */
  feePpm: number
  spacing: number
  ranges: readonly LiquidityRange[]
}>

/** Uniswap V3's tick spacing by fee. */
const spacings: Readonly<Record<number, number>> = { 100: 1, 500: 10, 3000: 60, 10000: 200 }
const million = 1_000_000

const range = (percent: LiquidityRange['percent'], millions: number): LiquidityRange => ({
  percent,
  dollars: millions * million,
})

/** Returns a function that defines pools of a kind with concentrated liquidity. */
const concentrated =
  (kind: PoolPlan['kind']) =>
  (a: string, b: string, feePpm: number, ...ranges: LiquidityRange[]): PoolPlan => ({
    kind,
    tokens: [a, b],
    feePpm,
    spacing: spacings[feePpm] ?? 60,
    ranges,
  })

const v3 = concentrated('uniswap-v3')
const v4 = concentrated('uniswap-v4')
const algebra = (a: string, b: string, ...ranges: LiquidityRange[]): PoolPlan => ({
  ...concentrated('algebra')(a, b, 100, ...ranges),
  spacing: 60,
})

const v2 = (a: string, b: string, millions: number): PoolPlan => ({
  kind: 'uniswap-v2',
  tokens: [a, b],
  feePpm: 3000,
  spacing: 0,
  ranges: [range('all', millions)],
})

/** Lists every pool of a network: deep pools between the main tokens, shallow pools for the others. */
export function listPoolPlans(network: string): readonly PoolPlan[] {
  const { bitcoin, ether } = findLeadingTokens(network)
  const native = network === 'celo' ? 'wrapped' : 'native'
  const leaders = ['usdt', 'usdc', 'dai', 'wsteth', 'levy', 'mute', bitcoin, ether]
  const tail = marketTokens(network)
    .map(({ ticker }) => ticker)
    .filter((ticker) => !leaders.includes(ticker))
  const others = tail.filter((ticker) => !['link', 'uni', 'aave', 'shib', 'pepe', 'crv'].includes(ticker))
  return [
    v2('wrapped', 'usdc', 3),
    v2('wrapped', 'usdt', 0.8),
    v2('usdc', 'usdt', 0.5),
    v2('wrapped', bitcoin, 0.6),
    ...tail.map((ticker) => v2('wrapped', ticker, 0.24)),
    v2('wrapped', 'levy', 0.16),
    v2('usdc', 'levy', 0.08),
    v2('usdc', 'mute', 0.12),
    v3('wrapped', 'usdc', 500, range(4, 8), range(12, 5), range('all', 2)),
    v3('wrapped', 'usdc', 3000, range(15, 3), range(60, 2)),
    v3('wrapped', 'usdt', 500, range(8, 3), range('all', 1)),
    v3('wrapped', bitcoin, 3000, range(12, 2), range('all', 1)),
    v3(bitcoin, 'usdc', 500, range(10, 3), range('all', 0.5)),
    v3('usdc', 'usdt', 100, range(0.3, 8), range(3, 2)),
    v3('usdc', 'dai', 100, range(0.5, 4)),
    v3(ether, 'wsteth', 100, range(1, 1), range(10, 0.2)),
    ...(ether === 'wrapped' ? [] : [v3('wrapped', ether, 500, range(12, 2), range('all', 0.5))]),
    v3('wrapped', 'link', 3000, range(25, 0.5), range('all', 0.2)),
    v3('wrapped', 'uni', 3000, range(25, 0.4)),
    v3('wrapped', 'aave', 3000, range(25, 0.4)),
    v3('wrapped', 'pepe', 10_000, range(50, 0.3), range('all', 0.1)),
    v3('usdc', 'mute', 3000, range(3, 0.1)),
    ...others.map((ticker) => v3('usdc', ticker, 3000, range(20, 0.4))),
    v4(native, 'usdc', 500, range(6, 4), range('all', 1)),
    v4(native, 'usdc', 3000, range(40, 1)),
    v4(native, 'usdt', 3000, range(20, 0.8)),
    v4('usdc', 'usdt', 100, range(0.4, 3)),
    v4(bitcoin, 'usdc', 3000, range(20, 1)),
    v4(native, 'link', 3000, range(30, 0.3)),
    algebra('wrapped', 'usdc', range(10, 0.9)),
    algebra('usdc', 'usdt', range(2, 0.6)),
    // The two prices do not move against each other, so the trader need not trade here.
    { kind: 'balancer-weighted', tokens: [ether, 'wsteth'], feePpm: 1000, spacing: 0, ranges: [range('all', 0.6)] },
  ]
}
