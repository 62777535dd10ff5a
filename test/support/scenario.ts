import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until as lookUntil } from '@swapyard/lib/until.ts'
import { inject } from 'vitest'
import { networks as definitions } from '../../server/networks/index.ts'
import { createEmbeddedPrices } from '../../server/src/adapters/prices/embedded.ts'
import { openPublicKeys, openSigner } from '../../server/src/adapters/signers/keystore.ts'
import { type App, type AppOptions, createApp } from '../../server/src/app/app.ts'
import { createSigning } from '../../server/src/app/chains.ts'
import { coinTypes } from '../../server/src/app/keys.ts'
import { createMetrics } from '../../server/src/app/metrics.ts'
import type { ChainsFile } from '../../server/src/app/sandbox-chains.ts'
import { fundSandbox } from '../../server/src/app/sandbox-funding.ts'
import { seedSandboxPartners } from '../../server/src/app/sandbox-partners.ts'
import { type SwapOffer, sandboxSwaps } from '../../server/src/app/swaps.ts'
import { defaultSpreads } from '../../server/src/core/domain/book.ts'
import type { Prices } from '../../server/src/core/ports/prices.ts'
import { createLog, type Log } from '../../server/src/lib/log.ts'
import type { Loop } from '../../server/src/lib/loop.ts'
import { appSettings } from './app-settings.ts'
import { createDatabase } from './database.ts'
import { checkInvariants } from './invariants.ts'
import { createQuickKeystore } from './keystore.ts'
import { PATIENCE_MS } from './patience.ts'

const USD = 10n ** 12n
/** What each scenario has of each currency: of litecoin the bank has 1.3 million dollars for all scenarios together. */
const FUNDS_USD = 25_000n * USD
export const pepper = Buffer.from('a pepper of the test scenarios')

export type ScenarioOptions = Readonly<{
  /** Networks that this scenario works with: fewer are faster. */
  networks: readonly string[]
  /** Where the chains stand that this scenario works with: those of the whole run, unless others are named. */
  chainsFile?: string
  settings?: Partial<AppOptions['settings']>
  /** Frozen prices: the default, so that amounts can be compared. */
  still?: boolean
  /** Prices that the test moves itself. */
  prices?: Prices
  denied?: readonly string[]
  /** With the DeFi half on these networks, and what differs from the sandbox's settings. */
  swaps?: SwapOffer['settings']
  /** Nodes that swaps are served by in place of the chains' own, by network. */
  swapNodes?: ReadonlyMap<string, string>
  /** Outside routers that quotes are compared with. */
  aggregators?: SwapOffer['aggregators']
  /** Parts of a copy of the server with something changed, in place of the checkout's. */
  server?: ServerParts
  log?: Log
}>

export type ServerParts = Readonly<{ createApp: typeof createApp; networks: typeof definitions }>

// biome-ignore lint/suspicious/noExplicitAny: answers of the API are read as a partner's script would read them
export type Json = any
export type Answer = Readonly<{ status: number; body: Json; headers: Headers }>
export type OrderInput = Readonly<{
  from: string
  to: string
  amount: string
  flow?: 'standard' | 'fixed-rate'
  address?: string
  refundAddress?: string
  rateId?: string
}> &
  Readonly<Record<string, unknown>>

/** A whole app on the shared chains: its own database, keys and wallets, driven as a partner and as a person would. */
export type Scenario = Readonly<{
  app: App
  url: string
  chains: ChainsFile
  /** Where this scenario's operator takes fees of swaps; null without swaps. */
  feeAddress: string | null
  /** The private key of a network's hot wallet: what a thief of the keystore would have. */
  hotKey(network: string): Uint8Array
  /** The signer's journal, as whoever has the disk reads it. */
  journal(): string
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  rate(from: string, to: string, amount: string, flow?: 'standard' | 'fixed-rate'): Promise<Json>
  /** Creates an exchange; a fresh wallet of the target is the recipient unless one is given. Asserts 201. */
  create(order: OrderInput): Promise<Json>
  /** Pays from the sandbox bank: to the exchange's deposit address, in its own currency unless another is named (`usdc@eth`). */
  deposit(exchange: Json, amount: string, currency?: string): Promise<string>
  wallet(network: string): Promise<{ address: string; privateKey: string }>
  balance(currency: string, address: string): Promise<string>
  control(path: string, body: unknown): Promise<Json>
  mine(network: string, count: number): Promise<void>
  reorg(network: string, depth: number, drop?: boolean): Promise<void>
  /** Stops or starts the blocks that come by themselves. */
  mining(network: string, paused: boolean): Promise<void>
  status(exchange: Json): Promise<Json>
  /** Polls until the exchange has the status; fails at once where it has another terminal one. */
  settles(exchange: Json, status: string, timeoutMs?: number): Promise<Json>
  until<T>(what: string, look: () => Promise<T | null | undefined | false>, timeoutMs?: number): Promise<T>
  stopWorkers(): Promise<void>
  startWorkers(): Promise<void>
  /** Waits until nothing is under way, then: ledger balanced, closed exchanges owe nothing, wallets equal the ledger. */
  invariants(): Promise<void>
  stop(): Promise<void>
}>

export async function startScenario(options: ScenarioOptions): Promise<Scenario> {
  const chains = JSON.parse(readFileSync(options.chainsFile ?? inject('chainsFile'), 'utf8')) as ChainsFile
  const folder = await mkdtemp(join(tmpdir(), 'swapyard-scenario-'))
  const database = await createDatabase(inject('databaseUrl'), inject('databaseTemplate'))
  const keystore = join(folder, 'keystore.json')
  const server = options.server ?? { createApp: createApp, networks: definitions }
  await createQuickKeystore(keystore, 'a passphrase', coinTypes)
  const journalPath = join(folder, 'signed.log')
  const signer = await openSigner({
    path: keystore,
    passphrase: 'a passphrase',
    journalPath,
    signWith: createSigning('sandbox'),
    coinTypeOf: (network) => server.networks.find(({ id }) => id === network)?.coinType ?? 60,
  })
  const swaps = options.swaps && offerOf(chains, options)
  const nodes = chains.networks.filter(({ network }) => options.networks.includes(network))
  const app = await server.createApp({
    environment: 'sandbox',
    databaseUrl: database.url,
    // Every network is watched by a loop of its own.
    poolMax: Math.max(10, 2 * options.networks.length),
    nodes,
    publicKeys: openPublicKeys(keystore),
    signer,
    walletFolder: join(folder, 'wallets'),
    pepper,
    prices: options.prices ?? createEmbeddedPrices({ now: Date.now, still: options.still ?? true }),
    spreads: defaultSpreads,
    settings: { ...appSettings, ...options.settings },
    denied: options.denied ?? [],
    ...(swaps === undefined ? {} : { swaps }),
    rateLimit: false,
    api: { publicUrl: 'http://127.0.0.1', sandboxControlUrl: chains.controlUrl },
    log: options.log ?? createLog({ level: process.env['WORLD_LOG'] === undefined ? 'silent' : 'info', pretty: false }),
    metrics: createMetrics({ defaults: false }),
  })
  await seedSandboxPartners(app.database, pepper)
  let workers: Loop | null = await app.startWorkers()
  await answers(app)
  const funding = { app, controlUrl: chains.controlUrl, say: () => undefined, usd: FUNDS_USD }
  await (await fundSandbox(funding)).later
  const url = await app.http.listen({ host: '127.0.0.1', port: 0 })
  const trouble = async () =>
    JSON.stringify({ pauses: await app.store.pauses.list(), alarms: await app.store.alarms.list(20) })
  const calls = createCalls(url, chains.controlUrl, trouble)
  return {
    app,
    url,
    chains,
    feeAddress: swaps?.settings?.feeAddresses?.values().next().value ?? null,
    hotKey: (network) => {
      const { coinType = 60, hotIndex = 0 } = server.networks.find(({ id }) => id === network) ?? {}
      return signer.walletKey(coinType, hotIndex)
    },
    journal: () => readFileSync(journalPath, 'utf8'),
    ...calls,
    stopWorkers: async () => {
      await workers?.stop()
      workers = null
    },
    startWorkers: async () => {
      workers ??= await app.startWorkers()
    },
    invariants: () => checkInvariants(app),
    stop: async () => {
      await app.http.close()
      await workers?.stop()
      await app.stop()
      await signer.close()
      await database.drop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** On a machine that other tests keep busy the loops' first connections take their time, and questions are refused until then. */
async function answers({ store }: App): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  const ask = () => store.ledger.balances('asset:wallet').catch((error: Error) => error)
  for (let said = await ask(); said instanceof Error; said = await ask()) if (Date.now() > deadline) throw said
}

function offerOf(chains: ChainsFile, { networks, swaps, swapNodes, aggregators }: ScenarioOptions): SwapOffer {
  const served = chains.networks.filter(({ network }) => networks.includes(network))
  const offer = sandboxSwaps(
    served.map((one) => {
      const node = swapNodes?.get(one.network)
      return node === undefined ? one : { ...one, rpcUrls: [node] }
    }),
  )
  // Of its own, so that what lies there is this scenario's.
  const own = `0x${randomBytes(20).toString('hex')}`
  const feeAddresses = new Map(networks.map((network) => [network, own]))
  const settings = { ...offer.settings, feeAddresses, ...swaps }
  return { ...offer, settings, ...(aggregators === undefined ? {} : { aggregators }) }
}

const TERMINAL = ['finished', 'failed', 'refunded']
const split = (currency: string): { ticker: string; network: string } => {
  const [ticker = '', network = ''] = currency.split('@')
  return { ticker, network }
}

/** `trouble`: what the app complains of, shown where a wait is in vain. */
function createCalls(url: string, controlUrl: string, trouble: () => Promise<string>) {
  /** A machine that other tests keep busy makes the app refuse work for a moment; a partner asks again. */
  function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return until('the app takes the request', async () => {
      const answer = await ask(method, path, body, headers)
      return answer.body?.code === 'OVERLOADED' ? null : answer
    })
  }
  async function ask(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Answer> {
    const json = body === undefined ? {} : { 'content-type': 'application/json' }
    const answer = await fetch(url + path, {
      method,
      headers: { 'x-api-key': 'sandbox', ...json, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return {
      status: answer.status,
      body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text,
      headers: answer.headers,
    }
  }
  async function control(path: string, body: unknown): Promise<Json> {
    const answer = await fetch(controlUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return answer.json()
  }
  async function until<T>(
    what: string,
    look: () => Promise<T | null | undefined | false>,
    timeoutMs = PATIENCE_MS,
  ): Promise<T> {
    return lookUntil(what, look, { timeoutMs, explain: trouble })
  }
  const status = async ({ id }: Json): Promise<Json> =>
    (await call('GET', `/v1/cross-chain/exchange/status?id=${id}`)).body.exchange
  const wallet = (network: string) => control('/wallets', { network })
  return {
    call,
    control,
    until,
    status,
    wallet,
    rate: async (from: string, to: string, amount: string, flow = 'standard') => {
      const [a, b] = [split(from), split(to)]
      const query = new URLSearchParams({
        fromCurrency: a.ticker,
        fromNetwork: a.network,
        toCurrency: b.ticker,
        toNetwork: b.network,
        amount,
        flow,
      })
      const answer = await call('GET', `/v1/cross-chain/rate?${query}`)
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      return answer.body
    },
    create: async ({ from, to, amount, flow = 'standard', ...rest }: OrderInput) => {
      const [a, b] = [split(from), split(to)]
      const address = rest.address ?? (await wallet(b.network)).address
      const answer = await call('POST', '/v1/cross-chain/exchange', {
        fromCurrency: a.ticker,
        fromNetwork: a.network,
        toCurrency: b.ticker,
        toNetwork: b.network,
        fromAmount: amount,
        flow,
        ...rest,
        address,
      })
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
      return answer.body
    },
    deposit: async ({ request }: Json, amount: string, currency?: string) => {
      const { ticker, network } =
        currency === undefined ? { ticker: request.fromCurrency, network: request.fromNetwork } : split(currency)
      return (await control('/deposits', { network, currency: ticker, address: request.depositAddress, amount })).hash
    },
    balance: async (currency: string, address: string) => {
      const { ticker, network } = split(currency)
      const answer = await fetch(`${controlUrl}/balance?${new URLSearchParams({ network, currency: ticker, address })}`)
      return ((await answer.json()) as { amount: string }).amount
    },
    mine: async (network: string, count: number) => void (await control('/blocks', { network, count })),
    reorg: async (network: string, depth: number, drop = false) =>
      void (await control('/reorgs', { network, depth, drop })),
    mining: async (network: string, paused: boolean) => void (await control('/mining', { network, paused })),
    settles: (exchange: Json, wanted: string, timeoutMs?: number) =>
      until(
        `exchange ${exchange.id} is ${wanted}`,
        async () => {
          const now = await status(exchange)
          if (now.status === wanted) return now
          if (TERMINAL.includes(now.status) && !(now.status === 'failed' && wanted === 'refunded'))
            throw new Error(`exchange is ${now.status}, not ${wanted}: ${JSON.stringify(now)}`)
          return null
        },
        timeoutMs,
      ),
  }
}
