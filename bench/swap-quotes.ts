import { readFileSync } from 'node:fs'
import type { ChainsFile } from '../server/src/app/sandbox-chains.ts'
import { startChains } from '../test/support/chains.ts'
import type { BareSwapServerSettings } from './bare-swap-server.ts'
import type { Result } from './benchmarks.ts'
import type { Infrastructure } from './infrastructure.ts'
import { get, runLoad } from './load.ts'
import { compare, type Pace } from './rounds.ts'

/*
 * Compares swap quotes over HTTP, with the router in its thread, with a bare route that returns a fixed quote. The pools are those of
 * the sandbox's eth chain and do not change. Their state is in memory, as in production, and the router searches for every quote.
 */
const NETWORK = 'eth'
const CONNECTIONS = 32
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
    const port = app.report('appPort')
    const requests = createQuoteRequests(chains.file)
    const quote = await waitForQuote(port, requests.path)
    for (const path of requests.pairs) await waitForQuote(port, path)
    const settings: BareSwapServerSettings = { quote }
    const bareServer = await infrastructure.startProcess('bare-swap-server.ts', settings)
    // The server has two threads. A busy-waiting client would take a core from one of them.
    const load = { connections: CONNECTIONS, status: 200, busyWaits: false }
    const reference = {
      process: bareServer,
      load: { ...load, port: bareServer.report('barePort'), requests: [get(requests.path)] },
    }
    const ours = { process: app, load: { ...load, port, requests: requests.all } }
    const { ratio, lowest, highest, cpuRatio, clientUtilization } = await compare(reference, ours, pace)
    const single = await runLoad({ ...ours.load, connections: 1 }, pace.roundMs)
    const many = await runLoad(ours.load, pace.roundMs)
    return [
      {
        name: 'swap quote ÷ bare route',
        goal: null,
        figure: ratio,
        unit: '',
        note: `rounds ${lowest.toFixed(3)} to ${highest.toFixed(3)}; by CPU time ${cpuRatio.toFixed(3)}, including the router's thread; client ${((clientUtilization ?? 1) * 100).toFixed(0)} % busy`,
      },
      {
        name: 'swap quotes, 32 connections ÷ one',
        goal: null,
        figure: many.perSecond / single.perSecond,
        unit: '',
        note: 'gain from running the HTTP thread and the router thread in parallel',
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
  return { path: pathOf('usdc', 'dai', '1000'), pairs, all }
}

/** Retries until the pools and the tokens that are on no token list have been read. */
async function waitForQuote(port: number, path: string): Promise<object> {
  const deadline = Date.now() + START_MS
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-api-key': 'sandbox' } })
    if (answer.status === 200) return (await answer.json()) as object
    if (Date.now() > deadline) throw new Error(`no quote within ${START_MS} ms: ${await answer.text()}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
