import { describe } from 'vitest'
import { readPublicVectors } from '../../../../test/support/vectors.ts'
import type { CurveStablePool } from '../../../src/swap/routing/pools/curve-stable.ts'
import { compareAll, noIdentity } from './vectors.ts'

/** Field names begin with a lower-case or an upper-case letter, depending on the version of the recording. */
type Extra = Readonly<Record<string, string | number | readonly string[]>>
type Group = Readonly<{
  source: string
  kind: string
  pools: readonly {
    reserves: readonly string[]
    tokens: readonly { address: string; decimals: number }[]
    extra: Extra
    staticExtra: Readonly<Record<string, unknown>>
  }[]
  cases: readonly { pool: number; tokenIn: string; tokenOut: string; amountIn: string; amountOut: string }[]
}>

describe('Curve, recorded by KyberSwap', () => {
  const groups = readPublicVectors<readonly Group[]>('kyber_curve.json')
  for (const [source, count] of [
    ['TestCalcAmountOutPlain', 28],
    ['TestCalcAmountOutSnapshot', 480],
    ['stable-ng/pool_simulator_test.go', 13],
  ] as const) {
    const matches = groups?.filter((one) => one.source.includes(source))
    const cases = matches?.flatMap((group) =>
      group.cases.map((row, index) => ({
        name: `${source} ${index}`,
        pool: poolOf(group, row.pool),
        tokenIn: row.tokenIn,
        tokenOut: row.tokenOut,
        amountIn: BigInt(row.amountIn),
        amountOut: BigInt(row.amountOut),
      })),
    )
    compareAll(source, cases ?? null, count)
  }
})

/** Every ramp of A in the file has ended, so `futureA` is the current value. */
function poolOf({ kind, pools }: Group, index: number): CurveStablePool {
  const pool = pools[index]
  if (pool === undefined) throw new Error(`no pool ${index}`)
  const field = (name: string) => pool.extra[name] ?? pool.extra[`${name[0]?.toUpperCase()}${name.slice(1)}`]
  const amount = (name: string) => BigInt(field(name) as string)
  const rates = field('rateMultipliers') as readonly string[] | undefined
  const isNg = kind === 'curve-stableswap-ng'
  return {
    ...noIdentity,
    kind: 'curve-stable',
    tokens: pool.tokens.map(({ address }) => address),
    balances: pool.tokens.map((_, index) => BigInt(pool.reserves[index] ?? 0)),
    rates: rates?.map(BigInt) ?? pool.tokens.map(({ decimals }) => 10n ** BigInt(36 - decimals)),
    amp: amount('futureA'),
    ampPrecision: BigInt((pool.staticExtra['APrecision'] ?? pool.staticExtra['aPrecision']) as string),
    fee: amount('swapFee'),
    adminFee: amount('adminFee'),
    offPegFee: isNg ? amount('offpegFeeMultiplier') : null,
    invariant: isNg ? 'at-once' : 'stepwise',
  }
}
