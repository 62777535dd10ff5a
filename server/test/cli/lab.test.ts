import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Json } from '../../../test/support/until.ts'
import { readOwnVectors, readPublicVectors } from '../../../test/support/vectors.ts'
import { type Output, startCommands } from './commands.ts'

const folder = mkdtempSync(join(tmpdir(), 'swapyard-lab-'))
afterAll(() => rmSync(folder, { recursive: true }))

const commands = startCommands()
afterAll(() => commands.stop())

function runLab(command: 'pools' | 'route', content: unknown, ...args: readonly string[]): Promise<Output> {
  const file = join(folder, 'market.json')
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return commands.run(['lab', command, file, ...args], {})
}

const parseLines = ({ stdout }: Output) =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

const createPool = (token0: number | string, token1: number | string, reserve0: string, reserve1: string) => ({
  ...{ token0, token1, reserve0, reserve1, feePpm: 3000 },
})
const createCase = (pools: readonly object[], amountIn: string, tokenIn: number | string = 0) => ({
  ...{ pools, tokenIn, tokenOut: 1, amountIn },
})

describe('lab route', () => {
  test('prints a line for each case, with output 0 without a route or for too small an amount', async () => {
    const deep = createPool(0, 1, '1000000', '2000000')
    const result = await runLab('route', {
      cases: [
        createCase([], '1000'),
        createCase([createPool(0, 2, '1000000', '1000000'), createPool(1, 3, '1000000', '1000000')], '1000'),
        createCase([createPool(0, 1, '0', '1000000')], '1000'),
        createCase([createPool(0, 1, '1000000', '0')], '1000'),
        createCase([createPool(1, 0, '1000000', '2000000')], '1'),
        createCase([deep], '0'),
        createCase([deep], '1000', 1),
        createCase([deep], `1${'0'.repeat(40)}`),
        // 99 700 000 · 2 000 000 ÷ (10¹² + 99 700 000), rounded down.
        createCase([createPool(1, 1, '5', '5'), deep], '100'),
        createCase([createPool('0xa', 1, '2000000', '1000000')], '1000', '0xa'),
      ],
    })
    expect(result.stderr).toBe('')
    const noRoute = { out: '0', net: '0', flow: [] }
    const [, , , , , , , exceedingCase] = parseLines(result)
    // Reserves of a pair are uint112. A smaller amount has a route.
    expect(exceedingCase.reason).toMatch(
      /^10{40} exceeds what the pools can take \(a reserve is at most 5192296858534827628530496329220095\); /,
    )
    const withoutTime = parseLines(result).map(({ micros, bound, ...rest }) => {
      expect(micros).toBeGreaterThanOrEqual(0)
      expect(Number(bound)).toBeGreaterThanOrEqual(Number(rest.net))
      return rest
    })
    expect(withoutTime).toEqual([
      ...Array.from({ length: 7 }, (_, index) => ({ case: index, ...noRoute })),
      { case: 7, ...noRoute, reason: exceedingCase.reason },
      {
        case: 8,
        out: '199',
        net: '199',
        flow: [{ pool: 1, tokenIn: 0, tokenOut: 1, amountIn: '100', amountOut: '199' }],
      },
      {
        case: 9,
        out: '498',
        net: '498',
        flow: [{ pool: 0, tokenIn: '0xa', tokenOut: 1, amountIn: '1000', amountOut: '498' }],
      },
    ])
  })

  test('bounds a case by the reserves of the target where prices prove nothing, and continues with the next', async () => {
    // Prices around this cycle multiply without end. A search over random markets found it.
    const pools = [
      { ...createPool(2, 5, '16100000003', '94500000007'), feePpm: 10_000 },
      { ...createPool(0, 2, '16200000007', '10300000006'), feePpm: 300_000 },
      { ...createPool(1, 5, '42400000008', '4000000002'), feePpm: 0 },
      { ...createPool(5, 2, '60500000003', '200000004'), feePpm: 0 },
    ]
    const one = { pools, tokenIn: 0, tokenOut: 1, amountIn: '1', maxHops: 7 }
    const result = await runLab('route', { cases: [one, { ...one, amountIn: '0' }] })
    expect(result.stderr).toBe('')
    expect(parseLines(result).map(({ out, bound }) => [out, bound])).toEqual([
      ['0', '42400000008'],
      ['0', '0'],
    ])
  })

  test('routes over a named market, net of the cost of swaps, with a limit of hops', async () => {
    const E18 = '000000000000000000'
    const pool = (token0: number, token1: number, reserve0: string, reserve1 = reserve0) =>
      createPool(token0, token1, reserve0 + E18, reserve1 + E18)
    // The path over token 2 pays more than the direct pool, with two swaps instead of one.
    const markets = [{ pools: [] }, { pools: [pool(0, 1, '1000', '900'), pool(0, 2, '1000'), pool(2, 1, '1000')] }]
    const trade = { market: 1, tokenIn: 0, tokenOut: 1, amountIn: `1${E18}` }
    const result = await runLab(
      'route',
      {
        markets,
        cases: [trade, { ...trade, maxHops: 1 }, { ...trade, swapCost: `1${E18}` }, { ...trade, market: 0 }],
      },
      ...['--repeat', '3'],
    )
    expect(result.stderr).toBe('')
    const [free, direct, costly, empty] = parseLines(result)
    // By the formula of UniswapV2Library, which rounds down in each pool.
    expect(free).toMatchObject({ case: 0, out: '992033851673014362', net: '992033851673014362' })
    expect(direct).toMatchObject({ case: 1, out: '896406282935912894', flow: [{ pool: 0 }] })
    expect(costly).toMatchObject({ case: 2, flow: [{ pool: 0 }] })
    expect(BigInt(costly.net)).toBe(BigInt(costly.out) - 10n ** 18n)
    for (const { net, bound } of [free, direct, costly]) expect(BigInt(bound)).toBeGreaterThanOrEqual(BigInt(net))
    // Both paths share the amount where that pays; here nothing pays more.
    expect(Number(free.net) / Number(free.bound)).toBeCloseTo(1, 9)
    expect(empty).toMatchObject({ case: 3, out: '0', net: '0', bound: '0', flow: [] })
  })

  test('counts swapCost per swap, limits the hops of each case, and repeats the search of a market', async () => {
    const E18 = '000000000000000000'
    const pool = (token0: number, token1: number) => createPool(token0, token1, `1000${E18}`, `1000${E18}`)
    // A direct pool, a path of two hops and one of five, all alike.
    const links = [
      [0, 1],
      [0, 2],
      [2, 1],
      [0, 3],
      [3, 4],
      [4, 5],
      [5, 6],
      [6, 1],
    ] as const
    const markets = [{ pools: [pool(0, 1)] }, { pools: links.map(([from, to]) => pool(from, to)) }]
    const trade = { market: 1, tokenIn: 0, tokenOut: 1, amountIn: `500${E18}` }
    const cases = [
      ...[{ ...trade, maxHops: 1 }, { ...trade, maxHops: 2 }, trade, { ...trade, maxHops: 5 }],
      ...[
        { ...trade, swapCost: `1${E18}` },
        { ...trade, swapCost: `200${E18}` },
        { ...trade, market: 0 },
      ],
    ]
    const once = await runLab('route', { markets, cases })
    const repeated = await runLab('route', { markets, cases }, '--repeat', '5')
    expect(once.stderr + repeated.stderr).toBe('')
    const withoutTime = (result: Output) => parseLines(result).map(({ micros: _, ...rest }) => rest)
    expect(withoutTime(repeated)).toEqual(withoutTime(once))
    const lines = parseLines(repeated)
    for (const [index, line] of lines.entries()) {
      expect(Object.keys(line)).toEqual(['case', 'out', 'net', 'bound', 'micros', 'flow'])
      expect(line.case).toBe(index)
      expect(line.micros).toBeGreaterThan(0)
      // What reaches the target, and what it cost.
      const paid = line.flow.filter(({ tokenOut }: Json) => tokenOut === 1)
      expect(BigInt(line.out)).toBe(paid.reduce((sum: bigint, swap: Json) => sum + BigInt(swap.amountOut), 0n))
      const { swapCost = '0', maxHops = 4 } = cases[index] as { swapCost?: string; maxHops?: number }
      expect(BigInt(line.net)).toBe(BigInt(line.out) - BigInt(swapCost) * BigInt(line.flow.length))
      expect(BigInt(line.bound)).toBeGreaterThanOrEqual(BigInt(line.net))
      expect(line.flow.some((swap: Json) => swap.pool === 7)).toBe(maxHops === 5)
    }
    const [direct, two, four, five, cheap, costly, other] = lines
    // By the formula of UniswapV2Library: 500 · 0.997 · 1000 ÷ (1000 + 500 · 0.997).
    expect(direct.out).toBe('332665999332665999332')
    expect(other.out).toBe(direct.out)
    expect(four.out).toBe(two.out)
    expect(Number(two.out)).toBeGreaterThan(Number(direct.out))
    expect(Number(five.out)).toBeGreaterThan(Number(four.out))
    // Without a limit of hops the bound is reached; it is the same bound for each limit.
    expect(Number(five.net) / Number(five.bound)).toBeCloseTo(1, 9)
    expect(four.bound).toBe(two.bound)
    expect([cheap.flow.length, costly.flow.length]).toEqual([3, 1])
    expect(Number(cheap.bound)).toBeLessThan(Number(four.bound))
  })

  test.each(['0', '-1', '1.5', 'x'])('rejects --repeat %s in one sentence', async (times) => {
    const result = await runLab('route', { cases: [] }, `--repeat=${times}`)
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.stderr).toContain('--repeat must be a whole number from 1 to 999999')
    expect(result.stderr.trim().split('\n')).toHaveLength(1)
  })

  test.each([
    [{ cases: [{ ...createCase([], '1'), market: 0 }] }, 'cases[0].market must be a whole number from 0 to -1'],
    [{ cases: [{ ...createCase([], '1'), maxHops: 0 }] }, 'cases[0].maxHops must be a whole number from 1 to 100'],
    [{ cases: [{ ...createCase([], '1'), swapCost: '-1' }] }, 'cases[0].swapCost must be from 0'],
    [{ markets: [{}], cases: [] }, 'markets[0].pools is not a list'],
    ['{}', 'has no list "cases"'],
    ['[', 'is not a JSON file'],
    [{ cases: [createCase([], '1'), null] }, 'cases[1] is not an object'],
    [{ cases: [{ ...createCase([], '1'), pools: {} }] }, 'cases[0].pools is not a list'],
    [{ cases: [createCase([createPool(0, 1, '-1', '5')], '1')] }, 'cases[0].pools[0].reserve0 must be from 0'],
    [
      { cases: [createCase([createPool(0, 1, '0x10', '5')], '1')] },
      'cases[0].pools[0].reserve0 must be a whole number as text',
    ],
    [
      { cases: [createCase([createPool(0, 1, '5', '5'), createPool(0, 1, `1${'0'.repeat(60)}`, '5')], '1')] },
      'cases[0].pools[1].reserve0 exceeds the reserve of a pair, which is from 0 to 5192296858534827628530496329220095',
    ],
    [
      { cases: [createCase([createPool(0, 1, '5', String(2n ** 112n))], '1')] },
      'cases[0].pools[0].reserve1 exceeds the reserve of a pair',
    ],
    [
      { cases: [createCase([{ ...createPool(0, 1, '5', '5'), feePpm: 1_000_001 }], '1')] },
      'cases[0].pools[0].feePpm must be',
    ],
    [
      { cases: [createCase([{ ...createPool(0, 1, '5', '5'), token1: null }], '1')] },
      'cases[0].pools[0].token1 must name a token',
    ],
    [{ cases: [createCase([], '1.5')] }, 'cases[0].amountIn must be a whole number as text'],
    [{ cases: [createCase([], '-5')] }, 'cases[0].amountIn must be from 0'],
    [{ cases: [{ ...createCase([], '5'), amountIn: 1e21 }] }, 'cases[0].amountIn must be a whole number as text'],
  ])('rejects %j in one sentence', async (content, sentence) => {
    const result = await runLab('route', content)
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.stderr).toContain(sentence)
    expect(result.stderr.trim().split('\n')).toHaveLength(1)
  })
})

describe('lab pools', () => {
  const { pools } = readOwnVectors<Json>('univ3_bytecode_fuzz.json')
  const [first] = pools

  test('computes the same as the contract, also for pools without a tick and swaps without a limit', async () => {
    const { tick: _tick, swaps, ...rest } = first
    const swap = { zeroForOne: true, amountSpecified: '1' }
    const limit = (price: string) => ({ ...swap, sqrtPriceLimitX96: price })
    const result = await runLab('pools', {
      pools: [
        first,
        { ...rest, swaps: [swap, limit('4295128740'), limit('4295128739'), { ...limit('1'), amountSpecified: '0' }] },
      ],
    })
    expect(result.stderr).toBe('')
    const printed = parseLines(result)
    const expected = swaps.map(({ expect: expectation }: { expect: object }, index: number) => ({
      pool: 0,
      swap: index,
      ...expectation,
    }))
    expect(printed.slice(0, swaps.length)).toEqual(expected)
    const [unlimited, farLimit, ...reverted] = printed.slice(swaps.length)
    expect({ ...farLimit, swap: 0 }).toEqual(unlimited)
    // As UniswapV3Pool.swap reverts.
    expect(reverted).toEqual([
      { pool: 1, swap: 2, error: 'SPL' },
      { pool: 1, swap: 3, error: 'AS' },
    ])
  })

  test('reverts as the contract does if the price is at its limit in the direction of the swap', async () => {
    const swap = { amountSpecified: '1000' }
    const [down, up] = [
      { ...swap, zeroForOne: true },
      { ...swap, zeroForOne: false },
    ]
    const positions = [{ tickLower: -887270, tickUpper: 887270, liquidity: '1000000' }]
    const createPoolAt = (sqrtPriceX96: string, swaps: readonly object[]) => ({
      fee: 500,
      tickSpacing: 10,
      sqrtPriceX96,
      positions,
      swaps,
    })
    const result = await runLab('pools', {
      pools: [
        createPoolAt('4295128739', [down, { ...down, sqrtPriceLimitX96: '4295128740' }, up]),
        createPoolAt('4295128740', [down]),
        createPoolAt('1461446703485210103287273052203988822378723970341', [up, down]),
      ],
    })
    expect(result.stderr).toBe('')
    expect(parseLines(result)).toEqual([
      { pool: 0, swap: 0, error: 'SPL' },
      { pool: 0, swap: 1, error: 'SPL' },
      expect.objectContaining({ pool: 0, swap: 2, amount1: '1000' }),
      { pool: 1, swap: 0, error: 'SPL' },
      { pool: 2, swap: 0, error: 'SPL' },
      expect.objectContaining({ pool: 2, swap: 1, amount0: '1000' }),
    ])
  })

  const wide = { tickLower: -100, tickUpper: 100, liquidity: String(2n ** 127n) }
  test.each([
    [{ ...first, liquidity: '5' }, 'pools[0].liquidity is not the sum of the positions in range, which is 23058'],
    [
      { ...first, liquidity: String(2n ** 128n) },
      'pools[0].liquidity must be from 0 to 3402823669209384634633746074317',
    ],
    [
      { ...first, liquidity: undefined, positions: [wide, { ...wide, tickLower: 50 }] },
      'pools[0].positions add up to 340282366920938463463374607431768211456 from tick 50 on; the maximum is 3402823669209384634633746',
    ],
    [{ ...first, fee: '500' }, 'pools[0].fee must be a whole number'],
    [{ ...first, tickSpacing: 0 }, 'pools[0].tickSpacing must be a whole number'],
    [{ ...first, sqrtPriceX96: '0' }, 'pools[0].sqrtPriceX96 must be from'],
    [{ ...first, tick: 0 }, 'pools[0].tick is not the tick of the price, which is -949'],
    [
      { ...first, positions: [{ tickLower: 5, tickUpper: 10, liquidity: '1' }] },
      'positions[0].tickLower is not a multiple',
    ],
    [
      { ...first, swaps: [{ zeroForOne: 'yes', amountSpecified: '1' }] },
      'pools[0].swaps[0].zeroForOne must be true or',
    ],
    [{ ...first, swaps: undefined }, 'pools[0].swaps is not a list'],
  ])('rejects an invalid pool in one sentence (%#)', async (content, sentence) => {
    const result = await runLab('pools', { pools: [content] })
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.stderr).toContain(sentence)
    expect(result.stderr.trim().split('\n')).toHaveLength(1)
  })
})

/** Members of a case that are no results. The results are not in the file that the command reads. */
const solanaInputs = new Set([
  ...['n', 'instruction', 'mode', 'kind', 'direction', 'inputIs', 'swapForY', 'zeroForOne', 'isBaseInput', 'note'],
  ...['amount', 'otherAmountThreshold', 'sqrtPriceLimitX64', 'amountIn', 'minimumAmountOut', 'amountOut'],
  ...['maximumAmountIn', 'maxAmountIn', 'baseAmountOut', 'maxQuoteAmountIn', 'baseAmountIn', 'minQuoteAmountOut'],
  ...['spendableQuoteIn', 'minBaseAmountOut', 'activeId', 'maxPriceImpactBps', 'unixTimestamp', 'slot', 'epoch'],
  ...['binArraysGiven', 'tickArraysGiven', 'withoutBitmapExtension', 'withHostFeeAccount', 'withReferral', 'traderHas'],
])
const inputsOf = (one: Json) => Object.fromEntries(Object.entries(one).filter(([name]) => solanaInputs.has(name)))
/** Of each file, so that the test is quick. The other pools are compared beside the maths. */
const POOLS_MAX = 5

describe.each([
  'solana_raydium_cpmm.json',
  'solana_raydium_clmm.json',
  'solana_raydium_amm_v4.json',
  'solana_meteora_dlmm.json',
  'solana_meteora_dlmm_dumps.json',
  'solana_meteora_damm_v2.json',
  'solana_pumpswap.json',
])('lab pools with %s', (file) => {
  const recorded = readPublicVectors<Json>(file)

  test.skipIf(recorded === null)(
    'prints what each trader paid and received, and the errors of the program',
    async () => {
      const pools = recorded.pools.slice(0, POOLS_MAX)
      const result = await runLab('pools', {
        ...recorded,
        pools: pools.map((pool: Json) => ({ ...pool, cases: pool.cases.map(inputsOf) })),
      })
      expect(result.stderr).toBe('')
      const expected = pools.flatMap(({ cases }: Json, pool: number) =>
        cases.map((one: Json) => ({
          ...{ pool, n: one.n, ...amountsOf(one) },
          error: one.error === undefined ? null : (one.error.code ?? one.error.text),
        })),
      )
      expect(expected.length).toBeGreaterThan(100)
      expect(parseLines(result)).toEqual(expected)
    },
  )

  function amountsOf(one: Json) {
    if (one.error !== undefined) return { paid: '0', received: '0' }
    const { instruction, userPaid, userReceived, userBase, userQuote } = one
    if (userBase === undefined) return { paid: userPaid ?? one.in, received: userReceived ?? one.out }
    const [paid, received] = instruction === 'sell' ? [userBase, userQuote] : [userQuote, userBase]
    return { paid: String(-BigInt(paid)), received }
  }
})

test('lab pools takes the slot of a Meteora DLMM case from its member `slot`, else from its note', async ({ skip }) => {
  const recorded = readPublicVectors<Json>('solana_meteora_dlmm_dumps.json')
  if (recorded === null) return skip()
  const [pool] = recorded.pools
  const { note, ...early }: Json = inputsOf(pool.cases[0])
  const [, slot] = note.split(' ')
  const rows = [{ note }, { slot }, { slot: Number(slot) }, { slot: '9'.repeat(18), note }, {}]
  const cases = rows.map((row) => ({ ...early, ...row }))
  const result = await runLab('pools', { ...recorded, pools: [{ ...pool, cases }] })
  expect(result.stderr).toBe('')
  // PoolDisabled: the pair is not active yet.
  const isDisabled = parseLines(result).map(({ error }) => error === 6042)
  expect(isDisabled).toEqual([true, true, true, false, false])
})

describe('lab pools takes any number of cases', () => {
  const isSwapOf = (rows: string, row: Json) => rows !== 'ops' || row.op.startsWith('swap_exact_')

  test.for([
    ...[
      ...['solana_raydium_cpmm.json', 'solana_raydium_clmm.json', 'solana_raydium_amm_v4.json'],
      ...['solana_meteora_dlmm.json', 'solana_meteora_damm_v2.json', 'solana_pumpswap.json'],
    ].map((file) => [file, 'pools', 'cases'] as const),
    ['sui_cetus_swaps.json', 'pools', 'swaps'] as const,
    ['sui_turbos_swaps.json', 'pools', 'swaps'] as const,
    ['sui_deepbook_orders.json', 'books', 'ops'] as const,
  ])('%s: the first alone, or none', async ([file, member, rows], { skip }) => {
    const recorded = readPublicVectors<Json>(file)
    if (recorded === null) return skip()
    const pool = recorded[member].find((one: Json) => one[rows].some((row: Json) => isSwapOf(rows, row)))
    const run = async (list: readonly Json[]) => {
      const result = await runLab('pools', { ...recorded, [member]: [{ ...pool, [rows]: list }] })
      expect(result).toMatchObject({ code: 0, stderr: '' })
      return parseLines(result)
    }
    expect(await run([])).toEqual([])
    // The swaps of a book trade with the orders before them.
    const untilFirst = pool[rows].slice(0, 1 + pool[rows].findIndex((row: Json) => isSwapOf(rows, row)))
    const [first, ...others] = await run(pool[rows])
    expect(others.length).toBeGreaterThan(0)
    expect(await run(untilFirst)).toEqual([first])
  })
})

describe('lab pools refuses a malformed file in one sentence', () => {
  const read = (file: string) => readPublicVectors<Json>(file)
  const cpmm = read('solana_raydium_cpmm.json')
  const dlmm = read('solana_meteora_dlmm.json')
  const pump = read('solana_pumpswap.json')
  const cetus = read('sui_cetus_swaps.json')
  const books = read('sui_deepbook_orders.json')
  const isMissing = [cpmm, dlmm, pump, cetus, books].includes(null)
  /** The first pool of a file, and its second case, changed. */
  const withPool = ({ source, pools: [first], ...rest }: Json, changes: object) => ({
    ...{ ...rest, source, pools: [{ ...first, ...changes }] },
  })
  const withCase = (recorded: Json, rows: string, changes: object) => {
    const [first, second] = recorded.pools[0][rows]
    return withPool(recorded, { [rows]: [first, { ...second, ...changes }] })
  }

  test.skipIf(isMissing).each<[string, () => object, string]>([
    ['a pool without its account', () => withPool(cpmm, { poolData: undefined }), 'pools[0] has no member poolData'],
    ['a pool without cases', () => withPool(dlmm, { cases: undefined }), 'pools[0].cases is not a list'],
    [
      'a case without its time',
      () => withCase(dlmm, 'cases', { unixTimestamp: undefined }),
      'pools[0].cases[1] has no member unixTimestamp',
    ],
    [
      'a case without an amount',
      () => withCase(cpmm, 'cases', { amountIn: undefined }),
      'pools[0].cases[1] has no member amountIn or amountOut',
    ],
    [
      'an amount that is no number',
      () => withCase(cpmm, 'cases', { amountIn: 'many' }),
      'pools[0].cases[1] cannot be read: Cannot convert many to a BigInt',
    ],
    ['an account of other bytes', () => withPool(cpmm, { poolData: 'AAAA' }), 'pools[0] cannot be read: '],
    ['configs that are missing', () => ({ ...pump, feeConfig: null }), 'the file has no member feeConfig'],
    ['a swap without a limit', () => withCase(cetus, 'swaps', { sqrtPriceLimit: null }), 'pools[0].swaps[1] has no'],
    ['no pool', () => ({ ...cetus, pools: [null] }), 'pools[0] is not an object'],
    [
      'an order without a price',
      () => ({ ...books, books: [{ ...books.books[0], ops: [{ ...books.books[0].ops[0], price: undefined }] }] }),
      'books[0].ops[0] has no member price',
    ],
    [
      'another program',
      () => ({ ...cpmm, source: { programId: 'whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc' } }),
      'source names whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc, which is none of 675kPX9',
    ],
    [
      'another repository',
      () => ({ ...cetus, source: { repository: 'github.com/another/one (MIT)' } }),
      'source names github.com/another/one, which is none of',
    ],
  ])('%s', async (_, contentOf, sentence) => {
    const result = await runLab('pools', contentOf())
    expect(result.code).toBe(1)
    expect(result.stderr).toContain(sentence)
    expect(result.stderr.trim().split('\n')).toHaveLength(1)
  })
})

describe('lab pools with recorded swaps of Sui', () => {
  const pickInputs = (row: Json, results: readonly string[]) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !results.includes(name)))
  const resultsOfSwap = ['quote', 'quoteAbort', 'dryRun', 'dryRunAbort', 'swap', 'swapAbort']
  const cetus = readPublicVectors<Json>('sui_cetus_swaps.json')
  const turbos = readPublicVectors<Json>('sui_turbos_swaps.json')
  const deepbook = readPublicVectors<Json>('sui_deepbook_orders.json')

  test.skipIf(cetus === null || turbos === null).each([
    ['Cetus', cetus, ({ swap }: Json) => [swap.pay, swap.out]],
    [
      'Turbos',
      turbos,
      ({ aToB, swap: { amountA, amountB } }: Json) => (aToB ? [amountA, amountB] : [amountB, amountA]),
    ],
  ])('prints what each trader of %s paid and received, and the abort codes', async (_, recorded, amountsOf) => {
    const pools = recorded.pools.slice(0, 10)
    const inputs = pools.map((pool: Json) => ({
      ...pool,
      swaps: pool.swaps.map((swap: Json) => pickInputs(swap, resultsOfSwap)),
    }))
    const result = await runLab('pools', { source: recorded.source, pools: inputs })
    expect(result.stderr).toBe('')
    const expected = pools.flatMap(({ swaps }: Json, pool: number) =>
      swaps.map((swap: Json, n: number) => {
        const [paid, received] = swap.swapAbort === undefined ? amountsOf(swap) : ['0', '0']
        return { pool, n, paid, received, error: swap.swapAbort?.[1] ?? null }
      }),
    )
    expect(expected.length).toBeGreaterThan(100)
    expect(parseLines(result)).toEqual(expected)
  })

  test.skipIf(deepbook === null)('prints the swaps of DeepBook, of the book that the orders built', async () => {
    const inputs = [
      'op',
      'now',
      'manager',
      'orderType',
      'selfMatching',
      'price',
      'quantity',
      'newQuantity',
      'remaining',
    ]
    inputs.push('isBid', 'payWithDeep', 'expire', 'amountIn', 'deepIn', 'minOut')
    const books = deepbook.books.slice(0, 12)
    const stripped = books.map((book: Json) => ({
      ...book,
      ops: book.ops
        .filter(({ op }: Json) => op !== 'snapshot')
        .map((op: Json, n: number) => ({
          ...Object.fromEntries(Object.entries(op).filter(([name]) => inputs.includes(name))),
          n,
        })),
    }))
    const result = await runLab('pools', { source: deepbook.source, books: stripped })
    expect(result.stderr).toBe('')
    const expected = books.flatMap(({ ops }: Json, pool: number) =>
      ops
        .filter(({ op }: Json) => op !== 'snapshot')
        .flatMap(({ op, amountIn, baseOut, quoteOut, abort }: Json, n: number) => {
          if (!op.startsWith('swap_exact_')) return []
          if (abort !== undefined) return [{ pool, n, paid: '0', received: '0', error: abort[1] }]
          const [unspent, received] = op === 'swap_exact_base_for_quote' ? [baseOut, quoteOut] : [quoteOut, baseOut]
          return [{ pool, n, paid: String(BigInt(amountIn) - BigInt(unspent)), received, error: null }]
        }),
    )
    expect(expected.length).toBeGreaterThan(10)
    expect(parseLines(result)).toEqual(expected)
  })

  test('rejects a file without pools in one sentence', async () => {
    const source = { repository: 'github.com/CetusProtocol/cetus-contracts' }
    const result = await runLab('pools', { source, functions: {} })
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.stderr).toContain('has no list "pools"')
    expect(result.stderr.trim().split('\n')).toHaveLength(1)
  })
})
