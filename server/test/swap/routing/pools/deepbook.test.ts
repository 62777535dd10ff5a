import { swapDeepbook } from '@swapyard/lib/pools/sui/deepbook.ts'
import { addDeepPricePoint, type DeepPricePoints, meanDeepPrice } from '@swapyard/lib/pools/sui/deepbook-deep-price.ts'
import { feeQuantity } from '@swapyard/lib/pools/sui/deepbook-fee.ts'
import {
  addGasPrice,
  type GasPriceState,
  gasPricePenalty,
  zScore,
} from '@swapyard/lib/pools/sui/deepbook-gas-penalty.ts'
import type { DeepbookOrder, DeepbookState } from '@swapyard/lib/pools/sui/deepbook-matching.ts'
import { divide, divideRoundedUp, multiply, multiplyUp, scaledRoot } from '@swapyard/lib/pools/sui/deepbook-math.ts'
import {
  deepbookMidPrice,
  deepRequired,
  quoteDeepbookIn,
  quoteDeepbookOut,
} from '@swapyard/lib/pools/sui/deepbook-quote.ts'
import { catchAbort } from '@swapyard/lib/pools/sui/move-abort.ts'
import { describe, expect, test } from 'vitest'
import { readPublicVectors } from '../../../../../test/support/vectors.ts'
import { type ReplayedOperation, replayDeepbookBooks } from '../../../../src/cli/lab/deepbook.ts'
import { outputOf } from '../../../../src/swap/routing/curve.ts'
import { type DeepbookPool, deepbook } from '../../../../src/swap/routing/pools/sui/deepbook.ts'
import { type Argument, type RecordedFunctions, runFunctions } from './recorded-functions.ts'

type GasPrices = Readonly<{
  alpha: string
  zScoreThreshold: string
  additionalTakerFee: string
  takerFee: string
  startGasPrice: string
  steps: readonly (readonly [string, string, ...string[]])[]
}>
type Maths = RecordedFunctions &
  Readonly<{
    deepPriceSequences: readonly (readonly (readonly [string, boolean, string, boolean, string])[])[]
    ewmaSequences: readonly GasPrices[]
  }>

describe('arithmetic and fees of DeepBook', () => {
  const recorded = readPublicVectors<Maths>('sui_deepbook_math.json') as Maths

  test.skipIf(recorded === null)('every recorded result and abort', () => {
    const pair = (run: (x: bigint, y: bigint) => bigint) => (x: Argument, y: Argument) => [run(BigInt(x), BigInt(y))]
    const functions = {
      ...{
        mul: pair(multiply),
        mul_round_up: pair(multiplyUp),
        div: pair(divide),
        div_round_up: pair(divideRoundedUp),
      },
      sqrt: pair(scaledRoot),
      fee_quantity: (assetIsBase: boolean, perAsset: string, base: string, quote: string, isBid: boolean) =>
        feeQuantity({ assetIsBase, deepPerAsset: BigInt(perAsset) }, BigInt(base), BigInt(quote), isBid),
    }
    const { received, expected } = runFunctions(functions, recorded)
    expect(expected.length).toBeGreaterThanOrEqual(4_638)
    expect(received).toEqual(expected)
  })

  test.skipIf(recorded === null)('the price of DEEP after every recorded point', () => {
    for (const sequence of recorded.deepPriceSequences) {
      let points: DeepPricePoints = { base: [], quote: [] }
      const means = sequence.map(([timestampMs, assetIsBase, rate]) => {
        points = addDeepPricePoint(points, assetIsBase, { rate: BigInt(rate), timestampMs: BigInt(timestampMs) })
        const mean = meanDeepPrice(points)
        return [timestampMs, assetIsBase, rate, mean.assetIsBase, String(mean.deepPerAsset)]
      })
      expect(means).toEqual(sequence)
    }
    expect(recorded.deepPriceSequences.length).toBeGreaterThanOrEqual(40)
  })

  test('refuses a second point within a minute and a price without points', () => {
    const none: DeepPricePoints = { base: [], quote: [] }
    const one = addDeepPricePoint(none, true, { rate: 5n, timestampMs: 100_000n })
    const add = (timestampMs: bigint) => catchAbort(() => addDeepPricePoint(one, true, { rate: 5n, timestampMs }))
    expect(add(160_000n)).toEqual({ abort: { module: 'deep_price', code: 1 } })
    expect(add(160_001n)).toHaveProperty('base.length', 2)
    expect(catchAbort(() => meanDeepPrice(none))).toEqual({ abort: { module: 'deep_price', code: 2 } })
  })

  test.skipIf(recorded === null)('the taker fee at every recorded gas price', () => {
    for (const { steps, ...start } of recorded.ewmaSequences) {
      let state: GasPriceState = {
        ...{ mean: BigInt(start.startGasPrice) * 10n ** 9n, variance: 0n, lastUpdatedMs: 0n, isEnabled: true },
        ...{ alpha: BigInt(start.alpha), zScoreThreshold: BigInt(start.zScoreThreshold) },
        additionalTakerFee: BigInt(start.additionalTakerFee),
      }
      const results = steps.map(([timestampMs, price]) => {
        const gasPrice = BigInt(price)
        state = addGasPrice(state, gasPrice, BigInt(timestampMs))
        const fee = BigInt(start.takerFee) + gasPricePenalty(state, gasPrice)
        return [timestampMs, price, ...[state.mean, state.variance, zScore(state, gasPrice), fee].map(String)]
      })
      expect(results).toEqual(steps)
    }
    expect(recorded.ewmaSequences.length).toBeGreaterThanOrEqual(27)
  })
})

type Recorded = Readonly<{ books: readonly Readonly<{ ops: readonly Readonly<Record<string, unknown>>[] }>[] }>

describe('DeepBook', () => {
  const recorded = readPublicVectors<Recorded>('sui_deepbook_orders.json') as Recorded

  test.skipIf(recorded === null)('every recorded order, swap, quote, book and abort', () => {
    const rows = recorded.books.flatMap(({ ops }) => ops)
    const replayed = replayDeepbookBooks(recorded)
    expect(replayed).toHaveLength(rows.length)
    expect(rows.length).toBeGreaterThanOrEqual(4_882)
    const compared = new Map<string, number>()
    for (const [index, operation] of replayed.entries()) {
      const result = resultOf(operation)
      if (result === null) continue
      expect(toText(result), `operation ${index}`).toEqual(expectedOf(rows[index] ?? {}, result))
      compared.set(operation.operation.op, (compared.get(operation.operation.op) ?? 0) + 1)
    }
    expect(Object.fromEntries(compared)).toMatchObject({ limit: 2_989, market: 43, quote: 1_386, snapshot: 117 })
    expect(compared.get('swap_exact_base_for_quote')).toBe(42)
    expect(compared.get('swap_exact_quote_for_base')).toBe(54)
  })

  test('a swap of more than 100 orders ends at the hundredth, expired ones included', () => {
    const asks = Array.from({ length: 150 }, (_, index) => createOrder(1_000_000_000n + BigInt(index), 10n))
    const state = createState({ asks })
    const swap = { isBid: true, amount: 1_000_000n, deepIn: 0n, outputMin: 0n }
    expect(swapDeepbook(state, swap)).toMatchObject({ received: 1_000n, isExhausted: true })
    const withExpired = createState({
      asks: asks.map((ask, index) => (index < 30 ? { ...ask, expiresAtMs: 9n } : ask)),
    })
    const result = swapDeepbook(withExpired, swap)
    expect(result).toMatchObject({ received: 700n, isExhausted: true })
    expect('next' in result && result.next.asks).toEqual(asks.slice(100))
  })

  test('pays the router a whole input only, and the curve follows the swap', () => {
    const asks = [createOrder(2_000_000_000n, 40_000n), createOrder(3_000_000_000n, 60_000n)]
    const bids = [createOrder(1_900_000_000n, 50_000n), createOrder(1_800_000_000n, 50_000n)]
    const identity = {
      kind: 'deepbook',
      id: '0x1',
      address: '0x1',
      dex: 'deepbook',
      tokens: ['base', 'quote'],
      ...{ package: '0x2', feeCoin: '0x3::deep::DEEP', objectVersion: 1n },
    } as const
    const pool: DeepbookPool = { ...createState({ asks, bids }), ...identity, takerFee: 1_000_000n }
    // A fee of 0.1 % times 1.25 in the input: 80,000 quote buy the first order, 10,000 more 3,333 of the second.
    expect(deepbook.swap(pool, 1, 0, 90_112n)).toMatchObject({ amountOut: 43_330n })
    expect(deepbook.swap(pool, 0, 1, 60_075n)).toMatchObject({ amountOut: 95_000n + 18_000n })
    expect(deepbook.swap(pool, 1, 0, 300_000n)).toBeNull()
    expect(deepbook.swap(pool, 0, 1, 200_000n)).toBeNull()
    expect(deepbook.swap(pool, 0, 1, 5n)).toBeNull()
    for (const [tokenIn, amount] of [
      [1, 90_112n],
      [1, 200_000n],
      [0, 60_075n],
    ] as const) {
      const curve = deepbook.curve(pool, tokenIn, 1 - tokenIn)
      const swapped = deepbook.swap(pool, tokenIn, 1 - tokenIn, amount)
      expect(curve).not.toBeNull()
      const difference = Number(swapped?.amountOut) - outputOf(curve as NonNullable<typeof curve>, Number(amount))
      // A lot of 10, at a price below 2.
      expect(Math.abs(difference)).toBeLessThan(20)
    }
  })
})

const createOrder = (price: bigint, remaining: bigint): DeepbookOrder => ({ price, remaining, expiresAtMs: 1_000n })

const createState = (book: Partial<Pick<DeepbookState, 'bids' | 'asks'>>): DeepbookState => ({
  ...{ takerFee: 0n, stakeRequired: 1n, gasPricePenalty: 0n, lotSize: 10n, minSize: 10n, nowMs: 10n },
  ...{ isWhitelisted: false, deepPrice: null, bids: [], asks: [], ...book },
})

const STATUS = { live: 0, 'partly-filled': 1, filled: 2, cancelled: 3 }

/** The result of an operation under the names of the file; null for operations without a result. */
function resultOf({ operation, before, outcome, after }: ReplayedOperation): Record<string, unknown> | null {
  const quoted = operation.op === 'quote' ? quote(before, operation as never) : outcome
  if ('abort' in quoted) return { abort: [quoted.abort.module, quoted.abort.code] }
  if (Array.isArray(quoted)) return { result: quoted }
  const { placed, swapped } = quoted as Exclude<typeof outcome, { abort: unknown }>
  const managerAfter = after.accounts.get(String(operation.manager))?.funds
  if (placed !== undefined) {
    const fills = placed.fills.map((fill) => [
      ...[fill.order.price, fill.base, fill.quote, fill.takerFee, fill.makerFee, fill.isDropped],
    ])
    return {
      ...{ executed: placed.executed, cumulativeQuote: placed.quote, paidFees: placed.takerFee, fills, managerAfter },
      ...{ takerFeeRate: placed.takerFeeRate, status: STATUS[placed.status], vaultAfter: after.vault },
      ...(operation.op === 'limit' ? { makerFees: placed.makerFee, inserted: placed.isInserted } : {}),
    }
  }
  if (swapped !== undefined) {
    const unspent = BigInt(operation.amountIn ?? 0) - swapped.paid
    const isBid = operation.op === 'swap_exact_quote_for_base'
    const [baseOut, quoteOut] = isBid ? [swapped.received, unspent] : [unspent, swapped.received]
    return { baseOut, quoteOut, deepOut: BigInt(operation.deepIn ?? 0) - swapped.deepPaid }
  }
  if (operation.op === 'snapshot') {
    const sideOf = (orders: readonly DeepbookOrder[]) =>
      orders.map(({ price, remaining, expiresAtMs }) => [price, remaining, expiresAtMs])
    return { now: before.nowMs, bids: sideOf(before.bids), asks: sideOf(before.asks) }
  }
  if (operation.op === 'mid_price') return { result: deepbookMidPrice(before) }
  if (operation.op === 'get_order_deep_required') {
    const { baseQuantity, price } = operation as unknown as Record<string, string>
    const order = { base: BigInt(baseQuantity ?? 0), price: BigInt(price ?? 0), makerFee: before.makerFee }
    const [taker, maker] = deepRequired(before, order)
    return { taker, maker }
  }
  return managerAfter === undefined ? null : { managerAfter }
}

function quote(state: DeepbookState, { fn, amount }: { fn: string; amount: string }) {
  const request = { amount: BigInt(amount) }
  const isFeeInDeep = fn.includes('pay_with_deep') || (fn.includes('_out') && !fn.includes('input_fee'))
  return catchAbort(() => {
    if (fn.includes('_out'))
      return quoteDeepbookOut(state, { ...request, isFeeInDeep, isBid: fn.startsWith('get_base_quantity_out') })
    return quoteDeepbookIn(state, { ...request, isFeeInDeep, isBid: fn.startsWith('get_quote_quantity_in') })
  })
}

/** The members of the recorded row that the result has, or its abort. */
function expectedOf(row: Readonly<Record<string, unknown>>, result: Readonly<Record<string, unknown>>) {
  const { abort } = row
  if (abort !== undefined) return { abort }
  return Object.fromEntries(Object.keys(result).map((name) => [name, row[name]]))
}

const toText = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner)))
