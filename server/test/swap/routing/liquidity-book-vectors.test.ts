import { describe } from 'vitest'
import { readPublicVectors } from '../../../../test/support/vectors.ts'
import type { LiquidityBookPool } from '../../../src/swap/routing/pools/liquidity-book.ts'
import { compareAll, noIdentity } from './vectors.ts'

type Numbers<K extends string> = Readonly<Record<K, number>>
type Group = Readonly<{
  kind: string
  pool: {
    tokens: readonly { address: string }[]
    extra: {
      rpcBlockTimestamp: number
      staticFeeParams: Numbers<
        | 'baseFactor'
        | 'filterPeriod'
        | 'decayPeriod'
        | 'reductionFactor'
        | 'variableFeeControl'
        | 'protocolShare'
        | 'maxVolatilityAccumulator'
      >
      variableFeeParams: Numbers<'volatilityAccumulator' | 'volatilityReference' | 'idReference' | 'timeOfLastUpdate'>
      activeBinId: number
      binStep: number
      bins: readonly { id: number; reserveX: string | number; reserveY: string | number }[]
    }
  }
  cases: readonly { tokenIn: string; tokenOut: string; amountIn: string; amountOut: string }[]
}>

describe('Liquidity Book, recorded by KyberSwap', () => {
  const groups = readPublicVectors<readonly Group[]>('kyber_univ3_algebra_lb.json')
  const books = groups?.filter(({ kind }) => kind === 'lfj-liquiditybook-v2.1')
  const vectorCases = books?.flatMap((group) => {
    const pool = poolOf(group.pool)
    // A fourth case belongs to a pool whose state is missing in the file.
    const cases = group.cases.filter(({ tokenIn }) => pool.tokens.includes(tokenIn))
    return cases.map((row) => ({
      name: `${row.amountIn} of ${row.tokenIn}`,
      pool,
      tokenIn: row.tokenIn,
      tokenOut: row.tokenOut,
      amountIn: BigInt(row.amountIn),
      amountOut: BigInt(row.amountOut),
    }))
  })
  compareAll('version 2.1', vectorCases ?? null, 3)
})

function poolOf({ tokens, extra }: Group['pool']): LiquidityBookPool {
  const { staticFeeParams: fees, variableFeeParams: volatility } = extra
  return {
    ...noIdentity,
    kind: 'liquidity-book',
    tokens: tokens.map(({ address }) => address),
    bins: extra.bins.map(({ id, reserveX, reserveY }) => ({
      id,
      reserves: [BigInt(reserveX), BigInt(reserveY)] as const,
    })),
    activeId: extra.activeBinId,
    binStep: extra.binStep,
    fees: {
      baseFactor: BigInt(fees.baseFactor),
      filterPeriod: fees.filterPeriod,
      decayPeriod: fees.decayPeriod,
      reductionFactor: BigInt(fees.reductionFactor),
      variableFeeControl: BigInt(fees.variableFeeControl),
      protocolShare: BigInt(fees.protocolShare),
      maxVolatilityAccumulator: BigInt(fees.maxVolatilityAccumulator),
    },
    volatility: {
      accumulator: BigInt(volatility.volatilityAccumulator),
      reference: BigInt(volatility.volatilityReference),
      idReference: volatility.idReference,
      lastUpdate: volatility.timeOfLastUpdate,
    },
    now: extra.rpcBlockTimestamp,
  }
}
