import { performance } from 'node:perf_hooks'
import type { Pool } from '../server/src/swap/routing/pool-kinds.ts'
import { createPoolMarket } from '../server/src/swap/routing/pool-market.ts'
import { bestRoute } from '../server/src/swap/routing/route.ts'
import { createBalancerMarket } from './balancer-markets.ts'
import { createBalancerSor } from './balancer-sor.ts'
import type { Result } from './benchmarks.ts'
import { median } from './load.ts'
import { PEERS_COMMAND } from './reference-packages.ts'
import { createSmartOrderRouter } from './smart-order-router.ts'
import type { Trade } from './swap-markets.ts'
import { createUniswapMarket } from './uniswap-markets.ts'

/*
 * Our router against two more, trade by trade in turn, in one process, over the same pools in memory. Gas is free on both
 * sides. Ours goes four hops and counts to the unit; of the others what they say they pay.
 */
const FREE = { hopsMax: 4, swapsMax: Number.POSITIVE_INFINITY, gasPrice: 0, isOver: () => false }
/** Float64 on the other side: nearer than this is the same. */
const SAME = 1e-9
const SEED = 4_321

type Market = Readonly<{ tokens: readonly string[]; pools: readonly Pool[]; draw(): Trade }>
/** `waitedMs`: of its time, what it spent asking a node, were there one. */
type Theirs = (trade: Trade) => Promise<Readonly<{ amountOut: bigint; waitedMs: number }>>
type Peer = Readonly<{
  name: string
  open(size: number, seed: number): Promise<Readonly<{ market: Market; route: Theirs }> | null>
  sizes: readonly Readonly<{ size: number; trades: number }>[]
  goal: number | null
}>

const peers: readonly Peer[] = [
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
          return { amountOut, waitedMs: quoterMs }
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
      return { market, route: async (trade) => ({ amountOut: (await route(trade)).said, waitedMs: 0 }) }
    },
    sizes: [
      { size: 20, trades: 120 },
      { size: 100, trades: 120 },
      { size: 500, trades: 80 },
    ],
    goal: null,
  },
]
const SPAN_MS = 20
const WARM_UP = { ours: 2_000, theirs: 60 }

export async function benchOtherRouters(): Promise<Result[]> {
  const results: Result[] = []
  for (const peer of peers) results.push(...(await against(peer)))
  return results
}

/** `onceMs`: ours for the first time. `againMs`: the same trade at once again, by what the peer kept of the first. */
type Outcome = Readonly<{
  ourMs: number
  onceMs: number
  theirMs: number
  againMs: number
  waitedMs: number
  ours: bigint
  theirs: bigint
}>

async function against(peer: Peer): Promise<Result[]> {
  const warm = await peer.open(20, SEED - 1)
  if (warm === null) {
    const note = `not installed: ${PEERS_COMMAND}`
    return [{ name: `route ÷ ${peer.name}`, goal: null, figure: Number.NaN, unit: '', note }]
  }
  const ours = createOurs(warm.market)
  // Until the engine has compiled what is hot.
  for (let n = 0; n < WARM_UP.ours; n++) ours(warm.market.draw())
  for (let n = 0; n < WARM_UP.theirs; n++) await warm.route(warm.market.draw())
  const all: Outcome[] = []
  const times: Result[] = []
  for (const { size, trades } of peer.sizes) {
    const outcomes = await compare(peer, size, trades)
    all.push(...outcomes)
    const [own, their] = [medianOf(outcomes, 'ourMs'), medianOf(outcomes, 'theirMs')]
    const waited = medianOf(outcomes, 'waitedMs')
    const again = medianOf(outcomes, 'againMs')
    const once = medianOf(outcomes, 'onceMs')
    times.push({
      name: `route ÷ ${peer.name}, ${size} pools`,
      goal: peer.goal === null ? null : { atLeast: peer.goal },
      figure: their / own,
      unit: '',
      note: `medians of ${trades} trades: ${own.toFixed(2)} and ${their.toFixed(1)} ms; ours asked once, with the caches as theirs left them, ${once.toFixed(2)} (${(their / once).toFixed(0)} ×); theirs asked again ${again.toFixed(1)}${waited > 0 ? `; ${waited.toFixed(1)} in its quoter` : ''}`,
    })
  }
  return [...times, ...outputs(peer.name, all)]
}

function createOurs({ pools, tokens }: Market): (trade: Trade) => bigint {
  const kept = createPoolMarket(pools)
  return ({ source, target, amountIn }) =>
    bestRoute(kept, { source: tokens[source] ?? '', target: tokens[target] ?? '', amountIn }, FREE)?.amountOut ?? 0n
}

async function compare(peer: Peer, size: number, trades: number): Promise<Outcome[]> {
  const opened = await peer.open(size, SEED + size)
  if (opened === null) throw new Error('the peer was there a moment ago')
  const { market, route } = opened
  const ours = createOurs(market)
  const outcomes: Outcome[] = []
  for (let n = 0; n < trades; n++) {
    const trade = market.draw()
    const begun = performance.now()
    const { amountOut, waitedMs } = await route(trade)
    const between = performance.now()
    await route(trade)
    const againMs = performance.now() - between
    outcomes.push({ ...repeated(() => ours(trade)), theirs: amountOut, theirMs: between - begun, againMs, waitedMs })
  }
  return outcomes
}

/** The mean of as many runs as last as long as one of the other's: a busy machine interrupts what is short as seldom as it is short. */
function repeated(run: () => bigint): Pick<Outcome, 'ours' | 'ourMs' | 'onceMs'> {
  const begun = performance.now()
  let onceMs = 0
  for (let runs = 1; ; runs++) {
    const ours = run()
    const spentMs = performance.now() - begun
    if (runs === 1) onceMs = spentMs
    if (spentMs >= SPAN_MS) return { ours, ourMs: spentMs / runs, onceMs }
  }
}

const medianOf = (
  outcomes: readonly Outcome[],
  name: 'ourMs' | 'onceMs' | 'theirMs' | 'againMs' | 'waitedMs',
): number => median(outcomes.map((outcome) => outcome[name]))

/** How much more ours pays, as a share. Trades that neither can serve say nothing. */
function outputs(name: string, outcomes: readonly Outcome[]): Result[] {
  const advantages = outcomes
    .filter(({ ours, theirs }) => ours > 0n || theirs > 0n)
    .map(({ ours, theirs }) => (theirs === 0n ? Number.POSITIVE_INFINITY : Number(ours) / Number(theirs) - 1))
    .sort((a, b) => a - b)
  const equalled = advantages.filter((advantage) => advantage >= -SAME).length
  const unserved = advantages.filter((advantage) => advantage === Number.POSITIVE_INFINITY).length
  const inBasisPoints = (advantage: number | undefined) => `${((advantage ?? 0) * 1e4).toFixed(2)} bp`
  const lowest = advantages[0] ?? 0
  return [
    {
      name: `output, ${name} equalled or beaten`,
      goal: { atLeast: 100 },
      figure: (equalled / advantages.length) * 100,
      unit: '%',
      note: `${advantages.length} trades; by ${inBasisPoints(median(advantages))} at the median, missed by ${inBasisPoints(Math.max(0, -lowest))} at worst; ${unserved} it finds no route for`,
    },
  ]
}
