import { sqrtPriceAtTick, tickAtSqrtPrice } from '@swapyard/lib/pools/sui/q64-tick.ts'
import { quoteTurbos, swapTurbos, type TurbosState } from '@swapyard/lib/pools/sui/turbos.ts'
import { computeTurbosStep, turbosDeltaA, turbosDeltaB, turbosPriceAfter } from '@swapyard/lib/pools/sui/turbos-step.ts'
import { describe, expect, test } from 'vitest'
import { readPublicVectors } from '../../../../../test/support/vectors.ts'
import { replayTurbosPools } from '../../../../src/cli/lab/turbos.ts'
import { type TurbosPool, turbos } from '../../../../src/swap/routing/pools/sui/turbos.ts'
import { type Abort, type RecordedFunctions, runFunctions, toText } from './recorded-functions.ts'
import { expectCurveToFollow } from './sui-curve.ts'

type Result = Readonly<Record<string, string | number>>
type Row = Readonly<{ dryRun?: Result; dryRunAbort?: Abort; swap?: Result; swapAbort?: Abort }>
type Recorded = Readonly<{ pools: readonly Readonly<{ swaps: readonly Row[] }>[] }>
type Steps = RecordedFunctions &
  Readonly<{
    olderDiffers: readonly (readonly [readonly [string, string, string, boolean], readonly [string], unknown])[]
  }>

describe('Turbos', () => {
  const steps = readPublicVectors<Steps>('sui_turbos_steps.json') as Steps

  test.skipIf(steps === null)('every recorded step, amount, price and tick, and the aborts', () => {
    const deltaWith =
      (delta: typeof turbosDeltaA) => (start: string, end: string, liquidity: string, isRoundedUp: boolean) => [
        delta(BigInt(start), BigInt(end), BigInt(liquidity), isRoundedUp),
      ]
    const functions = {
      compute_swap(
        ...[price, target, liquidity, amount, isExactIn, feeRate]: [string, string, string, string, boolean, string]
      ) {
        const step = computeTurbosStep({
          ...{ sqrtPrice: BigInt(price), target: BigInt(target), liquidity: BigInt(liquidity) },
          ...{ remaining: BigInt(amount), isExactIn, feeRate: BigInt(feeRate) },
        })
        return [step.sqrtPrice, step.amountIn, step.amountOut, step.fee]
      },
      get_amount_a_delta_: deltaWith(turbosDeltaA),
      get_amount_b_delta_: deltaWith(turbosDeltaB),
      get_next_sqrt_price: (price: string, liquidity: string, amount: string, isInput: boolean, a2b: boolean) => [
        turbosPriceAfter(BigInt(price), BigInt(liquidity), BigInt(amount), isInput, a2b),
      ],
      tick_index_from_sqrt_price: (price: string) => [tickAtSqrtPrice(BigInt(price))],
      sqrt_price_from_tick_index: (tick: number) => [sqrtPriceAtTick(tick)],
    }
    const { received, expected } = runFunctions(functions, steps)
    expect(expected.length).toBeGreaterThanOrEqual(8_091 + 78)
    expect(received).toEqual(expected)
  })

  test.skipIf(steps === null)('an input of coin A rounds up twice, unlike an older library', () => {
    expect(steps.olderDiffers.length).toBeGreaterThanOrEqual(44)
    for (const [[start, end, liquidity, isRoundedUp], [amount]] of steps.olderDiffers)
      expect(String(turbosDeltaA(BigInt(start), BigInt(end), BigInt(liquidity), isRoundedUp))).toBe(amount)
  })

  const recorded = readPublicVectors<Recorded>('sui_turbos_swaps.json') as Recorded

  test.skipIf(recorded === null)('every recorded swap and dry run, the state after it, and the aborts', () => {
    const rows = recorded.pools.flatMap(({ swaps }) => swaps)
    expect(rows.length).toBeGreaterThanOrEqual(768)
    const replayed = replayTurbosPools(recorded)
    expect(replayed).toHaveLength(rows.length)
    for (const [index, { swap, before, input, after }] of replayed.entries()) {
      const { dryRun, dryRunAbort, swap: expected, swapAbort } = rows[index] as Row
      const amountsOf = ({ paid, received }: { paid: bigint; received: bigint }) =>
        input.a2b ? { amountA: paid, amountB: received } : { amountA: received, amountB: paid }
      const result = swapTurbos(before, input)
      if (result.abort !== null) {
        expect([result.abort.module, result.abort.code], `swap ${index}`).toEqual(swapAbort)
        expect(swap).toMatchObject({ paid: 0n, received: 0n, error: swapAbort?.[1] })
        expect(after).toBe(before)
      } else {
        const { sqrtPrice, tick, liquidity } = after
        const [feeGrowthA, feeGrowthB] = after.feeGrowth
        const [protocolFeesA, protocolFeesB] = after.protocolFees
        const state = { sqrtPrice, tick, liquidity, feeGrowthA, feeGrowthB, protocolFeesA, protocolFeesB }
        expect(toText({ ...amountsOf(swap), feeAmount: result.fee, ...state }), `swap ${index}`).toEqual(expected)
      }
      const quote = quoteTurbos(before, input)
      if ('abort' in quote) expect([quote.abort.module, quote.abort.code], `dry run ${index}`).toEqual(dryRunAbort)
      else {
        const { paid: _, received: __, remaining: ___, fee, ...end } = quote
        expect(toText({ ...amountsOf(quote), feeAmount: fee, ...end }), `dry run ${index}`).toEqual(dryRun)
      }
    }
  })

  test.skipIf(recorded === null)('offers the router exact outputs and a curve that follows them', () => {
    const pools = replayTurbosPools(recorded)
      .slice(0, 300)
      .map(({ before }): TurbosPool => {
        const identity = { kind: 'turbos', id: '0x1', address: '0x1', dex: 'turbos', tokens: ['a', 'b'] } as const
        return { ...before, ...identity, package: '0x2', config: '0x3', feeType: '0x2::fee::FEE' }
      })
    expect(expectCurveToFollow(turbos, pools)).toBeGreaterThan(300)
  })

  test('refuses an amount of zero and limits out of bounds or behind the price', () => {
    const pool: TurbosState = {
      ...{ tickSpacing: 1, feeRate: 500n, protocolFeeRate: 0n, sqrtPrice: 1n << 64n, tick: 0, liquidity: 5n },
      ...{ ticks: [], feeGrowth: [0n, 0n] as const, protocolFees: [0n, 0n] as const },
    }
    const swap = { a2b: true, isExactIn: true, amount: 10n, sqrtPriceLimit: 1n << 63n }
    const codeOf = (changes: Partial<typeof swap>) => swapTurbos(pool, { ...swap, ...changes }).abort?.code
    expect(codeOf({ amount: 0n })).toBe(7)
    expect(codeOf({ sqrtPriceLimit: 4_295_048_015n })).toBe(19)
    expect(codeOf({ sqrtPriceLimit: (1n << 64n) + 1n })).toBe(20)
    expect(codeOf({ a2b: false })).toBe(20)
  })
})
