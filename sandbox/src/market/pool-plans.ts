import { leading, marketTokens } from './tokens.ts'

/** Part of a pool's liquidity: so many dollars within so many percent of the price, or wherever the price goes. */
export type Range = Readonly<{ percent: number | 'all'; dollars: number }>

/** What a pool shall be. Tokens by ticker; `coin` is the wrapped native coin, `native` the coin itself. */
export type PoolPlan = Readonly<{
  kind: 'uniswap-v2' | 'uniswap-v3' | 'uniswap-v4' | 'algebra' | 'balancer-weighted'
  tokens: readonly [string, string]
  /** Millionths of the input. */
  feePpm: number
  spacing: number
  ranges: readonly Range[]
}>

/** Uniswap's own: by fee, how many ticks lie between two that can be bounds. */
const spacings: Readonly<Record<number, number>> = { 100: 1, 500: 10, 3000: 60, 10000: 200 }
const million = 1_000_000

const within = (percent: Range['percent'], millions: number): Range => ({ percent, dollars: millions * million })

function concentrated(
  kind: PoolPlan['kind'],
  [a, b]: readonly [string, string],
  feePpm: number,
  ranges: readonly Range[],
): PoolPlan {
  return { kind, tokens: [a, b], feePpm, spacing: spacings[feePpm] ?? 60, ranges }
}

const pair = (a: string, b: string, millions: number): PoolPlan => ({
  kind: 'uniswap-v2',
  tokens: [a, b],
  feePpm: 3000,
  spacing: 0,
  ranges: [within('all', millions)],
})

/** Every pool of a network: deep ones between the leading tokens, shallow ones for the others. */
export function poolPlans(network: string): readonly PoolPlan[] {
  const { bitcoin, ether } = leading(network)
  const native = network === 'celo' ? 'coin' : 'native'
  const leaders = ['usdt', 'usdc', 'dai', 'wsteth', 'levy', 'mute', bitcoin, ether]
  const tail = marketTokens(network)
    .map(({ ticker }) => ticker)
    .filter((ticker) => !leaders.includes(ticker))
  const others = tail.filter((ticker) => !['link', 'uni', 'aave', 'shib', 'pepe', 'crv'].includes(ticker))
  const v3 = (a: string, b: string, feePpm: number, ...ranges: Range[]) =>
    concentrated('uniswap-v3', [a, b], feePpm, ranges)
  const v4 = (a: string, b: string, feePpm: number, ...ranges: Range[]) =>
    concentrated('uniswap-v4', [a, b], feePpm, ranges)
  const algebra = (a: string, b: string, ...ranges: Range[]): PoolPlan => ({
    ...concentrated('algebra', [a, b], 100, ranges),
    spacing: 60,
  })
  return [
    pair('coin', 'usdc', 3),
    pair('coin', 'usdt', 0.8),
    pair('usdc', 'usdt', 0.5),
    pair('coin', bitcoin, 0.6),
    ...tail.map((ticker) => pair('coin', ticker, 0.24)),
    pair('coin', 'levy', 0.16),
    pair('usdc', 'levy', 0.08),
    pair('usdc', 'mute', 0.12),
    v3('coin', 'usdc', 500, within(4, 8), within(12, 5), within('all', 2)),
    v3('coin', 'usdc', 3000, within(15, 3), within(60, 2)),
    v3('coin', 'usdt', 500, within(8, 3), within('all', 1)),
    v3('coin', bitcoin, 3000, within(12, 2), within('all', 1)),
    v3(bitcoin, 'usdc', 500, within(10, 3), within('all', 0.5)),
    v3('usdc', 'usdt', 100, within(0.3, 8), within(3, 2)),
    v3('usdc', 'dai', 100, within(0.5, 4)),
    v3(ether, 'wsteth', 100, within(1, 1), within(10, 0.2)),
    ...(ether === 'coin' ? [] : [v3('coin', ether, 500, within(12, 2), within('all', 0.5))]),
    v3('coin', 'link', 3000, within(25, 0.5), within('all', 0.2)),
    v3('coin', 'uni', 3000, within(25, 0.4)),
    v3('coin', 'aave', 3000, within(25, 0.4)),
    v3('coin', 'pepe', 10_000, within(50, 0.3), within('all', 0.1)),
    v3('usdc', 'mute', 3000, within(3, 0.1)),
    ...others.map((ticker) => v3('usdc', ticker, 3000, within(20, 0.4))),
    v4(native, 'usdc', 500, within(6, 4), within('all', 1)),
    v4(native, 'usdc', 3000, within(40, 1)),
    v4(native, 'usdt', 3000, within(20, 0.8)),
    v4('usdc', 'usdt', 100, within(0.4, 3)),
    v4(bitcoin, 'usdc', 3000, within(20, 1)),
    v4(native, 'link', 3000, within(30, 0.3)),
    algebra('coin', 'usdc', within(10, 0.9)),
    algebra('usdc', 'usdt', within(2, 0.6)),
    // Their prices don't move against each other: nobody has to trade here.
    { kind: 'balancer-weighted', tokens: [ether, 'wsteth'], feePpm: 1000, spacing: 0, ranges: [within('all', 0.6)] },
  ]
}
