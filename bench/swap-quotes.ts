import { readFileSync } from 'node:fs'
import type { ChainsFile } from '../server/src/app/sandbox-chains.ts'
import { startChains } from '../test/support/chains.ts'
import type { BareSwapSettings } from './bare-swap.ts'
import type { Result } from './benchmarks.ts'
import type { Ground } from './ground.ts'
import { drive, get } from './load.ts'
import { compare, type Pace } from './rounds.ts'

/*
 * Quotes of swaps over HTTP, with the router in its thread behind them, against a bare route with the same answer. The pools
 * are those of the sandbox's eth, which stand still: state in memory, as in production; every quote is searched anew.
 */
const NETWORK = 'eth'
const CONNECTIONS = 32
const VARIED = 2_000
const START_MS = 60_000
const NATIVE = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
const PAIRS = [
  ['coin', 'usdc'],
  ['usdc', 'dai'],
  ['dai', 'coin'],
  ['usdt', 'wbtc'],
  ['coin', 'dai'],
  ['wbtc', 'usdc'],
  ['usdc', 'coin'],
  ['dai', 'usdt'],
] as const
type Symbol = (typeof PAIRS)[number][number]
/** About a thousand dollars. */
const AMOUNTS: Readonly<Record<Symbol, string>> = { coin: '0.3', usdc: '1000', dai: '1000', usdt: '1000', wbtc: '0.01' }

export async function benchSwapQuotes(ground: Ground, pace: Pace): Promise<Result[]> {
  const chains = await startChains(ground.folder, [NETWORK])
  try {
    const house = (await ground.openHouse('swaps', 1_000, chains.file)).process
    const port = house.report('house')
    const requests = quotesOn(chains.file)
    const quote = await firstQuote(port, requests.path)
    for (const path of requests.pairs) await firstQuote(port, path)
    const bare = await ground.open('bare-swap.ts', { quote } satisfies BareSwapSettings)
    // The house has two threads: a client that stays awake would take a core from one of them.
    const load = { connections: CONNECTIONS, status: 200, isAwake: false }
    const theirs = { process: bare, load: { ...load, port: bare.report('bare'), requests: [get(requests.path)] } }
    const ours = { process: house, load: { ...load, port, requests: requests.all } }
    const { ratio, lowest, highest, cpuRatio, clientBusy } = await compare(theirs, ours, pace)
    const alone = await drive({ ...ours.load, connections: 1 }, pace.roundMs)
    const many = await drive(ours.load, pace.roundMs)
    return [
      {
        name: 'swap quote ÷ bare route',
        goal: null,
        figure: ratio,
        unit: '',
        note: `rounds ${lowest.toFixed(3)} to ${highest.toFixed(3)}; by CPU time ${cpuRatio.toFixed(3)}, the router's thread in it; client ${((clientBusy ?? 1) * 100).toFixed(0)} % busy`,
      },
      {
        name: 'swap quotes, 32 connections ÷ one',
        goal: null,
        figure: many.perSecond / alone.perSecond,
        unit: '',
        note: 'how much the door and the thread do beside each other',
      },
    ]
  } finally {
    await chains.stop()
  }
}

function quotesOn(file: string) {
  const { networks } = JSON.parse(readFileSync(file, 'utf8')) as ChainsFile
  const found = networks.find(({ network }) => network === NETWORK)
  const addresses = new Map(Object.entries(found?.tokens ?? {}))
  for (const { symbol, address } of found?.defiTokens ?? []) addresses.set(symbol.toLowerCase(), address)
  addresses.set('coin', NATIVE)
  const pathOf = (from: Symbol, to: Symbol, amount: string) => {
    const tokens = { fromTokenAddress: addresses.get(from) ?? '', toTokenAddress: addresses.get(to) ?? '' }
    return `/v1/defi/quote?${new URLSearchParams({ network: NETWORK, ...tokens, amount, slippage: '1', referrerFee: '0.5' })}`
  }
  const all = Array.from({ length: VARIED }, (_, n) => {
    const [from, to] = PAIRS[n % PAIRS.length] ?? PAIRS[0]
    const whole = AMOUNTS[from]
    return get(pathOf(from, to, `${whole}${whole.includes('.') ? '' : '.'}${String(n + 1).padStart(4, '0')}`))
  })
  const pairs = PAIRS.map(([from, to]) => pathOf(from, to, AMOUNTS[from]))
  return { path: pathOf('usdc', 'dai', '1000'), pairs, all }
}

/** Once the pools are read, and tokens that are on no list here. */
async function firstQuote(port: number, path: string): Promise<object> {
  const deadline = Date.now() + START_MS
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-api-key': 'sandbox' } })
    if (answer.status === 200) return (await answer.json()) as object
    if (Date.now() > deadline) throw new Error(`no quote: ${await answer.text()}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
