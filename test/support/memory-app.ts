import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { networks as definitions } from '../../server/networks/index.ts'
import { createEmbeddedPrices } from '../../server/src/adapters/prices/embedded.ts'
import { openPublicKeys, openSigner } from '../../server/src/adapters/signers/keystore.ts'
import { createPayeeMacs } from '../../server/src/adapters/signers/payee-macs.ts'
import { type App, createApp, sandboxKeys } from '../../server/src/app/app.ts'
import { createMetrics } from '../../server/src/app/metrics.ts'
import { seedSandboxPartners } from '../../server/src/app/sandbox-partners.ts'
import { defaultSpreads } from '../../server/src/core/domain/book.ts'
import { resolveNetwork } from '../../server/src/core/domain/network.ts'
import type { Chain } from '../../server/src/exchange/ports/chain.ts'
import type { ServiceSettings } from '../../server/src/exchange/settings.ts'
import { createLog } from '../../server/src/lib/log.ts'
import { startLoop } from '../../server/src/lib/loop.ts'
import { createMemoryChain } from '../../server/test/memory-chain/chain.ts'
import { createMemoryKeys } from '../../server/test/memory-chain/keys.ts'
import { createMemoryNetwork, type MemoryNetwork } from '../../server/test/memory-chain/network.ts'
import { signMemory } from '../../server/test/memory-chain/transaction.ts'
import { appSettings } from './app-settings.ts'
import { createQuickKeystore } from './keystore.ts'
import { PATIENCE_MS } from './patience.ts'
import { until } from './until.ts'

/** Units of one ether and of one BNB. */
const WHOLE = 10n ** 18n
/** Initial balance of each hot wallet: far more than any run pays out. */
const FUNDS = 100_000n * WHOLE
/** Number of concurrent create requests. */
const CONCURRENT_CREATES = 32
const pepper = Buffer.from('a pepper of the memory app')

export type MemoryApp = Readonly<{
  app: App
  /** By network: `eth` and `bsc`. */
  memoryNetworks: ReadonlyMap<string, MemoryNetwork>
  /** Creates and pays `count` exchanges of ether on `eth` to BNB on `bsc`, and waits until all are finished. */
  run(count: number): Promise<{
    count: number
    seconds: number
    recipients: readonly string[]
    depositAddresses: readonly string[]
  }>
  stop(): Promise<void>
}>

export type MemoryAppOptions = Readonly<{
  /** An empty database on a real cluster. */
  databaseUrl: string
  /** Time between two blocks of either chain. */
  blockMs?: number
  /** Default: those of tests. */
  settings?: ServiceSettings
}>

/**
 * Starts the whole app with all services, loops and jobs on two chains in this process, to measure an exchange without
 * nodes and networks.
 */
export async function startMemoryApp({
  databaseUrl,
  blockMs = 200,
  settings = appSettings,
}: MemoryAppOptions): Promise<MemoryApp> {
  const folder = await mkdtemp(join(tmpdir(), 'swapyard-memory-app-'))
  const keystore = join(folder, 'keystore.json')
  await createQuickKeystore(keystore, 'a passphrase', [60])
  const publicKeys = openPublicKeys(keystore)
  const signer = await openSigner({
    path: keystore,
    macs: createPayeeMacs(pepper),
    passphrase: 'a passphrase',
    journalPath: join(folder, 'signed.log'),
    signWith: { evm: signMemory },
    coinTypeOf: () => 60,
    addressesOf: (network) => chains.get(network)?.addresses ?? null,
  })
  const memoryNetworks = new Map<string, MemoryNetwork>()
  const chains = new Map<string, Chain>()
  for (const definition of definitions.filter(({ id }) => id === 'eth' || id === 'bsc')) {
    const network = resolveNetwork(definition, 'sandbox')
    const memoryNetwork = createMemoryNetwork({ network, seed: network.id })
    memoryNetworks.set(network.id, memoryNetwork)
    chains.set(network.id, createMemoryChain({ network, memoryNetwork, publicKeys }))
  }
  const app = await createApp({
    environment: 'sandbox',
    databaseUrl,
    poolMax: 10,
    nodes: [...chains.keys()].map((network) => ({ network, rpcUrls: [], tokens: {} })),
    chains,
    publicKeys,
    signer,
    pepper,
    prices: createEmbeddedPrices({ now: Date.now, still: true }),
    spreads: defaultSpreads,
    settings,
    denied: [],
    rateLimit: false,
    // Requests of tests are few; the chains of this process occupy its event loop.
    api: { publicUrl: 'http://127.0.0.1', overload: null },
    log: createLog({ level: process.env['SCENARIO_LOG'] === undefined ? 'silent' : 'info', pretty: false }),
    metrics: createMetrics({ defaults: false }),
  })
  await seedSandboxPartners(app.database, pepper)
  const workers = await app.startWorkers()
  const mining = startLoop({
    paceMs: blockMs,
    backoffMs: blockMs,
    turn: async () => {
      for (const memoryNetwork of memoryNetworks.values()) memoryNetwork.mine()
      return undefined
    },
    onError: () => undefined,
  })
  await fund(app, memoryNetworks)
  return {
    app,
    memoryNetworks,
    run: (count) => runExchanges(app, memoryNetworks, count),
    stop: async () => {
      await workers.stop()
      await mining.stop()
      await app.stop()
      await signer.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Waits for the watchers before paying, because they follow a chain from its current head on. */
async function fund(
  { store, services, chains }: App,
  memoryNetworks: ReadonlyMap<string, MemoryNetwork>,
): Promise<void> {
  await until('both chains are watched', async () => {
    const cursors = await Promise.all([...chains.keys()].map((network) => store.chainLog.cursor(network)))
    return cursors.every((cursor) => cursor !== null)
  })
  for (const [network, chain] of chains)
    memoryNetworks.get(network)?.pay({ address: chain.addresses.hot(), units: FUNDS })
  await until('the app is ready', async () => services.readiness().length === 0)
}

async function runExchanges(
  { services, database }: App,
  memoryNetworks: ReadonlyMap<string, MemoryNetwork>,
  count: number,
): ReturnType<MemoryApp['run']> {
  const { partner } = await services.authenticate(sandboxKeys[0], '127.0.0.1')
  const [row] = await database.query<{ at: Date }>('select clock_timestamp() as at')
  const since = row?.at ?? new Date(0)
  const recipients = deriveAddresses(memoryNetworks.get('bsc'), `recipients since ${since.getTime()}`, count)
  const depositAddresses: string[] = []
  const startedAt = performance.now()
  let next = 0
  const customers = Array.from({ length: CONCURRENT_CREATES }, async () => {
    for (let n = next++; n < count; n = next++) {
      const { exchange } = await services.createExchange(
        partner,
        {
          fromCurrency: 'eth',
          fromNetwork: 'eth',
          toCurrency: 'bnb',
          toNetwork: 'bsc',
          fromAmount: '0.1',
          flow: 'standard',
          address: recipients[n] ?? '',
        },
        null,
      )
      depositAddresses.push(exchange.deposit.address)
      memoryNetworks.get('eth')?.pay({ address: exchange.deposit.address, units: WHOLE / 10n })
    }
  })
  await Promise.all(customers)
  await until(
    `${count} exchanges are finished`,
    async () => {
      const rows = await database.query<{ status: string; count: number }>(
        'select status, count(*)::int as count from exchanges where created_at >= $1 group by 1',
        [since],
      )
      const unsuccessful = rows.filter(({ status }) => status === 'failed' || status === 'refunded')
      if (unsuccessful.length > 0) throw new Error(`exchanges failed: ${JSON.stringify(rows)}`)
      return rows.find(({ status }) => status === 'finished')?.count === count
    },
    PATIENCE_MS + count * 200,
  )
  return { count, seconds: (performance.now() - startedAt) / 1000, recipients, depositAddresses }
}

function deriveAddresses(memoryNetwork: MemoryNetwork | undefined, seed: string, count: number): readonly string[] {
  if (!memoryNetwork) throw new Error('the network bsc is missing')
  const { addresses } = createMemoryChain({
    network: memoryNetwork.network,
    memoryNetwork,
    publicKeys: createMemoryKeys(seed),
  })
  return Array.from({ length: count }, (_, n) => addresses.deposit(n).address)
}
