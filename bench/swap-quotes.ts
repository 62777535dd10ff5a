import { readFileSync } from 'node:fs'
import type { ChainsFile } from '../server/src/app/sandbox-chains.ts'
import { startChains } from '../test/support/chains.ts'
import type { Infrastructure } from './infrastructure.ts'
import { type Load, quantile, runLoad } from './load.ts'
import { cycle, fetchFrom, get } from './requests.ts'
import type { Result } from './results.ts'
import { compare, describeSpread, type Pace, type Side } from './rounds.ts'

/*
 * Swap quotes over HTTP, with the router in its thread: many connections at once must not be slower than one, and quotes on Solana and Sui
 * no slower than on an EVM network. The pools are those of the sandbox's chains and do not change. Their state is in memory, as in
 * production, and the router searches for every quote.
 */
const CONNECTIONS = 32
/** The HTTP thread and the router's thread work in parallel. */
const PARALLEL_GOAL = 1.2
const OTHER_FAMILIES_GOAL = 1
const REQUEST_VARIANTS = 2_000
const START_MS = 60_000
/** An amount of about 1000 USD of each token, and the pairs that are quoted. */
type Trades = Readonly<{
  native: string
  amounts: Readonly<Record<string, string>>
  pairs: readonly (readonly [from: string, to: string])[]
}>
const tradesOf = {
  eth: {
    native: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
    amounts: { native: '0.3', usdc: '1000', dai: '1000', usdt: '1000', wbtc: '0.01' },
    pairs: [
      ['native', 'usdc'],
      ['usdc', 'dai'],
      ['dai', 'native'],
      ['usdt', 'wbtc'],
      ['native', 'dai'],
      ['wbtc', 'usdc'],
      ['usdc', 'native'],
      ['dai', 'usdt'],
    ],
  },
  sol: {
    native: 'So11111111111111111111111111111111111111112',
    amounts: { native: '6', usdc: '1000', tick: '650' },
    // Several kinds of pools, PumpSwap, and two hops over USDC.
    pairs: [
      ['native', 'usdc'],
      ['native', 'coin'],
      ['usdc', 'native'],
      ['tick', 'bins'],
    ],
  },
  sui: {
    native: '0x2::sui::SUI',
    amounts: { native: '500', usdc: '1000', usdt: '1000', wbtc: '0.01' },
    pairs: [
      ['native', 'usdc'],
      ['usdt', 'usdc'],
      ['usdc', 'native'],
      ['wbtc', 'native'],
      ['usdt', 'native'],
      ['usdc', 'wbtc'],
    ],
  },
} as const satisfies Readonly<Record<string, Trades>>
type Network = keyof typeof tradesOf
const networks = Object.keys(tradesOf) as readonly Network[]

export async function benchSwapQuotes(infrastructure: Infrastructure, pace: Pace): Promise<Result[]> {
  const chains = await startChains(infrastructure.folder, networks)
  try {
    const app = (await infrastructure.startApp('swaps', 1_000, { chainsFile: chains.file })).process
    const port = app.report('port')
    const requests = createQuoteRequests(chains.file)
    for (const { pairs } of Object.values(requests)) for (const path of pairs) await waitForQuote(port, path)
    const load = (network: Network, connections: number): Load => ({
      ...{ ports: [port], connections, next: cycle(requests[network].all) },
    })
    const sideOf = (network: Network, connections: number): Side => ({
      processes: [app],
      run: (ms) => runLoad(load(network, connections), ms),
    })
    const parallel = await compare(sideOf('eth', 1), sideOf('eth', CONNECTIONS), pace)
    const results: Result[] = [
      {
        name: `swap quotes, ${CONNECTIONS} connections ÷ one`,
        figures: [{ value: parallel.throughput.median, goal: { atLeast: PARALLEL_GOAL } }],
        note: `rounds ${describeSpread(parallel.throughput)}; ${parallel.ourPerSecond.toFixed(0)} and ${parallel.theirPerSecond.toFixed(0)} a second, each searched with gas, four hops and the production deadline`,
      },
    ]
    for (const network of ['sol', 'sui'] as const) {
      const { throughput, ...compared } = await compare(sideOf('eth', 1), sideOf(network, 1), pace)
      const ours = describeLatency(compared.ourPerSecond, compared.ourLatencies)
      const theirs = describeLatency(compared.theirPerSecond, compared.theirLatencies)
      results.push({
        name: `swap quotes on ${network} ÷ on eth, one connection`,
        figures: [{ value: throughput.median, goal: { atLeast: OTHER_FAMILIES_GOAL } }],
        note: `rounds ${describeSpread(throughput)}; a quote takes ${ours}, on eth ${theirs}`,
      })
    }
    return results
  } finally {
    await chains.stop()
  }
}

/** Of one connection. */
const describeLatency = (perSecond: number, latencies: readonly number[]): string =>
  `${(1_000 / perSecond).toFixed(2)} ms (p50 ${quantile(latencies, 0.5).toFixed(2)}, p99 ${quantile(latencies, 0.99).toFixed(2)})`

function createQuoteRequests(file: string) {
  const { networks: started } = JSON.parse(readFileSync(file, 'utf8')) as ChainsFile
  const requestsOf = (network: Network) => {
    const { native, amounts, pairs }: Trades = tradesOf[network]
    const sandboxNetwork = started.find((one) => one.network === network)
    const addresses = new Map(Object.entries(sandboxNetwork?.tokens ?? {}))
    for (const { symbol, address } of sandboxNetwork?.defiTokens ?? []) addresses.set(symbol.toLowerCase(), address)
    addresses.set('native', native)
    const pathOf = (from: string, to: string, amount: string) => {
      const tokens = { fromTokenAddress: addresses.get(from) ?? '', toTokenAddress: addresses.get(to) ?? '' }
      return `/v1/defi/quote?${new URLSearchParams({ network, ...tokens, amount, slippage: '1', referrerFee: '0.5' })}`
    }
    const amountOf = (token: string) => amounts[token] ?? ''
    const all = Array.from({ length: REQUEST_VARIANTS }, (_, n) => {
      const [from, to] = pairs[n % pairs.length] ?? ['', '']
      const whole = amountOf(from)
      const amount = `${whole}${whole.includes('.') ? '' : '.'}${String(n + 1).padStart(4, '0')}`
      return get(pathOf(from, to, amount), { isTimed: true })
    })
    return { all, pairs: pairs.map(([from, to]) => pathOf(from, to, amountOf(from))) }
  }
  return { eth: requestsOf('eth'), sol: requestsOf('sol'), sui: requestsOf('sui') }
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
