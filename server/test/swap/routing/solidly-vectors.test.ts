import { describe, expect, test } from 'vitest'
import { readPublicVectors } from '../../../../test/support/vectors.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { amountOutOf, type Case, compareAll, noIdentity } from './vectors.ts'

type Row = Readonly<{
  kind: string
  name: string
  tokens?: readonly string[]
  reserves?: readonly string[]
  fee?: string
  feePrecision?: string
  decimals0?: string
  decimals1?: string
  stable?: boolean
  /** KyberSwap's own format, used by one case. */
  pool?: {
    reserves: readonly string[]
    tokens: readonly { address: string }[]
    extra: { fee: number }
    staticExtra: { feePrecision: number; decimal0: string; decimal1: string; stable: boolean }
  }
  taxedToken?: string
  tokenIn: string
  tokenOut: string
  amountIn?: string
  amountOut?: string
  expectedAmountOut?: string
  expectedAmountIn?: string
}>

const rows = readPublicVectors<readonly Row[]>('kyber_univ2_solidly.json')
/** Without two rows of fee-on-transfer tokens, which we do not trade. `taxedToken` is a field of the recording. */
const supported = rows?.filter(({ taxedToken }) => taxedToken === undefined) ?? null

describe('Uniswap V2 and Solidly, recorded by KyberSwap', () => {
  for (const [kind, count] of [
    ['univ2', 2],
    ['solidly-velodrome-v1', 4],
    ['solidly-velodrome-v2', 5],
    ['solidly-v2', 4],
  ] as const) {
    const exactIn = supported?.filter((row) => row.kind === kind && row.expectedAmountOut !== undefined) ?? null
    compareAll(`${kind}, exact input`, exactIn?.map(caseOf) ?? null, count)
  }

  test.skipIf(supported === null)('the recorded input of an exact-output swap pays at least that output', () => {
    const exactOut = supported?.filter(({ expectedAmountIn }) => expectedAmountIn !== undefined) ?? []
    expect(exactOut).toHaveLength(14)
    for (const row of exactOut) {
      const swap = { pool: poolOf(row), tokenIn: row.tokenIn, tokenOut: row.tokenOut }
      const amountIn = BigInt(row.expectedAmountIn ?? 0)
      expect(amountOutOf({ ...swap, amountIn }), row.name).toBeGreaterThanOrEqual(BigInt(row.amountOut ?? 0))
    }
  })
})

function caseOf(row: Row): Case {
  const { name, tokenIn, tokenOut, amountIn = '0', expectedAmountOut = '0' } = row
  return {
    name,
    pool: poolOf(row),
    tokenIn,
    tokenOut,
    amountIn: BigInt(amountIn),
    amountOut: BigInt(expectedAmountOut),
  }
}

function poolOf({
  kind,
  tokens = [],
  reserves = [],
  fee,
  feePrecision,
  decimals0,
  decimals1,
  stable,
  pool,
}: Row): Pool {
  const [reserve0 = '0', reserve1 = '0'] = pool?.reserves ?? reserves
  const common = {
    ...noIdentity,
    tokens: (pool?.tokens.map(({ address }) => address) ?? tokens).map((token) => token.toLowerCase()),
    reserves: [BigInt(reserve0), BigInt(reserve1)] as const,
    feePpm: (Number(pool?.extra.fee ?? fee) * 1_000_000) / Number(pool?.staticExtra.feePrecision ?? feePrecision),
  }
  if (kind === 'univ2') return { ...common, kind: 'uniswap-v2' }
  return {
    ...common,
    kind: 'solidly',
    stable: pool?.staticExtra.stable ?? stable ?? false,
    newton: kind.endsWith('-v1') ? 'v1' : 'v2',
    units: [BigInt(pool?.staticExtra.decimal0 ?? decimals0 ?? 1), BigInt(pool?.staticExtra.decimal1 ?? decimals1 ?? 1)],
  }
}
