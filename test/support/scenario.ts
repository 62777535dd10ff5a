import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callOnce } from '@swapyard/lib/json-rpc.ts'
import { until as waitUntil } from '@swapyard/lib/until.ts'
import { inject } from 'vitest'
import { networks as definitions } from '../../server/networks/index.ts'
import { moneroDefaults } from '../../server/src/adapters/chains/monero/defaults.ts'
import { type Database, openDatabase } from '../../server/src/adapters/postgres/core/database.ts'
import { createEmbeddedPrices } from '../../server/src/adapters/prices/embedded.ts'
import { openPublicKeys, openSigner } from '../../server/src/adapters/signers/keystore.ts'
import { createPayeeMacs } from '../../server/src/adapters/signers/payee-macs.ts'
import { openAddresses } from '../../server/src/app/addresses.ts'
import { type App, type AppOptions, createApp, prepareDatabase } from '../../server/src/app/app.ts'
import { createSigning } from '../../server/src/app/chains.ts'
import { coinTypes } from '../../server/src/app/keys.ts'
import { createMetrics } from '../../server/src/app/metrics.ts'
import type { ChainsFile } from '../../server/src/app/sandbox-chains.ts'
import { fundSandbox } from '../../server/src/app/sandbox-funding.ts'
import { seedSandboxPartners } from '../../server/src/app/sandbox-partners.ts'
import { type SwapOffer, sandboxSwaps } from '../../server/src/app/swaps.ts'
import { defaultSpreads } from '../../server/src/core/domain/book.ts'
import type { Prices } from '../../server/src/core/ports/prices.ts'
import { present } from '../../server/src/lib/assert.ts'
import { createLog, type Log } from '../../server/src/lib/log.ts'
import type { Loop } from '../../server/src/lib/loop.ts'
import { appSettings } from './app-settings.ts'
import { createDatabase } from './database.ts'
import { readEvmBalance, readEvmReceived } from './evm-balance.ts'
import { answeredDeposits, type NodeBalances } from './holdings.ts'
import { checkInvariants } from './invariants.ts'
import { createQuickKeystore } from './keystore.ts'
import { readMoneroOutputs, readRestoreHeight, sumReceived } from './monero-wallet.ts'
import { PATIENCE_MS, POOL_WAIT_MS } from './patience.ts'
import { type CallNode, listUnspent, readHighestIndex, readUtxoReceived, sumUnits } from './utxo-wallets.ts'

const USD = 10n ** 12n
/** Initial balance of each currency. The sandbox bank has litecoin worth 1.3 million USD for all scenarios together. */
const FUNDS_USD = 25_000n * USD
export const pepper = Buffer.from('a pepper of the test scenarios')

export type ScenarioOptions = Readonly<{
  /** Networks of this scenario. Fewer networks start faster. */
  networks: readonly string[]
  /** Path of chains.json. Default: the chains of the whole run. */
  chainsFile?: string
  settings?: Partial<AppOptions['settings']>
  /** Freezes the prices, so that tests can compare amounts. Default: true. */
  still?: boolean
  /** Prices that the test controls. */
  prices?: Prices
  denied?: readonly string[]
  /** Turns swaps on and overrides the sandbox's swap settings. */
  swaps?: SwapOffer['settings']
  /** RPC URLs for swaps by network, in place of the chains' nodes. */
  swapNodes?: ReadonlyMap<string, string>
  /** Aggregators for comparison with own quotes. */
  aggregators?: SwapOffer['aggregators']
  /** Parts of a modified copy of the server, in place of the checkout's. */
  server?: ServerParts
  log?: Log
}>

export type ServerParts = Readonly<{
  createApp: typeof createApp
  openAddresses: typeof openAddresses
  networks: typeof definitions
}>

// biome-ignore lint/suspicious/noExplicitAny: tests read API responses without types, as a partner's script does
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

/** Parts of the checkout's server. */
export const checkoutServer: ServerParts = { createApp, openAddresses, networks: definitions }

/** A whole app on the shared chains with its own database, keys and wallets. Tests act as a partner and as a customer. */
export type Scenario = Readonly<{
  app: App
  /** Connections of the test, so that it waits for none of the app's and takes none from it. */
  database: Database
  url: string
  chains: ChainsFile
  /** Address that receives the operator's swap fees; null without swaps. */
  feeAddress: string | null
  /** Returns the private key of a network's hot wallet, as a thief of the keystore would have it. */
  hotKey(network: string): Uint8Array
  /** Reads the text of the signer's journal. */
  readJournal(): string
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  rate(from: string, to: string, amount: string, flow?: 'standard' | 'fixed-rate'): Promise<Json>
  /** Creates an exchange and asserts 201. The default recipient is a new wallet on the target network. */
  create(order: OrderInput): Promise<Json>
  /** Pays the deposit address from the sandbox bank. The default currency is the exchange's; another example is `usdc@eth`. */
  deposit(exchange: Json, amount: string, currency?: string): Promise<string>
  wallet(network: string): Promise<{ address: string; privateKey: string }>
  balance(currency: string, address: string): Promise<string>
  control(path: string, body: unknown): Promise<Json>
  mine(network: string, count: number): Promise<void>
  reorg(network: string, depth: number, drop?: boolean): Promise<void>
  /** Pauses or resumes automatic mining. */
  setMiningPaused(network: string, paused: boolean): Promise<void>
  status(exchange: Json): Promise<Json>
  /** Polls until the exchange has the status. Fails at once if it has another terminal status. */
  waitForStatus(exchange: Json, status: string, timeoutMs?: number): Promise<Json>
  until<T>(what: string, find: () => Promise<T | null | undefined | false>, timeoutMs?: number): Promise<T>
  stopWorkers(): Promise<void>
  startWorkers(): Promise<void>
  /**
   * See `checkInvariants` in invariants.ts. `unrecorded`: units of assets that the app's addresses hold and the ledger must not
   * have, because no event or call shows them, or because they are locked.
   */
  checkInvariants(unrecorded?: ReadonlyMap<string, bigint>): Promise<void>
  stop(): Promise<void>
}>

export async function startScenario(options: ScenarioOptions): Promise<Scenario> {
  const chains = JSON.parse(readFileSync(options.chainsFile ?? inject('chainsFile'), 'utf8')) as ChainsFile
  const folder = await mkdtemp(join(tmpdir(), 'swapyard-scenario-'))
  const database = await createDatabase(inject('databaseUrl'), inject('databaseTemplate'))
  const keystore = join(folder, 'keystore.json')
  const server = options.server ?? checkoutServer
  await createQuickKeystore(keystore, 'a passphrase', coinTypes)
  const journalPath = join(folder, 'signed.log')
  const addresses = server.openAddresses({ environment: 'sandbox', keystore: { file: keystore } })
  const signer = await openSigner({
    path: keystore,
    macs: createPayeeMacs(pepper),
    passphrase: 'a passphrase',
    journalPath,
    signWith: createSigning('sandbox'),
    coinTypeOf: (network) => server.networks.find(({ id }) => id === network)?.coinType ?? 60,
    addressesOf: (network) => addresses.get(network)?.addresses ?? null,
  })
  const swaps = options.swaps && createSwapOffer(chains, options)
  const nodes = chains.networks.filter(({ network }) => options.networks.includes(network))
  const monero = nodes.find(({ network }) => network === 'xmr')?.rpcUrls[0]
  const restoreHeight = monero === undefined ? 0 : await readRestoreHeight(monero)
  const log =
    options.log ?? createLog({ level: process.env['SCENARIO_LOG'] === undefined ? 'silent' : 'info', pretty: false })
  const connection = {
    environment: 'sandbox',
    databaseUrl: database.url,
    // Every network has its own watcher loop.
    poolMax: Math.max(10, 2 * options.networks.length),
    poolWaitMs: POOL_WAIT_MS,
    log,
  } as const
  const app = await server.createApp({
    ...connection,
    database: await prepareDatabase(database.url, connection),
    nodes,
    publicKeys: openPublicKeys(keystore),
    signer,
    walletFolder: join(folder, 'wallets'),
    walletSettings: { ...moneroDefaults, restoreHeight },
    pepper,
    prices: options.prices ?? createEmbeddedPrices({ now: Date.now, still: options.still ?? true }),
    spreads: defaultSpreads,
    settings: { ...appSettings, ...options.settings },
    denied: options.denied ?? [],
    ...(swaps === undefined ? {} : { swaps }),
    rateLimit: false,
    // The partner and the checks of a test share the app's event loop, so its delay says nothing about the app. What sheds
    // load by that delay is tested in lifecycle.test.ts; each other refusal fails the test.
    api: { publicUrl: 'http://127.0.0.1', sandboxControlUrl: chains.controlUrl, overload: null },
    metrics: createMetrics({ defaults: false }),
  })
  await seedSandboxPartners(app.database, pepper)
  let workers: Loop | null = await app.startWorkers()
  const funding = { app, controlUrl: chains.controlUrl, say: () => undefined, usd: FUNDS_USD }
  await (await fundSandbox(funding)).later
  const url = await app.http.listen({ host: '127.0.0.1', port: 0 })
  const describeTrouble = async () =>
    JSON.stringify({ pauses: await app.store.pauses.list(), alarms: await app.store.alarms.list(20) })
  const hotKey = (network: string) => {
    const { coinType = 60, hotIndex = 0 } = server.networks.find(({ id }) => id === network) ?? {}
    return signer.walletKey(coinType, hotIndex)
  }
  const rpcUrlOf = (network: string) =>
    present(chains.networks.find((node) => node.network === network)?.rpcUrls[0], `a node of ${network}`)
  const callerOf =
    (network: string): CallNode =>
    (method, params) =>
      callOnce(rpcUrlOf(network), method, params)
  const readWalletOutputs = async () => {
    const viewKeys = openPublicKeys(keystore).viewKeys?.(128)
    const highestIndex = await readHighestIndex(app.database, 'xmr')
    return readMoneroOutputs({
      viewKeys: present(viewKeys, 'view keys of Monero'),
      seedKey: hotKey('xmr'),
      daemonUrl: rpcUrlOf('xmr'),
      highestIndex,
      restoreHeight,
    })
  }
  const nodeBalances: NodeBalances = {
    outputs: async (network, ownAddresses) =>
      sumUnits(
        network === 'xmr'
          ? await readWalletOutputs()
          : await listUnspent(callerOf(network), network === 'ltc' ? 'ltc' : 'btc', ownAddresses),
      ),
    account: (network, address, contract) => readEvmBalance(callerOf(network), address, contract),
    async received(network, payment) {
      const { txHash, address, contract } = payment
      if (network === 'xmr') return sumReceived(await readWalletOutputs(), payment)
      if (network === 'btc' || network === 'ltc') return readUtxoReceived(callerOf(network), network, txHash, address)
      return readEvmReceived(callerOf(network), txHash, address, contract)
    },
  }
  const calls = createCalls(url, chains.controlUrl, describeTrouble)
  const ownDatabase = openDatabase(database.url, {
    max: 4,
    waitMs: POOL_WAIT_MS,
    applicationName: 'scenario',
    onIdleError: () => undefined,
  })
  return {
    app,
    database: ownDatabase,
    url,
    chains,
    feeAddress: swaps?.settings?.feeAddresses?.values().next().value ?? null,
    hotKey,
    readJournal: () => readFileSync(journalPath, 'utf8'),
    ...calls,
    stopWorkers: async () => {
      await workers?.stop()
      workers = null
    },
    startWorkers: async () => {
      workers ??= await app.startWorkers()
    },
    checkInvariants: (unrecorded) =>
      checkInvariants(app, nodeBalances, answeredDeposits(app, nodeBalances, calls.listDepositAddresses, unrecorded)),
    stop: async () => {
      await app.http.close()
      await workers?.stop()
      await app.stop()
      await signer.close()
      await ownDatabase.close()
      await database.drop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function createSwapOffer(chains: ChainsFile, { networks, swaps, swapNodes, aggregators }: ScenarioOptions): SwapOffer {
  const served = chains.networks.filter(({ network }) => networks.includes(network))
  const offer = sandboxSwaps(
    served.map((entry) => {
      const rpcUrl = swapNodes?.get(entry.network)
      return rpcUrl === undefined ? entry : { ...entry, rpcUrls: [rpcUrl] }
    }),
  )
  // Each scenario has its own address, so that it receives no fees of other scenarios.
  const feeAddress = `0x${randomBytes(20).toString('hex')}`
  const feeAddresses = new Map(networks.map((network) => [network, feeAddress]))
  const settings = { ...offer.settings, feeAddresses, ...swaps }
  return { ...offer, settings, ...(aggregators === undefined ? {} : { aggregators }) }
}

const TERMINAL = ['finished', 'failed', 'refunded']
const splitCurrency = (currency: string): { ticker: string; network: string } => {
  const [ticker = '', network = ''] = currency.split('@')
  return { ticker, network }
}

/** `describeTrouble`: pauses and alarms of the app, shown when a wait times out. */
function createCalls(url: string, controlUrl: string, describeTrouble: () => Promise<string>) {
  const depositAddresses: { network: string; address: string }[] = []
  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const json = body === undefined ? {} : { 'content-type': 'application/json' }
    const answer = await fetch(url + path, {
      method,
      headers: { 'x-api-key': 'sandbox', ...json, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    const received: Json = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text
    const { fromNetwork, depositAddress } = received.request ?? received.exchange?.request ?? {}
    if (depositAddress) depositAddresses.push({ network: fromNetwork, address: depositAddress })
    return { status: answer.status, body: received, headers: answer.headers }
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
    find: () => Promise<T | null | undefined | false>,
    timeoutMs = PATIENCE_MS,
  ): Promise<T> {
    return waitUntil(what, find, { timeoutMs, explain: describeTrouble })
  }
  const status = async ({ id }: Json): Promise<Json> =>
    (await call('GET', `/v1/cross-chain/exchange/status?id=${id}`)).body.exchange
  const wallet = (network: string) => control('/wallets', { network })
  return {
    /** Deposit addresses of a network that the API has returned. */
    listDepositAddresses: (network: string): readonly string[] =>
      depositAddresses.filter((one) => one.network === network).map(({ address }) => address),
    call,
    control,
    until,
    status,
    wallet,
    rate: async (from: string, to: string, amount: string, flow = 'standard') => {
      const [source, target] = [splitCurrency(from), splitCurrency(to)]
      const query = new URLSearchParams({
        fromCurrency: source.ticker,
        fromNetwork: source.network,
        toCurrency: target.ticker,
        toNetwork: target.network,
        amount,
        flow,
      })
      const answer = await call('GET', `/v1/cross-chain/rate?${query}`)
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      return answer.body
    },
    create: async ({ from, to, amount, flow = 'standard', ...rest }: OrderInput) => {
      const [source, target] = [splitCurrency(from), splitCurrency(to)]
      const address = rest.address ?? (await wallet(target.network)).address
      const answer = await call('POST', '/v1/cross-chain/exchange', {
        fromCurrency: source.ticker,
        fromNetwork: source.network,
        toCurrency: target.ticker,
        toNetwork: target.network,
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
        currency === undefined
          ? { ticker: request.fromCurrency, network: request.fromNetwork }
          : splitCurrency(currency)
      return (await control('/deposits', { network, currency: ticker, address: request.depositAddress, amount })).hash
    },
    balance: async (currency: string, address: string) => {
      const { ticker, network } = splitCurrency(currency)
      const answer = await fetch(`${controlUrl}/balance?${new URLSearchParams({ network, currency: ticker, address })}`)
      return ((await answer.json()) as { amount: string }).amount
    },
    mine: async (network: string, count: number) => void (await control('/blocks', { network, count })),
    reorg: async (network: string, depth: number, drop = false) =>
      void (await control('/reorgs', { network, depth, drop })),
    setMiningPaused: async (network: string, paused: boolean) => void (await control('/mining', { network, paused })),
    waitForStatus: (exchange: Json, expected: string, timeoutMs?: number) =>
      until(
        `exchange ${exchange.id} is ${expected}`,
        async () => {
          const now = await status(exchange)
          if (now.status === expected) return now
          if (TERMINAL.includes(now.status) && !(now.status === 'failed' && expected === 'refunded'))
            throw new Error(`exchange is ${now.status}, not ${expected}: ${JSON.stringify(now)}`)
          return null
        },
        timeoutMs,
      ),
  }
}
