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
import { createLog, type Log } from '../../server/src/lib/log.ts'
import { startLoop } from '../../server/src/lib/loop.ts'
import { createMemoryChain } from '../../server/test/memory-chain/chain.ts'
import { createMemoryKeys } from '../../server/test/memory-chain/keys.ts'
import { createMemoryNetwork } from '../../server/test/memory-chain/network.ts'
import { signMemory } from '../../server/test/memory-chain/transaction.ts'
import { appSettings } from './app-settings.ts'
import { createQuickKeystore } from './keystore.ts'
import { until } from './until.ts'

/** Units of one ether and of one BNB. */
const WHOLE = 10n ** 18n
const BLOCK_MS = 200

export type MemoryOrder = Readonly<{ id: string; deposit: string; recipient: string }>
type OpenOptions = Readonly<{ databaseUrl: string; journal?: string; log?: Log }>

/** Two running chains and one keystore. A test opens apps on them one after another, each with its own database and journal. */
export type MemoryCluster = Readonly<{
  words: string
  keystore: string
  passphrase: string
  pepper: Buffer
  open(options: OpenOptions): Promise<{ app: App; stop(): Promise<void> }>
  /** Waits until the app watches the chains, and funds its hot wallets. */
  fund(app: App): Promise<void>
  /** Creates an exchange of 0.1 ether on `eth` to BNB on `bsc`. */
  order(app: App): Promise<MemoryOrder>
  pay(order: MemoryOrder): void
  received(app: App, order: MemoryOrder): Promise<bigint>
  stop(): Promise<void>
}>

export async function startMemoryCluster(name: string): Promise<MemoryCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'swapyard-memory-cluster-'))
  const [keystore, passphrase, pepper] = [
    join(folder, 'keystore.json'),
    `a passphrase of ${name}`,
    Buffer.from(`a pepper of ${name}`),
  ]
  const words = await createQuickKeystore(keystore, passphrase, [60])
  const served = definitions.filter(({ id }) => id === 'eth' || id === 'bsc')
  const memoryNetworks = new Map(
    served.map((definition) => {
      const network = resolveNetwork(definition, 'sandbox')
      return [network.id, createMemoryNetwork({ network, seed: `${name} ${network.id}` })] as const
    }),
  )
  const mining = startLoop({
    paceMs: BLOCK_MS,
    backoffMs: BLOCK_MS,
    turn: async () => {
      for (const memoryNetwork of memoryNetworks.values()) memoryNetwork.mine()
      return undefined
    },
    onError: () => undefined,
  })
  const stops: (() => Promise<void>)[] = []
  const shared = { folder, keystore, passphrase, pepper, memoryNetworks }
  return {
    words,
    keystore,
    passphrase,
    pepper,
    open: async (options) => {
      const opened = await openApp(shared, options)
      stops.push(opened.stop)
      return opened
    },
    fund: async ({ store, services, chains }) => {
      for (const [network, chain] of chains) {
        await until(`${network} is watched`, async () => (await store.chainLog.cursor(network)) !== null)
        memoryNetworks.get(network)?.pay({ address: chain.addresses.hot(), units: 1_000n * WHOLE })
      }
      await until('the app is ready', async () => services.readiness().length === 0)
    },
    ...createCustomers(name, memoryNetworks),
    stop: async () => {
      for (const stop of stops.splice(0).reverse()) await stop()
      await mining.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

type MemoryNetworks = ReadonlyMap<string, ReturnType<typeof createMemoryNetwork>>
type SharedParts = Readonly<{
  folder: string
  keystore: string
  passphrase: string
  pepper: Buffer
  memoryNetworks: MemoryNetworks
}>

function createCustomers(
  name: string,
  memoryNetworks: MemoryNetworks,
): Pick<MemoryCluster, 'order' | 'pay' | 'received'> {
  const keys = createMemoryKeys(`customers of ${name}`)
  let count = 0
  return {
    order: async ({ services }) => {
      const { partner } = await services.authenticate(sandboxKeys[0], '127.0.0.1')
      const memoryNetwork = memoryNetworks.get('bsc')
      if (!memoryNetwork) throw new Error('the network bsc is missing')
      const { addresses } = createMemoryChain({ network: memoryNetwork.network, memoryNetwork, publicKeys: keys })
      const recipient = addresses.deposit(count++).address
      const pair = { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'bnb', toNetwork: 'bsc' }
      const { exchange } = await services.createExchange(
        partner,
        { ...pair, fromAmount: '0.1', flow: 'standard', address: recipient },
        null,
      )
      return { id: exchange.id, deposit: exchange.deposit.address, recipient }
    },
    pay: ({ deposit }) => void memoryNetworks.get('eth')?.pay({ address: deposit, units: WHOLE / 10n }),
    received: async ({ chains }, { recipient }) => {
      const bnb = { id: 'bnb@bsc', ticker: 'bnb', network: 'bsc', decimals: 18, contract: null } as const
      return (await chains.get('bsc')?.reader.balance(recipient, bnb)) ?? 0n
    },
  }
}

async function openApp({ folder, keystore, passphrase, pepper, memoryNetworks }: SharedParts, options: OpenOptions) {
  const publicKeys = openPublicKeys(keystore)
  const signer = await openSigner({
    path: keystore,
    macs: createPayeeMacs(pepper),
    passphrase,
    journalPath: join(folder, options.journal ?? 'signed.log'),
    signWith: { evm: signMemory },
    coinTypeOf: () => 60,
    addressesOf: (network) => chains.get(network)?.addresses ?? null,
  })
  const chains = new Map(
    [...memoryNetworks].map(([id, memoryNetwork]) => [
      id,
      createMemoryChain({ network: memoryNetwork.network, memoryNetwork, publicKeys }),
    ]),
  )
  const level = process.env['SCENARIO_LOG'] === undefined ? 'silent' : 'info'
  const app = await createApp({
    environment: 'sandbox',
    databaseUrl: options.databaseUrl,
    poolMax: 10,
    nodes: [...chains.keys()].map((network) => ({ network, rpcUrls: [], tokens: {} })),
    chains,
    publicKeys,
    signer,
    pepper,
    prices: createEmbeddedPrices({ now: Date.now, still: true }),
    spreads: defaultSpreads,
    settings: appSettings,
    denied: [],
    rateLimit: false,
    // Injected requests occupy the event loop. The chains in memory have no control server.
    api: { publicUrl: 'http://127.0.0.1', overload: null, sandboxControlUrl: 'http://127.0.0.1:9' },
    log: options.log ?? createLog({ level, pretty: false }),
    metrics: createMetrics({ defaults: false }),
  })
  await seedSandboxPartners(app.database, pepper)
  const workers = await app.startWorkers()
  let stopped = false
  const stop = async () => {
    if (stopped) return
    stopped = true
    await workers.stop()
    await app.stop()
    await signer.close()
  }
  return { app, stop }
}

export async function isFinished({ database }: App, { id }: MemoryOrder): Promise<boolean> {
  const [row] = await database.query<{ status: string }>('select status from exchanges where id = $1', [id])
  return row?.status === 'finished'
}
