import { U64_MAX } from '@swapyard/lib/bigint.ts'
import { quoteCetus } from '@swapyard/lib/pools/sui/cetus.ts'
import { cetusLiquidityFromA, cetusLiquidityFromB } from '@swapyard/lib/pools/sui/cetus-liquidity.ts'
import { cetusDeltaA, cetusDeltaB, computeCetusStep } from '@swapyard/lib/pools/sui/cetus-step.ts'
import type { Q64State } from '@swapyard/lib/pools/sui/concentrated-q64.ts'
import { catchAbort } from '@swapyard/lib/pools/sui/move-abort.ts'
import { sqrtPriceAtTick } from '@swapyard/lib/pools/sui/q64-tick.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { concentratedOf, magnitude, positionedPools } from '../../server/test/swap/routing/random-pools.ts'
import { drawSamples } from '../support/draw-samples.ts'
import { type Counter, createCounter, stringify } from './counter.ts'
import { loadCetus, toBigint } from './packages.ts'

/* Cetus: our quotes against those of @cetusprotocol/cetus-sui-clmm-sdk. */

const cetus = loadCetus()
const { toBN } = cetus

const POOLS = 250
const QUOTES = 6

const draws = fc.record({
  pool: positionedPools([2, 10, 60, 200], { tickMax: 443_636, fullRangeBits: [20, 60], positionBits: [20, 62] }),
  /** Without its position over the whole range a pool has gaps, and an end. */
  hasWholeRange: fc.boolean(),
  isOnTick: fc.nat(4).map((digit) => digit === 0),
  feeRate: fc.constantFrom(0n, 100n, 500n, 2_500n, 10_000n, 200_000n),
  quotes: fc.array(
    fc.record({
      a2b: fc.boolean(),
      isExactIn: fc.boolean(),
      size: fc.oneof(
        { weight: 5, arbitrary: magnitude(0, 24).map((share) => ({ share })) },
        { weight: 1, arbitrary: fc.bigInt(1n, 20n).map((units) => ({ units })) },
        { weight: 1, arbitrary: fc.bigInt(1n, 2n).map((units) => ({ units })) },
        { weight: 1, arbitrary: magnitude(40, 63).map((units) => ({ units })) },
      ),
    }),
    { minLength: QUOTES, maxLength: QUOTES },
  ),
})
type Draw = typeof draws extends fc.Arbitrary<infer T> ? T : never

function createPools({ pool, hasWholeRange, isOnTick, feeRate }: Draw) {
  const positions = hasWholeRange || pool.positions.length < 2 ? pool.positions : pool.positions.slice(1)
  const drawn = concentratedOf({ ...pool, positions })
  const sqrtPrice = isOnTick ? sqrtPriceAtTick(drawn.tick) : drawn.sqrtPrice >> 32n
  const ours: Q64State = {
    ...{ ...drawn, sqrtPrice: within(sqrtPrice, drawn.tick), feeRate, protocolFeeRate: 2_000n },
    ...({ feeGrowth: [0n, 0n], protocolFees: [0n, 0n] } as const),
  }
  const theirs = {
    ...{ liquidity: toBN(ours.liquidity), currentSqrtPrice: toBN(ours.sqrtPrice), currentTickIndex: ours.tick },
    feeRate: toBN(feeRate),
  }
  const ticks = ours.ticks.map(({ index, net }) => ({
    ...{ index, sqrtPrice: cetus.TickMath.tickIndexToSqrtPriceX64(index), liquidityNet: toBN(net) },
  }))
  return { ours, theirs: theirs as never, ticks: ticks as never[] }
}

/** The price of Q64.96 with fewer bits may be below its tick. */
const within = (sqrtPrice: bigint, tick: number): bigint => {
  const low = sqrtPriceAtTick(tick)
  return sqrtPrice < low ? low : sqrtPrice
}

function amountOf({ liquidity, sqrtPrice, ticks }: Q64State, { a2b, isExactIn, size }: Draw['quotes'][0]): bigint {
  if ('units' in size) return size.units
  let most = liquidity
  for (const { net } of ticks) if (net > most) most = net
  const virtual = a2b === isExactIn ? (most << 64n) / sqrtPrice : (most * sqrtPrice) >> 64n
  const amount = (virtual * size.share) / (1n << 23n) + 1n
  return amount < U64_MAX ? amount : U64_MAX
}

type Quote = Exclude<ReturnType<typeof quoteCetus>, { abort: unknown }>

/** The result of the package, or null if it throws. */
function runPackage<T>(run: () => T): T | null {
  try {
    return run()
  } catch (error) {
    expect((error as Error).constructor.name).toBe('ClmmpoolsError')
    return null
  }
}

/*
 * The two differ in the last unit of an exact input, if it is fee as a whole: the package does not subtract it, so it takes the unit again
 * for each further tick. The contract ends there (recorded swaps that pay nothing, abort 18).
 */
test('a quote of Cetus equals that of the package', () => {
  const reached = createCounter()
  for (const draw of drawSamples(draws, POOLS)) {
    const { ours, theirs, ticks } = createPools(draw)
    for (const drawn of draw.quotes) {
      const amount = amountOf(ours, drawn)
      const { a2b, isExactIn } = drawn
      const quote = quoteCetus(ours, { a2b, isExactIn, amount })
      const quoted = runPackage(() =>
        cetus.computeSwap(a2b, isExactIn, toBN(amount), theirs, a2b ? ticks.toReversed() : ticks),
      )
      const place = stringify({ draw, drawn, amount, quote, quoted })
      if ('abort' in quote) {
        // Not all amounts of the package are limited to 64 bits.
        const amounts = quoted === null ? [] : [toBigint(quoted.amountIn), toBigint(quoted.amountOut)]
        expect(quoted === null || amounts.some((units) => units > U64_MAX), place).toBe(true)
        reached.add('beyond 64 bits')
        continue
      }
      if (quoted === null) throw new Error(`the package refuses: ${place}`)
      expect([quote.amountOut, quote.sqrtPrice], place).toEqual([quoted.amountOut, quoted.nextSqrtPrice].map(toBigint))
      const excess = toBigint(quoted.feeAmount) - quote.fee
      expect(toBigint(quoted.amountIn) - quote.amountIn - quote.fee, place).toBe(excess)
      expect(BigInt(quoted.crossTickNum - quote.steps), place).toBe(excess)
      if (excess > 0n) {
        expect([isExactIn, quote.isExceeded], place).toEqual([true, false])
        reached.add('a last unit that is all fee')
      }
      countStates(reached, ours, { ...drawn, amount }, quote)
    }
  }
  expect(reached.missing(REQUIRED)).toEqual([])
  expect(reached.counts()['quotes'], stringify(reached.counts())).toBeGreaterThan(POOLS * 3)
})

const REQUIRED = [
  ...[
    'a to b',
    'b to a',
    'exact input',
    'exact output',
    'several ticks',
    'more than 5 ticks',
    'a gap without liquidity',
  ],
  ...['the ticks end', 'beyond 64 bits', 'a last unit that is all fee', 'starts on a tick', 'more than 2^55 units'],
  ...['fewer than 10 units', 'no fee'],
]

function countStates(
  reached: Counter,
  pool: Q64State,
  { a2b, isExactIn, amount }: Readonly<{ a2b: boolean; isExactIn: boolean; amount: bigint }>,
  { steps, isExceeded, amountIn, amountOut, sqrtPrice }: Quote,
): void {
  const states: Readonly<Record<string, boolean>> = {
    quotes: true,
    [a2b ? 'a to b' : 'b to a']: true,
    [isExactIn ? 'exact input' : 'exact output']: true,
    'several ticks': steps > 1,
    'more than 5 ticks': steps > 5,
    'a gap without liquidity': !isExceeded && amountOut > 0n && crossesGap(pool, a2b, sqrtPrice),
    'the ticks end': isExceeded,
    'starts on a tick': sqrtPriceAtTick(pool.tick) === pool.sqrtPrice,
    'more than 2^55 units': amount > 1n << 55n || amountIn > 1n << 55n || amountOut > 1n << 55n,
    'fewer than 10 units': amountIn < 10n || amountOut < 10n,
    'no fee': pool.feeRate === 0n,
  }
  for (const [name, isReached] of Object.entries(states)) if (isReached) reached.add(name)
}

/** Whether a range without liquidity lies between the pool's price and another one. */
function crossesGap({ ticks, tick, liquidity }: Q64State, a2b: boolean, end: bigint): boolean {
  const passed = ticks.filter(({ index }) =>
    a2b ? index <= tick && sqrtPriceAtTick(index) > end : index > tick && sqrtPriceAtTick(index) < end,
  )
  let current = liquidity
  for (const { net } of a2b ? passed.toReversed() : passed) {
    current += a2b ? -net : net
    if (current === 0n) return true
  }
  return liquidity === 0n
}

const price = fc.oneof(
  fc.integer({ min: -443_636, max: 443_636 }).map(sqrtPriceAtTick),
  fc.integer({ min: -200_000, max: 200_000 }).map(sqrtPriceAtTick),
)
/** The second price is often close to the first one. */
const pricePairs = fc
  .record({ start: price, other: price, distance: magnitude(0, 40), kind: fc.nat(2) })
  .map(({ start, other, distance, kind }) => {
    const near = kind === 1 ? start + distance : start - distance
    const isInside = near >= 4_295_048_016n && near <= 79_226_673_515_401_279_992_447_579_055n
    return { start, end: kind === 0 || !isInside ? other : near }
  })

test('a step of Cetus equals that of the package', () => {
  const steps = fc.record({
    ...{ prices: pricePairs, liquidity: magnitude(0, 92), amount: magnitude(0, 63), byAmountIn: fc.boolean() },
    feeRate: fc.bigInt(0n, 200_000n),
  })
  const reached = createCounter()
  for (const draw of drawSamples(steps, 2_000)) {
    const { prices, liquidity, amount, byAmountIn, feeRate } = draw
    const a2b = prices.start >= prices.end
    const step = catchAbort(() =>
      computeCetusStep({
        ...{ sqrtPrice: prices.start, target: prices.end, liquidity, amount, feeRate, a2b, byAmountIn },
      }),
    )
    const [start, end] = [toBN(prices.start), toBN(prices.end)]
    const theirs = runPackage(() =>
      cetus.computeSwapStep(start, end, toBN(liquidity), toBN(amount), toBN(feeRate), byAmountIn),
    )
    const place = stringify({ draw, step, theirs })
    if ('abort' in step) {
      const amounts = theirs === null ? [] : [toBigint(theirs.amountIn), toBigint(theirs.amountOut)]
      expect(theirs === null || amounts.some((units) => units > U64_MAX), place).toBe(true)
      reached.add('aborts')
    } else {
      if (theirs === null) throw new Error(`the package refuses: ${place}`)
      expect(step, place).toEqual({
        ...{ amountIn: toBigint(theirs.amountIn), amountOut: toBigint(theirs.amountOut) },
        ...{ sqrtPrice: toBigint(theirs.nextSqrtPrice), fee: toBigint(theirs.feeAmount) },
      })
      const isReached = step.sqrtPrice === prices.end
      reached.add(
        `${byAmountIn ? 'in' : 'out'}, ${a2b ? 'a to b' : 'b to a'}, ${isReached ? 'reaches' : 'stops before'}`,
      )
    }
  }
  expect(Object.keys(reached.counts()).sort()).toEqual([
    ...['aborts', 'in, a to b, reaches', 'in, a to b, stops before', 'in, b to a, reaches', 'in, b to a, stops before'],
    ...['out, a to b, reaches', 'out, a to b, stops before', 'out, b to a, reaches', 'out, b to a, stops before'],
  ])
})

test('amounts of liquidity and liquidity of amounts equal those of the package', () => {
  const cases = fc.record({
    prices: pricePairs,
    liquidity: magnitude(0, 100),
    amount: magnitude(0, 63),
    isUp: fc.boolean(),
  })
  const reached = createCounter()
  for (const draw of drawSamples(cases, 1_000)) {
    const { prices, liquidity, amount, isUp } = draw
    if (prices.start === prices.end) continue
    const [start, end] = [toBN(prices.start), toBN(prices.end)]
    for (const [delta, theirs] of [
      [cetusDeltaA, cetus.getDeltaA],
      [cetusDeltaB, cetus.getDeltaB],
    ] as const) {
      const ours = catchAbort(() => delta(prices.start, prices.end, liquidity, isUp))
      const expected = runPackage(() => toBigint(theirs(start, end, toBN(liquidity), isUp)))
      if (typeof ours !== 'bigint') expect(expected === null || expected > U64_MAX, stringify(draw)).toBe(true)
      else expect(ours, stringify(draw)).toBe(expected)
      reached.add(typeof ours === 'bigint' ? 'equal' : 'beyond 64 bits')
    }
    expect(cetusLiquidityFromA(prices.start, prices.end, amount, false), stringify(draw)).toBe(
      toBigint(cetus.estimateLiquidityForCoinA(start, end, toBN(amount))),
    )
    expect(cetusLiquidityFromB(prices.start, prices.end, amount, false), stringify(draw)).toBe(
      toBigint(cetus.estimateLiquidityForCoinB(start, end, toBN(amount))),
    )
  }
  expect(reached.missing(['equal', 'beyond 64 bits'])).toEqual([])
})
