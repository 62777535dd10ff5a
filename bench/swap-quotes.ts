import { readFileSync } from 'node:fs'
import type { ChainsFile } from '../server/src/app/sandbox-chains.ts'
import { startChains } from '../test/support/chains.ts'
import type { Infrastructure } from './infrastructure.ts'
import { type Load, runLoad } from './load.ts'
import { cycle, fetchFrom, get } from './requests.ts'
import type { Result } from './results.ts'
import { compare, describeSpread, type Pace, type Side } from './rounds.ts'

/*
 * Swap quotes over HTTP, with the router in its thread: many connections at once must not be slower than one. The pools are those of the
 * sandbox's eth chain and do not change. Their state is in memory, as in production, and the router searches for every quote.
 */
const NETWORK = 'eth'
const CONNECTIONS = 32
/** The HTTP thread and the router's thread work in parallel. */
const PARALLEL_GOAL = 1.2
const REQUEST_VARIANTS = 2_000
const START_MS = 60_000
const NATIVE = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
const PAIRS = [
  ['native', 'usdc'],
  ['usdc', 'dai'],
  ['dai', 'native'],
  ['usdt', 'wbtc'],
  ['native', 'dai'],
  ['wbtc', 'usdc'],
  ['usdc', 'native'],
  ['dai', 'usdt'],
] as const
type Symbol = (typeof PAIRS)[number][number]
/** About 1000 USD each. */
const AMOUNTS: Readonly<Record<Symbol, string>> = {
  native: '0.3',
  usdc: '1000',
  dai: '1000',
  usdt: '1000',
  wbtc: '0.01',
}

export async function benchSwapQuotes(infrastructure: Infrastructure, pace: Pace): Promise<Result[]> {
  const chains = await startChains(infrastructure.folder, [NETWORK])
  try {
    const app = (await infrastructure.startApp('swaps', 1_000, chains.file)).process
    const port = app.report('port')
    const requests = createQuoteRequests(chains.file)
    for (const path of requests.pairs) await waitForQuote(port, path)
    const load = (connections: number): Load => ({ ports: [port], connections, next: cycle(requests.all) })
    const sideOf = (connections: number): Side => ({
      processes: [app],
      run: (ms) => runLoad(load(connections), ms),
    })
    const { throughput, ourPerSecond, theirPerSecond } = await compare(sideOf(1), sideOf(CONNECTIONS), pace)
    return [
      {
        name: `swap quotes, ${CONNECTIONS} connections ÷ one`,
        figures: [{ value: throughput.median, goal: { atLeast: PARALLEL_GOAL } }],
        note: `rounds ${describeSpread(throughput)}; ${ourPerSecond.toFixed(0)} and ${theirPerSecond.toFixed(0)} a second, each searched with gas, four hops and the production deadline`,
      },
    ]
  } finally {
    await chains.stop()
  }
}

function createQuoteRequests(file: string) {
  const { networks } = JSON.parse(readFileSync(file, 'utf8')) as ChainsFile
  const sandboxNetwork = networks.find(({ network }) => network === NETWORK)
  const addresses = new Map(Object.entries(sandboxNetwork?.tokens ?? {}))
  for (const { symbol, address } of sandboxNetwork?.defiTokens ?? []) addresses.set(symbol.toLowerCase(), address)
  addresses.set('native', NATIVE)
  const pathOf = (from: Symbol, to: Symbol, amount: string) => {
    const tokens = { fromTokenAddress: addresses.get(from) ?? '', toTokenAddress: addresses.get(to) ?? '' }
    return `/v1/defi/quote?${new URLSearchParams({ network: NETWORK, ...tokens, amount, slippage: '1', referrerFee: '0.5' })}`
  }
  const all = Array.from({ length: REQUEST_VARIANTS }, (_, n) => {
    const [from, to] = PAIRS[n % PAIRS.length] ?? PAIRS[0]
    const whole = AMOUNTS[from]
    return get(pathOf(from, to, `${whole}${whole.includes('.') ? '' : '.'}${String(n + 1).padStart(4, '0')}`))
  })
  const pairs = PAIRS.map(([from, to]) => pathOf(from, to, AMOUNTS[from]))
  return { pairs, all }
}

/** Retries until the pools and the tokens that are on no token list have been read. */
async function waitForQuote(port: number, path: string): Promise<void> {
  const deadline = Date.now() + START_MS
  for (;;) {
    const answer = await fetchFrom(port, path)
    if (answer.status === 200) return
    if (Date.now() > deadline) throw new Error(`no quote within ${START_MS} ms: ${await answer.text()}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
