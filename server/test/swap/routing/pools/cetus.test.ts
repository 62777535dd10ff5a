import { quoteCetus, swapCetus } from '@swapyard/lib/pools/sui/cetus.ts'
import {
  cetusAmountsOfLiquidity,
  cetusLiquidityFromA,
  cetusLiquidityFromB,
  cetusLiquidityOfAmount,
} from '@swapyard/lib/pools/sui/cetus-liquidity.ts'
import {
  cetusDeltaA,
  cetusDeltaB,
  cetusPriceAfterInput,
  cetusPriceAfterOutput,
  computeCetusStep,
} from '@swapyard/lib/pools/sui/cetus-step.ts'
import { sqrtPriceAtTick, tickAtSqrtPrice } from '@swapyard/lib/pools/sui/q64-tick.ts'
import { describe, expect, test } from 'vitest'
import { readPublicVectors } from '../../../../../test/support/vectors.ts'
import { replayCetusPools } from '../../../../src/cli/lab/cetus.ts'
import { type CetusPool, cetus } from '../../../../src/swap/routing/pools/sui/cetus.ts'
import { type Abort, type Argument, type RecordedFunctions, runFunctions, toText } from './recorded-functions.ts'
import { expectCurveToFollow } from './sui-curve.ts'

type Row = Readonly<{
  quote?: Readonly<Record<string, unknown>>
  quoteAbort?: Abort
  swap?: Readonly<Record<string, string | number>>
  swapAbort?: Abort
}>
type Recorded = Readonly<{ pools: readonly Readonly<{ swaps: readonly Row[] }>[] }>
type Ticks = Readonly<{
  wholeRange: readonly (readonly [number, number, string])[]
  tickToSqrtPrice: readonly (readonly [number, string])[]
  sqrtPriceToTick: readonly (readonly [string, number])[]
  aborts: RecordedFunctions['aborts']
}>

const abortOf = ([module, code]: Abort) => ({ abort: { module, code } })

describe('tick prices of Cetus and Turbos', () => {
  const recorded = readPublicVectors<Ticks>('sui_cetus_ticks.json') as Ticks

  test.skipIf(recorded === null)('every recorded price and tick', () => {
    const { tickToSqrtPrice, sqrtPriceToTick, aborts } = recorded
    expect(tickToSqrtPrice.map(([tick]) => [tick, String(sqrtPriceAtTick(tick))])).toEqual(tickToSqrtPrice)
    expect(sqrtPriceToTick.map(([price]) => [price, tickAtSqrtPrice(BigInt(price))])).toEqual(sqrtPriceToTick)
    expect(tickToSqrtPrice.length + sqrtPriceToTick.length + aborts.length).toBeGreaterThanOrEqual(3_659)
    const functions = {
      get_sqrt_price_at_tick: (tick: Argument) => [sqrtPriceAtTick(Number(tick))],
      get_tick_at_sqrt_price: (price: Argument) => [tickAtSqrtPrice(BigInt(price))],
    }
    const withLists = aborts.map(([name, argument, ...abort]) => [name, [argument], ...abort] as never)
    const { received, expected } = runFunctions(functions, { functions: {}, aborts: withLists })
    expect(received).toEqual(expected)
  })

  test.skipIf(recorded === null)('the checksums of all 887,273 ticks', () => {
    const sums = recorded.wholeRange.map(([from, to]) => {
      let sum = 0n
      for (let tick = from; tick <= to; tick += 1) sum = BigInt.asUintN(128, sum * 1_000_003n + sqrtPriceAtTick(tick))
      return [from, to, String(sum)]
    })
    expect(sums).toEqual(recorded.wholeRange)
  })
})

describe('Cetus', () => {
  const steps = readPublicVectors<RecordedFunctions>('sui_cetus_steps.json') as RecordedFunctions

  test.skipIf(steps === null)('every recorded step, amount and price, and the aborts', () => {
    const range = (lower: Argument, upper: Argument, price: Argument) => ({
      ...{ tickLower: Number(lower), tickUpper: Number(upper), sqrtPrice: BigInt(price) },
    })
    const pricesOf = (a: Argument, b: Argument, c: Argument) => [BigInt(a), BigInt(b), BigInt(c)] as const
    const functions = {
      compute_swap_step(...[price, target, liquidity, amount, feeRate, a2b, byAmountIn]: Argument[]) {
        const step = computeCetusStep({
          ...{ sqrtPrice: BigInt(price ?? 0), target: BigInt(target ?? 0), liquidity: BigInt(liquidity ?? 0) },
          ...{ amount: BigInt(amount ?? 0), feeRate: BigInt(feeRate ?? 0) },
          ...{ a2b: a2b === true, byAmountIn: byAmountIn === true },
        })
        return [step.amountIn, step.amountOut, step.sqrtPrice, step.fee]
      },
      get_delta_a: (a: Argument, b: Argument, c: Argument, up: Argument) => [
        cetusDeltaA(...pricesOf(a, b, c), up === true),
      ],
      get_delta_b: (a: Argument, b: Argument, c: Argument, up: Argument) => [
        cetusDeltaB(...pricesOf(a, b, c), up === true),
      ],
      get_next_sqrt_price_from_input: (a: Argument, b: Argument, c: Argument, a2b: Argument) => [
        cetusPriceAfterInput(...pricesOf(a, b, c), a2b === true),
      ],
      get_next_sqrt_price_from_output: (a: Argument, b: Argument, c: Argument, a2b: Argument) => [
        cetusPriceAfterOutput(...pricesOf(a, b, c), a2b === true),
      ],
      get_liquidity_from_a: (a: Argument, b: Argument, c: Argument, up: Argument) => [
        cetusLiquidityFromA(...pricesOf(a, b, c), up === true),
      ],
      get_liquidity_from_b: (a: Argument, b: Argument, c: Argument, up: Argument) => [
        cetusLiquidityFromB(...pricesOf(a, b, c), up === true),
      ],
      get_amount_by_liquidity: (
        ...[lower, upper, price, liquidity, up]: [Argument, Argument, Argument, ...Argument[]]
      ) => cetusAmountsOfLiquidity(range(lower, upper, price), BigInt(liquidity ?? 0), up === true),
      get_liquidity_by_amount(...[lower, upper, price, amount, isA]: [Argument, Argument, Argument, ...Argument[]]) {
        const made = cetusLiquidityOfAmount(range(lower, upper, price), BigInt(amount ?? 0), isA === true)
        return [made.liquidity, ...made.amounts]
      },
    }
    const { received, expected } = runFunctions(functions, steps)
    expect(expected.length).toBeGreaterThanOrEqual(7_680)
    expect(received).toEqual(expected)
  })

  const recorded = readPublicVectors<Recorded>('sui_cetus_swaps.json') as Recorded

  test.skipIf(recorded === null)('every recorded swap and quote, the state after it, and the aborts', () => {
    const rows = recorded.pools.flatMap(({ swaps }) => swaps)
    expect(rows.length).toBeGreaterThanOrEqual(1_440)
    const replayed = replayCetusPools(recorded)
    expect(replayed).toHaveLength(rows.length)
    for (const [index, { swap, before, input, after }] of replayed.entries()) {
      const row = rows[index] as Row
      const result = swapCetus(before, input)
      if (row.swapAbort !== undefined) {
        expect(result, `swap ${index}`).toEqual(abortOf(row.swapAbort))
        expect(swap).toMatchObject({ paid: 0n, received: 0n, error: row.swapAbort[1] })
        expect(after).toBe(before)
      } else {
        const [feeGrowthA, feeGrowthB] = after.feeGrowth
        const [protocolFeeA, protocolFeeB] = after.protocolFees
        const { sqrtPrice, tick, liquidity } = after
        const state = { sqrtPrice, tick, liquidity, feeGrowthA, feeGrowthB, protocolFeeA, protocolFeeB }
        expect(toText({ pay: swap.paid, out: swap.received, ...state }), `swap ${index}`).toEqual(row.swap)
      }
      expect(quoteOf(quoteCetus(before, input)), `quote ${index}`).toEqual(
        row.quoteAbort === undefined ? row.quote : abortOf(row.quoteAbort),
      )
    }
  })

  test.skipIf(recorded === null)('offers the router exact outputs and a curve that follows them', () => {
    const replayed = replayCetusPools(recorded)
    const pool = (state: (typeof replayed)[number]['before']): CetusPool => ({
      ...{
        ...state,
        kind: 'cetus',
        id: '0x1',
        address: '0x1',
        dex: 'cetus',
        tokens: ['a', 'b'],
        package: '0x2',
        config: '0x3',
      },
    })
    const compared = expectCurveToFollow(
      cetus,
      replayed.slice(0, 400).map(({ before }) => pool(before)),
    )
    expect(compared).toBeGreaterThan(500)
  })
})

function quoteOf(quote: ReturnType<typeof quoteCetus>) {
  if ('abort' in quote) return quote
  const { amountIn, amountOut, fee, sqrtPrice, isExceeded, steps } = quote
  return toText({ amountIn, amountOut, feeAmount: fee, afterSqrtPrice: sqrtPrice, isExceed: isExceeded, steps })
}
