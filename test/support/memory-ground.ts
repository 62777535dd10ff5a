import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { networks as definitions } from '../../server/networks/index.ts'
import { createMemoryChain } from '../../server/src/adapters/chains/memory/chain.ts'
import { createMemoryKeys } from '../../server/src/adapters/chains/memory/keys.ts'
import { signMemory } from '../../server/src/adapters/chains/memory/transaction.ts'
import { createMemoryWorld } from '../../server/src/adapters/chains/memory/world.ts'
import { createEmbeddedPrices } from '../../server/src/adapters/prices/embedded.ts'
import { openPublicKeys, openSigner } from '../../server/src/adapters/signers/keystore.ts'
import { type App, createApp, sandboxKeys } from '../../server/src/app/app.ts'
import { createMetrics } from '../../server/src/app/metrics.ts'
import { seedSandboxPartners } from '../../server/src/app/sandbox-partners.ts'
import { defaultSpreads } from '../../server/src/core/domain/book.ts'
import { resolveNetwork } from '../../server/src/core/domain/network.ts'
import { createLog, type Log } from '../../server/src/lib/log.ts'
import { startLoop } from '../../server/src/lib/loop.ts'
import { houseSettings } from './house-settings.ts'
import { createQuickKeystore } from './keystore.ts'
import { until } from './until.ts'

const COIN = 10n ** 18n
const BLOCK_MS = 200

export type MemoryOrder = Readonly<{ id: string; deposit: string; recipient: string }>
type OpenOptions = Readonly<{ databaseUrl: string; journal?: string; log?: Log }>

/** Two chains that go on, and one keystore: houses are opened on them one after the other, each with a database and a journal. */
export type MemoryGround = Readonly<{
  words: string
  keystore: string
  passphrase: string
  pepper: Buffer
  open(options: OpenOptions): Promise<{ house: App; stop(): Promise<void> }>
  /** Waits until the house watches, and fills its hot wallets. */
  fund(house: App): Promise<void>
  /** A tenth of an ether on `eth` for BNB on `bsc`. */
  order(house: App): Promise<MemoryOrder>
  pay(order: MemoryOrder): void
  received(house: App, order: MemoryOrder): Promise<bigint>
  stop(): Promise<void>
}>

export async function startMemoryGround(name: string): Promise<MemoryGround> {
  const folder = await mkdtemp(join(tmpdir(), 'swapyard-memory-ground-'))
  const [keystore, passphrase, pepper] = [
    join(folder, 'keystore.json'),
    `a passphrase of ${name}`,
    Buffer.from(`a pepper of ${name}`),
  ]
  const words = await createQuickKeystore(keystore, passphrase, [60])
  const served = definitions.filter(({ id }) => id === 'eth' || id === 'bsc')
  const worlds = new Map(
    served.map((definition) => {
      const network = resolveNetwork(definition, 'sandbox')
      return [network.id, createMemoryWorld({ network, seed: `${name} ${network.id}` })] as const
    }),
  )
  const mining = startLoop({
    paceMs: BLOCK_MS,
    backoffMs: BLOCK_MS,
    turn: async () => {
      for (const world of worlds.values()) world.mine()
      return undefined
    },
    onError: () => undefined,
  })
  const stops: (() => Promise<void>)[] = []
  const ours = { folder, keystore, passphrase, pepper, worlds }
  return {
    words,
    keystore,
    passphrase,
    pepper,
    open: async (options) => {
      const opened = await openHouse(ours, options)
      stops.push(opened.stop)
      return opened
    },
    fund: async ({ store, services, chains }) => {
      for (const [network, chain] of chains) {
        await until(`${network} is watched`, async () => (await store.chainLog.cursor(network)) !== null)
        worlds.get(network)?.pay({ address: chain.addresses.hot(), units: 1_000n * COIN })
      }
      await until('the house is ready', async () => services.readiness().length === 0)
    },
    ...customers(name, worlds),
    stop: async () => {
      for (const stop of stops.splice(0).reverse()) await stop()
      await mining.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

type Worlds = ReadonlyMap<string, ReturnType<typeof createMemoryWorld>>
type Ours = Readonly<{ folder: string; keystore: string; passphrase: string; pepper: Buffer; worlds: Worlds }>

function customers(name: string, worlds: Worlds): Pick<MemoryGround, 'order' | 'pay' | 'received'> {
  const keys = createMemoryKeys(`customers of ${name}`)
  let count = 0
  return {
    order: async ({ services }) => {
      const { partner } = await services.authenticate(sandboxKeys[0], '127.0.0.1')
      const world = worlds.get('bsc')
      if (!world) throw new Error('no chain')
      const { addresses } = createMemoryChain({ network: world.network, world, publicKeys: keys })
      const recipient = addresses.deposit(count++).address
      const pair = { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'bnb', toNetwork: 'bsc' }
      const { exchange } = await services.createExchange(
        partner,
        { ...pair, fromAmount: '0.1', flow: 'standard', address: recipient },
        null,
      )
      return { id: exchange.id, deposit: exchange.deposit.address, recipient }
    },
    pay: ({ deposit }) => void worlds.get('eth')?.pay({ address: deposit, units: COIN / 10n }),
    received: async ({ chains }, { recipient }) => {
      const bnb = { id: 'bnb@bsc', ticker: 'bnb', network: 'bsc', decimals: 18, contract: null } as const
      return (await chains.get('bsc')?.reader.balance(recipient, bnb)) ?? 0n
    },
  }
}

async function openHouse({ folder, keystore, passphrase, pepper, worlds }: Ours, options: OpenOptions) {
  const publicKeys = openPublicKeys(keystore)
  const signer = await openSigner({
    path: keystore,
    passphrase,
    journalPath: join(folder, options.journal ?? 'signed.log'),
    signWith: { evm: signMemory },
    coinTypeOf: () => 60,
  })
  const chains = new Map(
    [...worlds].map(([id, world]) => [id, createMemoryChain({ network: world.network, world, publicKeys })]),
  )
  const level = process.env['WORLD_LOG'] === undefined ? 'silent' : 'info'
  const house = await createApp({
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
    settings: houseSettings,
    denied: [],
    rateLimit: false,
    api: { publicUrl: 'http://127.0.0.1' },
    log: options.log ?? createLog({ level, pretty: false }),
    metrics: createMetrics({ defaults: false }),
  })
  await seedSandboxPartners(house.database, pepper)
  const workers = await house.startWorkers()
  let stopped = false
  const stop = async () => {
    if (stopped) return
    stopped = true
    await workers.stop()
    await house.stop()
    await signer.close()
  }
  return { house, stop }
}

export async function isFinished({ database }: App, { id }: MemoryOrder): Promise<boolean> {
  const [row] = await database.query<{ status: string }>('select status from exchanges where id = $1', [id])
  return row?.status === 'finished'
}
