import { absolute } from '@swapyard/lib/bigint.ts'
import { quoteCetus, swapCetus } from '@swapyard/lib/pools/sui/cetus.ts'
import { lastPriceOf, type Q64State } from '@swapyard/lib/pools/sui/concentrated-q64.ts'
import { swapDeepbook } from '@swapyard/lib/pools/sui/deepbook.ts'
import { DEEPBOOK_SCALE } from '@swapyard/lib/pools/sui/deepbook-math.ts'
import { quoteDeepbookOut } from '@swapyard/lib/pools/sui/deepbook-quote.ts'
import { catchAbort } from '@swapyard/lib/pools/sui/move-abort.ts'
import { quoteTurbos, swapTurbos } from '@swapyard/lib/pools/sui/turbos.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { holdingOf, magnitude, randomPools } from './random-pools.ts'

/* The quote functions of DEXes on Sui against the executed swaps of the same pools. */

const settings = { numRuns: 300, maxSkipsPerRun: 2 } as const
const parts = { a2b: fc.boolean(), isExactIn: fc.boolean(), share: magnitude(0, 21) }

/** A part of the balance of the exact side. */
const amountOf = (holding: bigint, share: bigint) => (holding * share) / (1n << 21n) + 1n
const swapOf = ({ a2b, isExactIn }: { a2b: boolean; isExactIn: boolean }, amount: bigint) => ({
  ...{ a2b, isExactIn, amount, sqrtPriceLimit: lastPriceOf(a2b) },
})
const endOf = ({ sqrtPrice, tick, liquidity }: Pick<Q64State, 'sqrtPrice' | 'tick' | 'liquidity'>) => ({
  ...{ sqrtPrice, tick, liquidity },
})

describe('the executed swap pays what the quote says', () => {
  test('on Cetus', () => {
    fc.assert(
      fc.property(fc.record({ pool: randomPools.cetus, ...parts }), ({ pool, share, ...sides }) => {
        const swap = swapOf(sides, amountOf(holdingOf(pool, sides.a2b === sides.isExactIn ? 0 : 1), share))
        const [quote, result] = [quoteCetus(pool, swap), swapCetus(pool, swap)]
        fc.pre(result.abort === null)
        if ('abort' in quote) throw new Error(`the quote aborts: ${JSON.stringify(quote.abort)}`)
        const { paid, received, fee, next } = result
        expect({ paid, received, fee, sqrtPrice: next.sqrtPrice }).toEqual({
          ...{
            paid: quote.amountIn + quote.fee,
            received: quote.amountOut,
            fee: quote.fee,
            sqrtPrice: quote.sqrtPrice,
          },
        })
        expect(quote.isExceeded).toBe(false)
      }),
      settings,
    )
  })

  test('on Turbos', () => {
    fc.assert(
      fc.property(fc.record({ pool: randomPools.turbos, ...parts }), ({ pool, share, ...sides }) => {
        const swap = swapOf(sides, amountOf(holdingOf(pool, sides.a2b === sides.isExactIn ? 0 : 1), share))
        const [quote, result] = [quoteTurbos(pool, swap), swapTurbos(pool, swap)]
        fc.pre(result.abort === null)
        if ('abort' in quote) throw new Error(`the dry run aborts: ${JSON.stringify(quote.abort)}`)
        const { paid, received, fee, next } = result
        expect({ paid, received, fee, ...endOf(next) }).toEqual({
          ...{ paid: quote.paid, received: quote.received, fee: quote.fee, ...endOf(quote) },
        })
      }),
      settings,
    )
  })

  // The quote rounds the fee down at each order, which leaves up to a unit of the input more for the next one, and may complete a lot.
  test('on DeepBook, but for roundings of each order', () => {
    const draws = fc.record({ pool: randomPools.deepbook, isBid: fc.boolean(), share: magnitude(0, 21) })
    fc.assert(
      fc.property(draws, ({ pool, isBid, share }) => {
        const amount = amountOf(holdingOf(pool, isBid ? 1 : 0), share)
        const quote = catchAbort(() => quoteDeepbookOut(pool, { isBid, amount, isFeeInDeep: false }))
        const result = swapDeepbook(pool, { isBid, amount, deepIn: 0n, outputMin: 0n })
        fc.pre(result.abort === null && result.received > 0n)
        if ('abort' in quote) throw new Error(`the quote aborts: ${JSON.stringify(quote.abort)}`)
        const [output, left] = isBid ? [quote[0], quote[1]] : [quote[1], quote[0]]
        const orders = BigInt(pool.bids.length + pool.asks.length)
        const base = pool.lotSize + orders
        const quoteOfBase = (base * (pool.bids[0]?.price ?? 0n)) / DEEPBOOK_SCALE + orders
        const expectNear = (received: bigint, expected: bigint, tolerance: bigint) =>
          expect(absolute(received - expected), `${received} against ${expected}`).toBeLessThanOrEqual(tolerance)
        expectNear(result.received, output, isBid ? 0n : quoteOfBase)
        expectNear(result.paid, amount - left, isBid ? orders : base + orders)
      }),
      settings,
    )
  })
})
