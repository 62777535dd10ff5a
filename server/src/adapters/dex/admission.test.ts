import { describe, expect, test } from 'vitest'
import type { UniswapV2Pool } from '../../swap/routing/pools/uniswap-v2.ts'
import type { UniswapV3Pool } from '../../swap/routing/pools/uniswap-v3.ts'
import type { UniswapV4Pool } from '../../swap/routing/pools/uniswap-v4.ts'
import { createDepthHistory } from '../pools/depth-history.ts'
import { type ListedTokens, valuesOf, worthOf } from '../pools/rank.ts'
import { admitAll, admitNew, admitRequested, exceedsPlaces, type PoolReading, selectPools } from './admission.ts'
import { readTicksOf } from './ticks.ts'
import type { GrossTick, TrackedPool } from './tracked-pool.ts'

const ETHER = 10n ** 18n
const WETH = '0xee'
const USDC = '0xdc'
const listedToken = (n: number) => `0xa${n}`
const connectors = new Set([WETH, USDC])
const listing: ListedTokens = {
  wrapped: WETH,
  connectors,
  listed: new Set([...connectors, ...Array.from({ length: 100 }, (_, n) => listedToken(n))]),
}
const limits = { poolsMax: 1_000, ticksMax: 60_000 }

const pair = (id: string, tokens: readonly string[], reserves: readonly [bigint, bigint], feePpm = 0): TrackedPool => ({
  pool: { kind: 'uniswap-v2', id, address: id, dex: 'dex', tokens, reserves, feePpm } satisfies UniswapV2Pool,
})
/** A position from `lower` to `upper` at a price of one: `tick` is 0. */
const position = (id: string, tokens: readonly string[], liquidity: bigint, lower: number, upper: number) => {
  const ticks = [
    { index: lower, net: liquidity, gross: liquidity },
    { index: upper, net: -liquidity, gross: liquidity },
  ]
  const state = { id, address: id, dex: 'dex', tokens, sqrtPrice: 2n ** 96n, tick: 0, liquidity, tickSpacing: 1, ticks }
  return { pool: { kind: 'uniswap-v3', ...state, feePpm: 0 } satisfies UniswapV3Pool, ticks }
}
/** A wide position, and as many of one unit, each with two ticks of its own. */
const loaded = (id: string, tokens: readonly string[], liquidity: bigint, dust: number) => {
  const { pool, ticks } = position(id, tokens, liquidity, -100_000, 100_000)
  const [low, high] = ticks as [GrossTick, GrossTick]
  const places = Array.from({ length: dust }, (_, n) => n + 1)
  const all = [
    low,
    ...places.map((n) => ({ index: -n, net: 1n, gross: 1n })).reverse(),
    ...places.map((n) => ({ index: n, net: -1n, gross: 1n })),
    high,
  ]
  return { pool: { ...pool, liquidity: liquidity + BigInt(dust), ticks: all }, ticks: all }
}
/** A position within a percent of a price of one. It holds a 200th of `liquidity` on each side. */
const ofFee = (id: string, tokens: readonly string[], liquidity: bigint, lpFeePpm: number): TrackedPool => {
  const { pool, ticks } = position(id, tokens, liquidity, -100, 100)
  const { feePpm: _, ...rest } = pool
  return { pool: { ...rest, kind: 'uniswap-v4', lpFeePpm, protocolFeePpm: [0, 0] } satisfies UniswapV4Pool, ticks }
}

/** 900 pools of 100 listed tokens, each of 1 to 10 WETH, and as deep with USDC at 2000 USDC a WETH. */
const honest: readonly TrackedPool[] = Array.from({ length: 900 }, (_, n) => {
  const wei = BigInt(1 + (n % 10)) * ETHER
  const token = listedToken(n % 100)
  if (n === 0) return pair('honest 0', [WETH, USDC], [1_000n * ETHER, 2_000_000n * 10n ** 6n])
  return n % 3 === 0
    ? pair(`honest ${n}`, [USDC, token], [(wei * 2_000n) / 10n ** 12n, wei * 50n])
    : pair(`honest ${n}`, [WETH, token], [wei, wei * 50n])
})
const ids = (tracked: readonly TrackedPool[]) => tracked.map(({ pool }) => pool.id)

describe('places of pools', () => {
  test('D3: are not taken by thousands of pools of invented value', () => {
    const evil = (n: number) => `0xevil${n}`
    const hostile = [
      // A millionth of a WETH against a thousand units gives the token a value of 10^9 wei a unit.
      pair('seed', [WETH, evil(0)], [ETHER / 1_000_000n, 1_000n]),
      ...Array.from({ length: 4_000 }, (_, n) => pair(`invented ${n}`, [evil(0), evil(n)], [10n ** 30n, 10n ** 30n])),
      // The same with a listed token: a deeper pool has another price.
      pair('seed of a listed token', [WETH, listedToken(7)], [ETHER / 1_000_000n, 1_000n]),
      ...Array.from({ length: 1_000 }, (_, n) =>
        pair(`listed ${n}`, [listedToken(7), listedToken(n % 100)], [10n ** 9n, 10n ** 9n]),
      ),
    ]
    const selected = ids(selectPools([...hostile, ...honest], listing, limits))
    expect(selected.slice(0, 900).sort()).toEqual(ids(honest).sort())
    // What has an unlisted token stays within its own places.
    expect(selected.slice(900).length).toBeLessThanOrEqual(100)
  })

  test('are not taken by thousands of pools of one listed token, whose backing counts in each', () => {
    // The issuer of two listed tokens mints them, and backs each once with 50 WETH: more than lies in any honest pool.
    const [own, other] = [listedToken(98), listedToken(99)]
    const minted = [
      pair('backing of one', [WETH, own], [50n * ETHER, 50n * ETHER]),
      pair('backing of the other', [WETH, other], [50n * ETHER, 50n * ETHER]),
      ...Array.from({ length: 3_000 }, (_, n) => pair(`minted ${n}`, [own, other], [10n ** 30n, 10n ** 30n])),
    ]
    const others = honest.filter(({ pool }) => !pool.tokens.includes(own) && !pool.tokens.includes(other))
    const selected = ids(selectPools([...minted, ...others], listing, limits))
    expect(ids(others).filter((id) => !selected.includes(id))).toEqual([])
    expect(selected.filter((id) => id.startsWith('minted')).length).toBe(15)
    // A connector token has any number of pools.
    const many = Array.from({ length: 800 }, (_, n) => pair(`c ${n}`, [WETH, USDC], [ETHER, 2_000n * 10n ** 6n]))
    expect(selectPools(many, listing, limits)).toHaveLength(800)
  })

  test('belong first to the deepest pool of each listed token with a connector token', () => {
    const rich = Array.from({ length: 2_000 }, (_, n) =>
      pair(`rich ${n}`, [WETH, USDC], [9n * ETHER, 18_000n * 10n ** 6n]),
    )
    const poor = pair('poor', [WETH, listedToken(99)], [ETHER / 1_000n, ETHER])
    const poorer = pair('poorer', [WETH, listedToken(99)], [ETHER / 2_000n, ETHER / 2n])
    const selected = ids(selectPools([...rich, poorer, poor], listing, limits))
    expect(selected).toContain('poor')
    expect(selected).not.toContain('poorer')
  })

  test.each(['a', 'z'])(
    'belong to the deep pool of a token, whatever a dust pool with id %s says of its value',
    (id) => {
      const rich = Array.from({ length: 2_000 }, (_, n) =>
        pair(`rich ${n}`, [WETH, USDC], [9n * ETHER, 18_000n * 10n ** 6n]),
      )
      // The token is deep with USDC alone. Fewer pools lie between the wrapped coin and it in the dust pool.
      const deep = pair('m', [USDC, listedToken(99)], [2_000n * 10n ** 6n, ETHER])
      const dust = pair(id, [WETH, listedToken(99)], [ETHER / 1_000_000n, ETHER / 1_000_000n])
      const selected = ids(selectPools([...rich, dust, deep], listing, limits))
      expect(selected).toContain('m')
      const values = valuesOf(
        [...rich, dust, deep].map(({ pool }) => pool),
        listing,
      )
      // A constant product counts with a hundredth of its reserves, here of one WETH.
      expect(worthOf(deep.pool, values, listing)).toBeGreaterThan(0.0099 * Number(ETHER))
    },
  )

  describe('beside ticks that cost no more than gas', () => {
    const ticksOf = (tracked: readonly TrackedPool[]) => tracked.map(({ ticks = [] }) => ticks.length)
    const sum = (counts: readonly number[]) => counts.reduce((a, b) => a + b, 0)
    // 540 pools of 60 listed tokens, and 100 pools with a hundred ticks each.
    const pairs = honest.filter((_, n) => n % 100 < 60)
    const withTicks = Array.from({ length: 100 }, (_, n) => loaded(`ticks ${n}`, [USDC, WETH], ETHER, 49))
    const others = [...pairs, ...withTicks]

    test.each([
      ['the deepest pool', [loaded('loaded', [USDC, WETH], 10n ** 9n * ETHER, 26_000)], 44_000],
      [
        'pools of 27 tokens that nothing else trades',
        Array.from({ length: 27 }, (_, n) => loaded(`loaded ${n}`, [WETH, listedToken(60 + n)], 1_000n, 999)),
        1_629,
      ],
    ])('D3: are not taken by positions of dust in %s', (_, hostile, kept) => {
      const selected = selectPools([...hostile, ...others], listing, limits)
      expect(ids(selected).sort()).toEqual(ids([...hostile, ...others]).sort())
      // The pools with the most ticks lose them: of 54 000, the others keep their 10 000.
      const bySide = Map.groupBy(selected, ({ pool }) => pool.id.startsWith('loaded'))
      expect(new Set(ticksOf(bySide.get(true) ?? []))).toEqual(new Set([kept]))
      expect(sum(ticksOf(bySide.get(false) ?? []))).toBe(10_000)
      expect(exceedsPlaces(selected, listing, limits)).toBe(false)
    })
  })

  test.each([1_000_000, 990_000, 20_000, 19_000])(
    'D3: of a token are not taken by sixteen pools with a fee of %i millionths, at which nothing is at risk',
    (feePpm) => {
      const token = listedToken(99)
      // A hundredth of 100 WETH, less the fee, against sixteen times 1.01 WETH beside the price.
      const deep = pair('deep', [WETH, token], [100n * ETHER, 100n * ETHER], 3_000)
      const idle = Array.from({ length: 16 }, (_, n) => ofFee(`idle ${n}`, [WETH, token], 203n * ETHER, feePpm))
      const selected = ids(selectPools([...idle, deep], listing, limits))
      expect(selected[0]).toBe('deep')
      expect(selected).toHaveLength(16)
    },
  )

  test('of unlisted tokens are a tenth, and exceeded apart from the others', () => {
    const unlisted = Array.from({ length: 111 }, (_, n) => pair(`unlisted ${n}`, [WETH, `0xf${n}`], [ETHER, ETHER]))
    expect(exceedsPlaces([...honest, ...unlisted.slice(1)], listing, limits)).toBe(false)
    expect(exceedsPlaces([...honest, ...unlisted], listing, limits)).toBe(true)
    expect(selectPools([...honest, ...unlisted], listing, limits).length).toBe(1_000)
  })
})

describe('the worth of a pool', () => {
  test('D3: is bounded by what lies against its tokens', () => {
    const thin = pair('thin', [WETH, listedToken(1)], [ETHER / 100n, 1n])
    const invented = pair('invented', [listedToken(1), listedToken(2)], [10n ** 40n, 10n ** 40n])
    const values = valuesOf([thin.pool, invented.pool], listing)
    // One percent of the WETH moves the price by two percent.
    expect(values.get(listedToken(1))?.backing).toBeCloseTo(Number(ETHER / 10_000n))
    expect(worthOf(invented.pool, values, listing)).toBeCloseTo(Number(ETHER / 10_000n))
  })

  test('D3: is less by the fee, in parts of the two percent', () => {
    const worthAt = (feePpm: number) => {
      const { pool } = pair('pool', [WETH, USDC], [ETHER, ETHER], feePpm)
      return worthOf(pool, valuesOf([pool], listing), listing) / Number(ETHER)
    }
    expect(worthAt(0)).toBeCloseTo(0.01, 9)
    expect(worthAt(3_000)).toBeCloseTo(0.0085, 9)
    expect(worthAt(10_000)).toBeCloseTo(0.005, 9)
    // Behind all others, and more than nothing: some tokens have no other pool.
    for (const feePpm of [20_000, 300_000, 1_000_000]) expect(worthAt(feePpm)).toBeCloseTo(1e-8, 12)
  })

  test('D3: does not come from a deeper pool at a fee that leaves nothing to trade', () => {
    const market = pair('market', [WETH, listedToken(1)], [100n * ETHER, 100n * ETHER], 3_000)
    const { pool } = ofFee('priced', [WETH, listedToken(1)], 10_000n * ETHER, 990_000) as { pool: UniswapV4Pool }
    // Token 1 at a quarter of the market's price, with 25 times as much beside it.
    const ticks = [
      { index: 13_763, net: pool.liquidity },
      { index: 13_963, net: -pool.liquidity },
    ]
    const priced = { ...pool, sqrtPrice: 2n ** 97n, tick: 13_863, ticks }
    expect(valuesOf([priced, market.pool], listing).get(listedToken(1))?.wei).toBeCloseTo(1, 9)
    // At a low fee it is the better source.
    const traded = { ...priced, lpFeePpm: 500 }
    expect(valuesOf([traded, market.pool], listing).get(listedToken(1))?.wei).toBeCloseTo(0.25, 9)
  })

  test('does not come from unlisted tokens', () => {
    const seed = pair('seed', [WETH, '0xevil'], [ETHER, 1n])
    const invented = pair('invented', ['0xevil', '0xevil2'], [10n ** 40n, 10n ** 40n])
    const bridge = pair('bridge', ['0xevil', listedToken(3)], [10n ** 40n, 10n ** 40n])
    const values = valuesOf([seed.pool, invented.pool, bridge.pool], listing)
    expect([...values.keys()]).toEqual([WETH])
    expect(worthOf(invented.pool, values, listing)).toBe(0)
    expect(worthOf(bridge.pool, values, listing)).toBe(0)
    // An unlisted token counts at the pool's own price.
    expect(worthOf(seed.pool, values, listing)).toBeCloseTo(Number(ETHER / 100n))
  })

  test('D3: counts liquidity only as far as it reaches from the price', () => {
    const values = new Map([
      [WETH, { wei: 1, backing: Number.POSITIVE_INFINITY }],
      [USDC, { wei: 1, backing: Number.POSITIVE_INFINITY }],
    ])
    // All of it is USDC, because the price stands at the lower end: the pool has no WETH to pay.
    const oneSided = position('one-sided', [USDC, WETH], 10n ** 30n, 0, 1)
    expect(worthOf(oneSided.pool, values, listing)).toBe(0)
    // And at the upper end, where a 10^12th of the price is left, it has next to no USDC.
    const sqrtPrice = BigInt(Math.round((1.0001 ** 0.5 - 1e-12) * 2 ** 96))
    const atUpperEnd = { ...oneSided.pool, liquidity: ETHER, sqrtPrice }
    expect(worthOf(atUpperEnd, values, listing)).toBeLessThan(2_000_000)
    // 10^18 · (1 − 1.0001^(−1/2)) is what one tick of liquidity 10^18 holds of token 0.
    const narrow = position('narrow', [USDC, WETH], ETHER, -1, 1)
    expect(worthOf(narrow.pool, values, listing) / 49_996_250_312_480).toBeCloseTo(1, 6)
    // Within a percent of the square root of the price: 10^18 · (1 − 1 ÷ 1.01).
    const wide = position('wide', [USDC, WETH], ETHER, -10_000, 10_000)
    expect(worthOf(wide.pool, values, listing) / 9_900_990_099_009_900).toBeCloseTo(1, 6)
  })
})

describe('reading pools', () => {
  /** Pools of a kind whose base state is all there is. */
  const reading = { readContext: {}, at: '0xb', dexes: new Map(), listing } as unknown as PoolReading

  test('of a full read skips unlisted tokens, and all but a few pools without liquidity', async () => {
    const empty = Array.from({ length: 100 }, (_, n) => pair(`empty ${n}`, [WETH, listedToken(n)], [0n, 0n]))
    const unlisted = pair('unlisted', [WETH, '0xevil'], [ETHER, ETHER])
    const admitted = ids(await admitAll(reading, [...empty, unlisted, ...honest.slice(0, 50)], limits))
    expect(admitted.filter((id) => id.startsWith('honest')).length).toBe(50)
    expect(admitted.filter((id) => id.startsWith('empty')).length).toBe(32)
    expect(admitted).not.toContain('unlisted')
  })

  test('of a block takes the most valuable new ones, and none without liquidity', async () => {
    const dust = Array.from({ length: 500 }, (_, n) => pair(`dust ${n}`, [WETH, USDC], [10n, 10n]))
    const empty = pair('empty', [WETH, USDC], [0n, 0n])
    const admitted = ids(await admitNew(reading, [...dust, empty, ...honest.slice(0, 20)], []))
    expect(admitted.length).toBe(32)
    expect(admitted.slice(0, 20).sort()).toEqual(ids(honest.slice(0, 20)).sort())
  })

  test('of a requested token takes those with a high fee, too', async () => {
    const only = ofFee('only', [WETH, listedToken(5)], ETHER, 50_000)
    expect(ids(await admitRequested(reading, [only], []))).toEqual(['only'])
  })

  test('of a requested unlisted token takes sixteen', async () => {
    const pools = Array.from({ length: 40 }, (_, n) => pair(`${n}`, [WETH, '0xevil'], [BigInt(n) * ETHER, ETHER]))
    const admitted = ids(await admitRequested(reading, pools, []))
    expect(admitted).toEqual(Array.from({ length: 16 }, (_, n) => `${39 - n}`))
  })

  test('D3: of a block with 100 new pools takes two words of each, and 32 pools whole', async () => {
    const bases = Array.from({ length: 100 }, (_, n) => position(`${n}`, [WETH, USDC], ETHER, -10, 10))
    let words = 0
    const reader = {
      read: async (_: string, calls: readonly unknown[]) => {
        words += calls.length
        return calls.map(() => `0x${'0'.repeat(64)}`)
      },
    }
    const dexes = new Map([['dex', { name: 'dex', kind: 'uniswap-v3' }]])
    const concentrated = { ...reading, readContext: { reader }, dexes } as unknown as PoolReading
    expect(await admitNew(concentrated, bases, [])).toHaveLength(32)
    expect(words).toBe(100 * 2 + 32 * 470)
  })

  test('D3: for their depth takes three words where the whole bitmap has hundreds', async () => {
    const { pool } = position('new', [WETH, USDC], ETHER, -10, 10)
    const words: number[] = []
    const source = {
      step: 1,
      words: async (indexes: readonly number[]) => {
        words.push(...indexes)
        return indexes.map(() => 0n)
      },
      ticks: async () => [],
    }
    await readTicksOf(pool, source, 200)
    expect(words).toEqual([-1, 0])
    words.length = 0
    await readTicksOf(pool, source)
    expect(words.length).toBe(470)
  })
})

test('remembers the greatest depth of the last 24 hours', () => {
  const hourMs = 3_600_000
  const history = createDepthHistory()
  history.record(100, 0)
  history.record(40, 10 * hourMs)
  expect(history.maximum(23 * hourMs)).toBe(100)
  expect(history.maximum(24 * hourMs)).toBe(40)
  const restored = createDepthHistory()
  restored.restore(history.list())
  expect(restored.maximum(24 * hourMs)).toBe(40)
})
