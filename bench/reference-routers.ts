import { performance } from 'node:perf_hooks'
import type { Pool } from '../server/src/swap/routing/pool-kinds.ts'
import { createPoolMarket } from '../server/src/swap/routing/pool-market.ts'
import { bestRoute } from '../server/src/swap/routing/route.ts'
import { createBalancerMarket } from './balancer-markets.ts'
import { createBalancerSor } from './balancer-sor.ts'
import type { Result } from './benchmarks.ts'
import { median } from './load.ts'
import { INSTALL_COMMAND } from './reference-packages.ts'
import { createSmartOrderRouter } from './smart-order-router.ts'
import type { Trade } from './swap-markets.ts'
import { createUniswapMarket } from './uniswap-markets.ts'

/*
 * Compares our router with two others in one process, alternating trade by trade on the same in-memory pools. Gas is free for all. Our
 * router uses up to four hops and its output is exact; for the others the output that they quote counts.
 */
const OPTIONS = { hopsMax: 4, swapsMax: Number.POSITIVE_INFINITY, gasPrice: 0, isOver: () => false }
/** Relative difference below which outputs count as equal, because the other routers use float64. */
const EQUAL_TOLERANCE = 1e-9
const SEED = 4_321

type Market = Readonly<{ tokens: readonly string[]; pools: readonly Pool[]; draw(): Trade }>
/** `quoterMs`: the part of the time in quotes that a node would compute in production. */
type FindRoute = (trade: Trade) => Promise<Readonly<{ amountOut: bigint; quoterMs: number }>>
type ReferenceRouter = Readonly<{
  name: string
  open(size: number, seed: number): Promise<Readonly<{ market: Market; route: FindRoute }> | null>
  sizes: readonly Readonly<{ size: number; trades: number }>[]
  goal: number | null
}>

const routers: readonly ReferenceRouter[] = [
  {
    name: 'smart-order-router',
    async open(size, seed) {
      const market = createUniswapMarket(size, seed)
      const route = createSmartOrderRouter(market)
      if (route === null) return null
      return {
        market,
        route: async (trade) => {
          const { amountOut, quoterMs } = await route(trade)
          return { amountOut, quoterMs }
        },
      }
    },
    sizes: [
      { size: 20, trades: 120 },
      { size: 100, trades: 100 },
      { size: 1_000, trades: 60 },
    ],
    goal: 100,
  },
  {
    name: 'balancer-sor',
    async open(size, seed) {
      const market = createBalancerMarket(size, seed)
      const route = await createBalancerSor(market)
      if (route === null) return null
      return { market, route: async (trade) => ({ amountOut: (await route(trade)).quoted, quoterMs: 0 }) }
    },
    sizes: [
      { size: 20, trades: 120 },
      { size: 100, trades: 120 },
      { size: 500, trades: 80 },
    ],
    goal: null,
  },
]
const MEASURE_MS = 20
const WARM_UP = { ours: 2_000, theirs: 60 }

export async function benchReferenceRouters(): Promise<Result[]> {
  const results: Result[] = []
  for (const router of routers) results.push(...(await compareRouter(router)))
  return results
}

/** `onceMs`: the first run of ours. `againMs`: the reference router's second run of the same trade, which may use its caches. */
type Outcome = Readonly<{
  ourMs: number
  onceMs: number
  theirMs: number
  againMs: number
  quoterMs: number
  ours: bigint
  theirs: bigint
}>

async function compareRouter(router: ReferenceRouter): Promise<Result[]> {
  const warmUp = await router.open(20, SEED - 1)
  if (warmUp === null) {
    const note = `not installed: ${INSTALL_COMMAND}`
    return [{ name: `route ÷ ${router.name}`, goal: null, figure: Number.NaN, unit: '', note }]
  }
  const ours = createOurRouter(warmUp.market)
  // Until V8 has optimized the hot functions.
  for (let n = 0; n < WARM_UP.ours; n++) ours(warmUp.market.draw())
  for (let n = 0; n < WARM_UP.theirs; n++) await warmUp.route(warmUp.market.draw())
  const all: Outcome[] = []
  const times: Result[] = []
  for (const { size, trades } of router.sizes) {
    const outcomes = await compareTrades(router, size, trades)
    all.push(...outcomes)
    const [ourMs, theirMs] = [medianOf(outcomes, 'ourMs'), medianOf(outcomes, 'theirMs')]
    const quoter = medianOf(outcomes, 'quoterMs')
    const again = medianOf(outcomes, 'againMs')
    const once = medianOf(outcomes, 'onceMs')
    times.push({
      name: `route ÷ ${router.name}, ${size} pools`,
      goal: router.goal === null ? null : { atLeast: router.goal },
      figure: theirMs / ourMs,
      unit: '',
      note: `medians of ${trades} trades: ${ourMs.toFixed(2)} and ${theirMs.toFixed(1)} ms; first run of ours ${once.toFixed(2)} ms (${(theirMs / once).toFixed(0)} ×); second run of theirs ${again.toFixed(1)} ms${quoter > 0 ? `; ${quoter.toFixed(1)} ms in its quoter` : ''}`,
    })
  }
  return [...times, ...compareOutputs(router.name, all)]
}

function createOurRouter({ pools, tokens }: Market): (trade: Trade) => bigint {
  const poolMarket = createPoolMarket(pools)
  return ({ source, target, amountIn }) =>
    bestRoute(poolMarket, { source: tokens[source] ?? '', target: tokens[target] ?? '', amountIn }, OPTIONS)
      ?.amountOut ?? 0n
}

async function compareTrades(router: ReferenceRouter, size: number, trades: number): Promise<Outcome[]> {
  const reference = await router.open(size, SEED + size)
  if (reference === null) throw new Error('the reference router is no longer installed')
  const { market, route } = reference
  const ours = createOurRouter(market)
  const outcomes: Outcome[] = []
  for (let n = 0; n < trades; n++) {
    const trade = market.draw()
    const startedAt = performance.now()
    const { amountOut, quoterMs } = await route(trade)
    const finishedAt = performance.now()
    await route(trade)
    const againMs = performance.now() - finishedAt
    outcomes.push({
      ...measureOurs(() => ours(trade)),
      theirs: amountOut,
      theirMs: finishedAt - startedAt,
      againMs,
      quoterMs,
    })
  }
  return outcomes
}

/**
 * Mean of our runs over `MEASURE_MS`. A single run of ours is short and rarely interrupted by other programs, so it would compare too
 * well with the long runs of the other router.
 */
function measureOurs(run: () => bigint): Pick<Outcome, 'ours' | 'ourMs' | 'onceMs'> {
  const startedAt = performance.now()
  let onceMs = 0
  for (let runs = 1; ; runs++) {
    const ours = run()
    const spentMs = performance.now() - startedAt
    if (runs === 1) onceMs = spentMs
    if (spentMs >= MEASURE_MS) return { ours, ourMs: spentMs / runs, onceMs }
  }
}

const medianOf = (
  outcomes: readonly Outcome[],
  name: 'ourMs' | 'onceMs' | 'theirMs' | 'againMs' | 'quoterMs',
): number => median(outcomes.map((outcome) => outcome[name]))

/** Relative advantage of our output. Trades for which neither router finds a route are ignored. */
function compareOutputs(name: string, outcomes: readonly Outcome[]): Result[] {
  const advantages = outcomes
    .filter(({ ours, theirs }) => ours > 0n || theirs > 0n)
    .map(({ ours, theirs }) => (theirs === 0n ? Number.POSITIVE_INFINITY : Number(ours) / Number(theirs) - 1))
    .sort((a, b) => a - b)
  const matched = advantages.filter((advantage) => advantage >= -EQUAL_TOLERANCE).length
  const unrouted = advantages.filter((advantage) => advantage === Number.POSITIVE_INFINITY).length
  const inBasisPoints = (advantage: number | undefined) => `${((advantage ?? 0) * 1e4).toFixed(2)} bp`
  const lowest = advantages[0] ?? 0
  return [
    {
      name: `output, ${name} equalled or beaten`,
      goal: { atLeast: 100 },
      figure: (matched / advantages.length) * 100,
      unit: '%',
      note: `${advantages.length} trades; advantage ${inBasisPoints(median(advantages))} at the median, worst shortfall ${inBasisPoints(Math.max(0, -lowest))}; no route from it for ${unrouted}`,
    },
  ]
}
