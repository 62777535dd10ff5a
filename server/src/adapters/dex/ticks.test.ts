import { describe, expect, test } from 'vitest'
import { swapExact } from '../../swap/routing/pool-kinds.ts'
import { sqrtPriceAtTick } from '../../swap/routing/pools/tick-math.ts'
import type { UniswapV3Pool } from '../../swap/routing/pools/uniswap-v3.ts'
import { afterLiquidity, afterSwap, cutTicks, readTicksOf, withTicks } from './ticks.ts'
import type { GrossTick, TickSource, TrackedPool } from './tracked-pool.ts'

const ETHER = 10n ** 18n
const WIDE = 100_000
const DUST = 3_000

type Position = Readonly<{ lower: number; upper: number; liquidity: bigint }>
const wide: Position = { lower: -WIDE, upper: WIDE, liquidity: ETHER }
/** Positions of one unit, each with two ticks of its own, around a price of one. */
const dust: readonly Position[] = Array.from({ length: DUST }, (_, n) => ({
  lower: -n - 1,
  upper: n + 1,
  liquidity: 1n,
}))

/** The pool with all its ticks, from its positions. */
function wholeOf(positions: readonly Position[], tick: number): TrackedPool & { pool: UniswapV3Pool } {
  const ticks = new Map<number, GrossTick>()
  const add = (index: number, gross: bigint, net: bigint) => {
    const one = ticks.get(index)
    ticks.set(index, { index, gross: (one?.gross ?? 0n) + gross, net: (one?.net ?? 0n) + net })
  }
  for (const { lower, upper, liquidity } of positions) {
    add(lower, liquidity, liquidity)
    add(upper, liquidity, -liquidity)
  }
  const inRange = positions.filter(({ lower, upper }) => lower <= tick && tick < upper)
  const sorted = [...ticks.values()].filter(({ gross }) => gross > 0n).sort((a, b) => a.index - b.index)
  const pool: UniswapV3Pool = {
    ...{
      kind: 'uniswap-v3',
      id: '0x1',
      address: '0x1',
      dex: 'dex',
      tokens: ['0xa', '0xb'],
      feePpm: 100,
      tickSpacing: 1,
    },
    ...{ sqrtPrice: sqrtPriceAtTick(tick), tick, liquidity: inRange.reduce((sum, one) => sum + one.liquidity, 0n) },
    ticks: sorted,
  }
  return { pool, ticks: sorted }
}

function mint(tracked: TrackedPool, positions: readonly Position[]): TrackedPool {
  let state = tracked
  for (const { lower, upper, liquidity } of positions) {
    const next = afterLiquidity(state, lower, upper, liquidity)
    if (next === 'reread') throw new Error('the pool must be read again')
    state = next
  }
  return state
}

/** The outputs of both directions, for amounts up to one that moves the price by a tenth. Null where the pool cannot pay. */
const outputs = ({ pool }: TrackedPool) =>
  [999n, ...Array.from({ length: 12 }, (_, n) => (BigInt(n + 1) * ETHER) / 240n)].flatMap((amount) =>
    [0, 1].map((tokenIn) => swapExact(pool, tokenIn, 1 - tokenIn, amount)?.amountOut ?? null),
  )

/** Every amount that the cut pool pays is what the whole one pays. */
function expectSameWherePaid(cut: TrackedPool, whole: TrackedPool): void {
  const [paid, expected] = [outputs(cut), outputs(whole)]
  expect(expected).not.toContain(null)
  expect(paid.filter((output) => output !== null).length).toBeGreaterThan(paid.length / 3)
  expect(paid).toEqual(expected.map((output, place) => (paid[place] === null ? null : output)))
}

describe('a followed pool to which thousands of positions of one unit are added', () => {
  const followed = mint(wholeOf([wide], 0), dust)

  test('D3: keeps the nearest 2000 ticks, and pays within them what it would pay with all', () => {
    expect(followed.ticks).toHaveLength(2_000)
    expect(followed.range).toEqual({ low: -1_000, high: 1_000, ticksMax: 2_000 })
    expectSameWherePaid(followed, wholeOf([wide, ...dust], 0))
  })

  test('pays nothing for an amount that would go beyond the known ticks', () => {
    // From a price of one to tick 1001: 10^18 · (1.0001^500.5 − 1) of token 1, and the fee.
    const most = BigInt(Math.floor(1e18 * (1.0001 ** 500.5 - 1)))
    expect(swapExact(followed.pool, 1, 0, most)).not.toBeNull()
    expect(swapExact(followed.pool, 1, 0, (most * 10_003n) / 10_000n)).toBeNull()
  })

  test('follows positions that end on either side of the known ticks', () => {
    const others = [
      { lower: -2_000, upper: -1_500, liquidity: 5n * ETHER },
      { lower: -2_000, upper: 500, liquidity: ETHER },
      { lower: -700, upper: 2_500, liquidity: 3n * ETHER },
    ]
    const next = mint(followed, others)
    expect(next.ticks).toHaveLength(2_000)
    expectSameWherePaid(next, wholeOf([wide, ...dust, ...others], 0))
  })

  test('is read again when an eighth of its ticks is left on one side, and not before', () => {
    const swapTo = (tick: number) => afterSwap(followed, sqrtPriceAtTick(tick), ETHER, tick)
    for (const tick of [-750, 0, 749]) expect(swapTo(tick)).not.toBe('reread')
    for (const tick of [-1_200, -752, 751, 1_200]) expect(swapTo(tick)).toBe('reread')
  })

  test('is read again when so many of the known ticks are removed', () => {
    let state: TrackedPool | 'reread' = followed
    let removed = 0
    while (state !== 'reread' && removed < DUST) state = afterLiquidity(state, -1 - removed, 1 + removed++, -1n)
    // Of the thousand ticks on each side, 249 are left.
    expect(removed).toBe(751)
  })
})

test('a pool that is cut to any number of ticks pays what it would pay with all, or nothing', () => {
  const whole = wholeOf([wide, ...dust], 0)
  for (const ticksMax of [1_400, 900, 601]) {
    const cut = cutTicks(whole, ticksMax)
    expect(cut.ticks).toHaveLength(ticksMax)
    const [paid, expected] = [outputs(cut), outputs(whole)]
    expect(paid).toEqual(expected.map((output, place) => (paid[place] === null ? null : output)))
    expect(paid).toContain(null)
  }
  expect(cutTicks(whole, 2 * DUST + 2)).toBe(whole)
  // A second cut knows no more than the first.
  expect(cutTicks(cutTicks(whole, 900), 600)).toEqual(cutTicks(whole, 600))
})

describe('reading a pool with a tick at every price', () => {
  const { pool } = wholeOf([wide], 0)
  const reading = (isSet: (word: number) => boolean) => {
    const asked: number[] = []
    const source: TickSource = {
      step: 1,
      words: async (indexes) => indexes.map((index) => (isSet(index) ? (1n << 256n) - 1n : 0n)),
      ticks: async (indexes) => {
        asked.push(...indexes)
        return indexes.map((index) => ({ index, gross: 1n, net: 0n }))
      },
    }
    return { source, asked }
  }

  test('D3: reads the nearest 2000 ticks, a thousand on each side of the price', async () => {
    const { source, asked } = reading(() => true)
    const tracked = await readTicksOf(pool, source)
    expect([asked.length, asked.at(0), asked.at(-1)]).toEqual([2_000, -999, 1_000])
    expect(tracked?.range).toEqual({ low: -999, high: 1_000, ticksMax: 2_000 })
  })

  test('reads more on one side where the other has fewer, and does not read again at the next swap', async () => {
    const { source, asked } = reading((word) => word >= 0)
    const tracked = (await readTicksOf(pool, source)) as TrackedPool
    expect([asked.length, asked.at(0), asked.at(-1)]).toEqual([2_000, 0, 1_999])
    expect(tracked.range?.low).toBeLessThanOrEqual(-60_000)
    expect(afterSwap(tracked, pool.sqrtPrice, pool.liquidity, 1)).not.toBe('reread')
  })
})

test('a partly read pool with few ticks is read again when the price comes near the end of what was read', () => {
  const { pool, ticks = [] } = wholeOf([{ ...wide, lower: -50_000, upper: 50_000 }], 0)
  const tracked = withTicks(pool, ticks, { low: -60_000, high: 60_000 })
  expect(afterSwap(tracked, sqrtPriceAtTick(39_000), ETHER, 39_000)).not.toBe('reread')
  expect(afterSwap(tracked, sqrtPriceAtTick(41_000), ETHER, 41_000)).toBe('reread')
})
