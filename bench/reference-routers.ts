import { performance } from 'node:perf_hooks'
import type { Pool } from '../server/src/swap/routing/pool-kinds.ts'
import { createPoolMarket } from '../server/src/swap/routing/pool-market.ts'
import { bestRoute } from '../server/src/swap/routing/route.ts'
import { createBalancerMarket } from './balancer-markets.ts'
import { createBalancerSor } from './balancer-sor.ts'
import { median } from './load.ts'
import { INSTALL_COMMAND } from './reference-packages.ts'
import type { Goal, Result } from './results.ts'
import { createSmartOrderRouter, type FindRoute } from './smart-order-router.ts'
import type { Market, Trade } from './swap-markets.ts'
import { advantagesOf, percentMatched, productionOptions } from './swap-routing.ts'
import { createUniswapMarket } from './uniswap-markets.ts'

/*
 * Compares our router with two others in one process, trade by trade on the same in-memory pools. Every router computes each trade
 * once. Gas is free for all, because the others count it in different ways. Ours has production's limits and its output is exact; for
 * the others the output that they quote counts.
 */
const SEED = 4_321

type ReferenceRouter = Readonly<{
  name: string
  open(size: number, seed: number): Promise<Readonly<{ market: Market<Pool>; route: FindRoute }> | null>
  sizes: readonly Readonly<{ size: number; trades: number }>[]
  goal: Goal
}>

const routers: readonly ReferenceRouter[] = [
  {
    name: 'smart-order-router',
    async open(size, seed) {
      const market = createUniswapMarket(size, seed)
      const route = createSmartOrderRouter(market)
      return route && { market, route }
    },
    sizes: [
      { size: 20, trades: 120 },
      { size: 100, trades: 100 },
      { size: 1_000, trades: 60 },
    ],
    goal: { atLeast: 100 },
  },
  {
    name: 'balancer-sor',
    async open(size, seed) {
      const market = createBalancerMarket(size, seed)
      const route = await createBalancerSor(market)
      return route && { market, route: async (trade) => ({ amountOut: await route(trade), quoterMs: 0 }) }
    },
    sizes: [
      { size: 20, trades: 120 },
      { size: 100, trades: 120 },
      { size: 500, trades: 80 },
    ],
    goal: { atLeast: 1 },
  },
]
const WARM_UP = { ours: 2_000, theirs: 60 }

export async function benchReferenceRouters(): Promise<Result[]> {
  const results: Result[] = []
  for (const router of routers) results.push(...(await compareRouter(router)))
  return results
}

/** `quoterMs`: the part of the other router's time that a node computes in production. */
type Outcome = Readonly<{ ourMs: number; theirMs: number; quoterMs: number; ours: bigint; theirs: bigint }>

async function compareRouter(router: ReferenceRouter): Promise<Result[]> {
  const warmUp = await router.open(20, SEED - 1)
  if (warmUp === null) {
    return [{ name: `route ÷ ${router.name}`, figures: [], notJudged: `not installed: ${INSTALL_COMMAND}` }]
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
    times.push({
      name: `route ÷ ${router.name}, ${size} pools`,
      figures: [{ value: theirMs / ourMs, unit: '×', goal: router.goal }],
      note: `medians of ${trades} trades, each computed once: ${ourMs.toFixed(2)} and ${theirMs.toFixed(1)} ms${quoter > 0 ? ` (${quoter.toFixed(1)} ms in its quoter)` : ''}`,
    })
  }
  return [...times, ...compareOutputs(router.name, all)]
}

function createOurRouter({ pools, tokens }: Market<Pool>): (trade: Trade) => bigint {
  const poolMarket = createPoolMarket(pools)
  return ({ source, target, amountIn }) => {
    const request = { source: tokens[source] ?? '', target: tokens[target] ?? '', amountIn }
    return bestRoute(poolMarket, request, productionOptions(0))?.amountOut ?? 0n
  }
}

async function compareTrades(router: ReferenceRouter, size: number, trades: number): Promise<Outcome[]> {
  const reference = await router.open(size, SEED + size)
  if (reference === null) throw new Error('the reference router is no longer installed')
  const { market, route } = reference
  const ours = createOurRouter(market)
  const outcomes: Outcome[] = []
  for (let n = 0; n < trades; n++) {
    const trade = market.draw()
    // Each runs directly after the other, so that neither finds the CPU caches as its own last search left them.
    const their = await measure(() => route(trade))
    const own = await measure(async () => ours(trade))
    const { amountOut: theirs, quoterMs } = their.result
    outcomes.push({ ours: own.result, ourMs: own.ms, theirs, theirMs: their.ms, quoterMs })
  }
  return outcomes
}

async function measure<T>(run: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const startedAt = performance.now()
  const result = await run()
  return { result, ms: performance.now() - startedAt }
}

const medianOf = (outcomes: readonly Outcome[], name: 'ourMs' | 'theirMs' | 'quoterMs'): number =>
  median(outcomes.map((outcome) => outcome[name]))

function compareOutputs(name: string, outcomes: readonly Outcome[]): Result[] {
  const advantages = advantagesOf(outcomes)
  const unrouted = advantages.filter((advantage) => advantage === Number.POSITIVE_INFINITY).length
  const inBasisPoints = (advantage: number | undefined) => `${((advantage ?? 0) * 1e4).toFixed(2)} bp`
  const lowest = advantages[0] ?? 0
  return [
    {
      name: `output, ${name} equalled or beaten`,
      figures: [{ value: percentMatched(advantages), unit: '%', goal: { atLeast: 100 } }],
      note: `${advantages.length} trades; advantage ${inBasisPoints(median(advantages))} at the median, worst shortfall ${inBasisPoints(Math.max(0, -lowest))}; no route from it for ${unrouted}`,
    },
  ]
}
