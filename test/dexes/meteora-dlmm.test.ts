import { largest, smallest, U64_MAX } from '@swapyard/lib/bigint.ts'
import {
  type DlmmAmounts,
  type DlmmPool,
  dlmmFeeRate,
  swapMeteoraDlmm,
} from '@swapyard/lib/pools/solana/meteora-dlmm.ts'
import {
  DLMM_BINS_PER_ARRAY,
  type DlmmBin,
  decodeDlmmBinArray,
  dlmmArrayIndex,
  isInPairBitmap,
} from '@swapyard/lib/pools/solana/meteora-dlmm-accounts.ts'
import { dlmmPrice } from '@swapyard/lib/pools/solana/meteora-dlmm-bin.ts'
import { DLMM_ERROR } from '@swapyard/lib/pools/solana/meteora-dlmm-error.ts'
import { netOf } from '@swapyard/lib/pools/solana/transfer-fee.ts'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { magnitude } from '../../server/test/swap/routing/random-pools.ts'
import { drawSamples } from '../support/draw-samples.ts'
import { type Counter, createCounter, stringify } from './counter.ts'
import { toBigint } from './packages.ts'
import {
  accounts,
  BIN_STEPS,
  type DlmmDraw,
  type DlmmPools,
  dlmm,
  drawPools,
  NOW,
  POOLS,
  toBN,
  toPackageArray,
} from './random-dlmm-pools.ts'

/* Meteora DLMM: our swaps against the quotes of @meteora-ag/dlmm, on the same account bytes. */

type Trade = DlmmDraw['trades'][0] & Readonly<{ kind: 'exactIn' | 'exactOut' }>

/** What the bins hold for this direction, and about what they take for it. */
function capacityOf({ pair }: DlmmPool, bins: readonly DlmmBin[], swapForY: boolean) {
  let [input, output] = [0n, 0n]
  for (const bin of bins) {
    const orders = pair.hasLimitOrders && bin.isAskSide !== swapForY ? bin.openOrders + bin.processedRest : 0n
    const units = bin.amounts[swapForY ? 1 : 0] + orders
    output += units
    input += swapForY ? (units << 64n) / bin.price : (units * bin.price) >> 64n
  }
  return { input, output }
}

function amountOf({ ours, bins }: DlmmPools, { swapForY, kind, size }: Trade): bigint {
  if ('units' in size) return size.units
  const { input, output } = capacityOf(ours, bins, swapForY)
  const whole = kind === 'exactIn' ? input : output
  const amount = 'excess' in size ? whole + size.excess : (whole * size.share) / (1n << 21n)
  return smallest(largest(amount, 1n), U64_MAX)
}

/** What the package quotes; null where it misses liquidity. */
function quote(
  { theirs, theirArrays }: DlmmPools,
  { swapForY, kind }: Pick<Trade, 'swapForY' | 'kind'>,
  amount: bigint,
) {
  try {
    const quoted =
      kind === 'exactIn'
        ? theirs.swapQuote(toBN(amount), swapForY, toBN(0), theirArrays)
        : theirs.swapQuoteExactOut(toBN(amount), swapForY, toBN(0), theirArrays)
    const paid = 'consumedInAmount' in quoted ? quoted.consumedInAmount : quoted.inAmount
    const { outAmount, fee, protocolFee } = quoted
    return {
      ...{ paid: toBigint(paid), received: toBigint(outAmount) },
      ...{ fee: toBigint(fee), protocolFee: toBigint(protocolFee) },
    }
  } catch (error) {
    expect(String(error)).toContain('Insufficient liquidity')
    return null
  }
}

const swap = ({ ours }: DlmmPools, swapForY: boolean, amounts: DlmmAmounts) =>
  swapMeteoraDlmm(ours, {
    ...{ swapForY, amounts, unixTime: BigInt(NOW), slot: 0n, hostToken: null },
    ...{ binArrays: [...ours.binArrays.keys()], hasExtension: ours.extensionIndexes.length > 0 },
  })

const LIQUIDITY_ERRORS: readonly unknown[] = [
  DLMM_ERROR.cannotFindNonZeroLiquidityBinArrayId,
  DLMM_ERROR.bitmapExtensionAccountIsNotProvided,
  // A pool without any bin array.
  DLMM_ERROR.accountNotEnoughKeys,
]

describe('Meteora DLMM', () => {
  beforeEach(() => {
    vi.spyOn(Date, 'now').mockReturnValue(NOW * 1_000)
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  test('an exact input pays what the package quotes, with the same fees', () => {
    const reached = createCounter()
    for (const { pools, draw } of drawPools())
      for (const { swapForY, ...trade } of draw.trades) {
        const amount = amountOf(pools, { swapForY, ...trade, kind: 'exactIn' })
        const result = swap(pools, swapForY, { kind: 'exactIn', amountIn: amount, minimumOut: 0n })
        const quoted = quote(pools, { swapForY, kind: 'exactIn' }, amount)
        const place = { draw, swapForY, amount }
        if (result.error === DLMM_ERROR.insufficientOutAmount) {
          // The program refuses to pay nothing. The package quotes it, or fails if the transfer fee takes the whole input.
          expect(quoted?.received ?? 0n, stringify(place)).toBe(0n)
          reached.add('nothing for a tiny input')
        } else if (result.error !== null) {
          expect(LIQUIDITY_ERRORS, stringify(place)).toContain(result.error)
          expect(quoted, stringify(place)).toBeNull()
          reached.add('liquidity ends')
          if (draw.transferFees[swapForY ? 0 : 1] === null) expectPartialFill(pools, swapForY, amount, reached)
        } else {
          const { paid, received, fees } = result
          const { paid: quotedPaid, ...amounts } = quoted ?? { paid: -1n }
          const ours = { received, fee: fees.makers + fees.orders, protocolFee: fees.protocol }
          expect(ours, stringify(place)).toEqual(amounts)
          // Of two inputs that leave the same after the transfer fee, the package names the smaller one.
          const feeIn = pools.ours.transferFees[swapForY ? 0 : 1]
          expect(netOf(quotedPaid, feeIn), stringify(place)).toBe(netOf(paid, feeIn))
          countStates(reached, pools, swapForY, result)
        }
      }
    expect(reached.missing(REQUIRED)).toEqual([])
    expect(reached.counts()['swaps'], stringify(reached.counts())).toBeGreaterThan(POOLS * 3)
  })

  /*
   * Where the two differ, the recorded swaps of the program decide for ours (solana_meteora_dlmm*.json), but for the first point,
   * which they do not show:
   * - A bin whose whole output is its fee: the package leaves the bin's input out of the sum, but counts it for an exact input.
   * - What a rounded input buys beyond the output: of a fee in the output it is the protocol's, also a single unit, which the package
   *   leaves out; of a fee in the input it is not, but the package adds it if it is more than one unit.
   * - A bin whose market makers and limit orders both serve the output: the program refuses if one rounded input does not suffice
   *   (6085). The package rounds an input for each part.
   */
  test('an exact output costs what the package quotes', () => {
    const reached = createCounter()
    for (const { pools, draw } of drawPools())
      for (const { swapForY, ...trade } of draw.trades) {
        const amount = amountOf(pools, { swapForY, ...trade, kind: 'exactOut' })
        const result = swap(pools, swapForY, { kind: 'exactOut', amountOut: amount, maximumIn: U64_MAX })
        const quoted = quote(pools, { swapForY, kind: 'exactOut' }, amount)
        const place = stringify({ draw, swapForY, amount, quoted })
        const isFeeInInput = !(pools.ours.pair.hasFeesInY && swapForY)
        if (result.error === DLMM_ERROR.undeterminedError) {
          expect([quoted?.received, pools.ours.pair.hasLimitOrders], place).toEqual([amount, true])
          reached.add('one input for several parts does not suffice')
        } else if (result.error !== null) {
          expect(LIQUIDITY_ERRORS, place).toContain(result.error)
          expect(quoted, place).toBeNull()
          reached.add('liquidity ends')
        } else if (quoted === null) throw new Error(`the package misses liquidity: ${place}`)
        else if (result.paid !== quoted.paid) {
          expect(isFeeInInput, place).toBe(false)
          expect(result.paid, place).toBeGreaterThan(quoted.paid)
          expect(quote(pools, { swapForY, kind: 'exactIn' }, quoted.paid)?.received, place).toBeLessThan(amount)
          expect(quote(pools, { swapForY, kind: 'exactIn' }, result.paid)?.received, place).toBeGreaterThanOrEqual(
            amount,
          )
          reached.add('the fee takes the whole output of a bin')
        } else {
          const { fees } = result
          expect([result.received >= amount, fees.makers + fees.orders], place).toEqual([true, quoted.fee])
          const excess = isFeeInInput ? quoted.protocolFee - fees.protocol : fees.protocol - quoted.protocolFee
          if (isFeeInInput) expect(excess === 0n || excess > 1n, place).toBe(true)
          else expect(excess === 0n || excess === 1n, place).toBe(true)
          if (excess !== 0n) reached.add(`excess, fee in the ${isFeeInInput ? 'input' : 'output'}`)
          countStates(reached, pools, swapForY, result)
        }
      }
    const differences = ['one input for several parts does not suffice', 'excess, fee in the input']
    expect(
      reached.missing([...REQUIRED.filter((name) => name !== 'nothing for a tiny input'), ...differences]),
    ).toEqual([])
    expect(reached.counts()['swaps'], stringify(reached.counts())).toBeGreaterThan(POOLS * 3)
  })

  test('bins have the prices of the package, to the last bit', () => {
    const bins = fc.record({
      binStep: fc.constantFrom(...BIN_STEPS),
      logPrice: fc.double({ min: -40, max: 40, noNaN: true }),
    })
    for (const { binStep, logPrice } of drawSamples(bins, 1_000)) {
      const id = Math.round(logPrice / Math.log1p(binStep / 10_000))
      expect([binStep, id, dlmmPrice(id, binStep)]).toEqual([
        ...[binStep, id, toBigint(dlmm.getQPriceFromId(toBN(id), toBN(binStep)))],
      ])
    }
  })

  test('the fee rate of the active bin is that of the package', () => {
    const rates = new Set<bigint>()
    for (const { pools } of drawPools()) {
      const { pair } = pools.ours
      const rate = dlmmFeeRate(pair, BigInt(NOW), pair.activeId)
      // Percent.
      expect(rate).toBe(BigInt(pools.theirs.getDynamicFee().mul(10_000_000).toFixed(0)))
      rates.add(rate)
    }
    expect(rates.size).toBeGreaterThan(POOLS / 3)
  })

  test('reads bin arrays by the layout of the program', () => {
    const u64 = magnitude(0, 63)
    const u128 = magnitude(0, 127)
    const bins = fc.array(
      fc.record({
        ...{ amounts: fc.tuple(u64, u64), price: u128, liquiditySupply: u128, fulfilledOrders: fc.tuple(u64, u64) },
        ...{ orderFees: fc.tuple(u64, u64), feeGrowth: fc.tuple(u128, u128), openOrders: u64, processingOrders: u64 },
        ...{ processedRest: u64, orderAge: fc.nat(0xffff_ffff), isAskSide: fc.boolean() },
      }),
      { minLength: DLMM_BINS_PER_ARRAY, maxLength: DLMM_BINS_PER_ARRAY },
    )
    const arrays = fc.record({ index: fc.integer({ min: -6_656, max: 6_655 }), bins })
    for (const { index, bins: drawn } of drawSamples(arrays, 20)) {
      const array = { index, bins: drawn.map((bin, place) => ({ id: index * DLMM_BINS_PER_ARRAY + place, ...bin })) }
      expect(decodeDlmmBinArray(accounts.write('binArray', toPackageArray(array)))).toEqual(array)
    }
  })
})

/** The package can quote what the pool takes of a larger input. The program takes exactly that input. */
function expectPartialFill(pools: DlmmPools, swapForY: boolean, amount: bigint, reached: Counter): void {
  let partial: ReturnType<DlmmPools['theirs']['swapQuote']>
  try {
    partial = pools.theirs.swapQuote(toBN(amount), swapForY, toBN(0), pools.theirArrays, true)
  } catch {
    // The pool takes nothing in this direction.
    return
  }
  const [paid, received] = [toBigint(partial.consumedInAmount), toBigint(partial.outAmount)]
  if (paid === 0n || received === 0n) return
  const result = swap(pools, swapForY, { kind: 'exactIn', amountIn: paid, minimumOut: 0n })
  expect(result).toMatchObject({ paid, received })
  reached.add('partial fill')
}

/** States that both tests must reach. */
const REQUIRED = [
  ...['nothing for a tiny input', 'liquidity ends', 'sells X', 'sells Y', 'fee in Y only', 'fee in the input'],
  ...['several bins', 'more than 20 bins', 'several arrays', 'an array without liquidity between', 'beyond the bitmap'],
  ...['a higher fee in later bins', 'a fee at its maximum', 'a reference that decayed', 'a reference that expired'],
  ...['limit orders', 'transfer fees', 'more than 2^50 units', 'fewer than 10 units'],
]

function countStates(
  reached: Counter,
  { ours }: DlmmPools,
  swapForY: boolean,
  { paid, received, fees, next }: Extract<ReturnType<typeof swap>, { error: null }>,
): void {
  const { pair } = ours
  const { activeId, volatility } = next.pair
  const crossed = Math.abs(activeId - pair.activeId)
  const [from, to] = [pair.activeId, activeId].map(dlmmArrayIndex) as [number, number]
  const between = [...ours.binArrays.keys()].filter((index) => index > Math.min(from, to) && index < Math.max(from, to))
  const startRate = dlmmFeeRate(pair, BigInt(NOW), pair.activeId)
  const endRate = dlmmFeeRate(pair, BigInt(NOW), activeId)
  const elapsed = NOW - Number(pair.volatility.lastUpdate)
  const states: Readonly<Record<string, boolean>> = {
    swaps: true,
    [swapForY ? 'sells X' : 'sells Y']: true,
    [pair.hasFeesInY ? 'fee in Y only' : 'fee in the input']: true,
    'several bins': crossed > 0,
    'more than 20 bins': crossed > 20,
    'several arrays': from !== to,
    'an array without liquidity between': Math.abs(from - to) > between.length + 1,
    'beyond the bitmap': !isInPairBitmap(to),
    'a higher fee in later bins': endRate > startRate,
    'a fee at its maximum': endRate === 100_000_000n,
    'a reference that decayed': elapsed >= pair.filterPeriod && elapsed < pair.decayPeriod && volatility.reference > 0,
    'a reference that expired': elapsed >= pair.decayPeriod && pair.volatility.reference > 0,
    'limit orders': fees.orders > 0n,
    'transfer fees': ours.transferFees.some((fee) => fee !== null && fee.basisPoints > 0n),
    'more than 2^50 units': paid > 1n << 50n || received > 1n << 50n,
    'fewer than 10 units': paid < 10n || received < 10n,
  }
  for (const [name, isReached] of Object.entries(states)) if (isReached) reached.add(name)
}
