import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { networks as definitions } from '../../server/networks/index.ts'
import { createMemoryChain } from '../../server/src/adapters/chains/memory/chain.ts'
import { createMemoryKeys } from '../../server/src/adapters/chains/memory/keys.ts'
import { signMemory } from '../../server/src/adapters/chains/memory/transaction.ts'
import { createMemoryWorld, type MemoryWorld } from '../../server/src/adapters/chains/memory/world.ts'
import { createEmbeddedPrices } from '../../server/src/adapters/prices/embedded.ts'
import { openPublicKeys, openSigner } from '../../server/src/adapters/signers/keystore.ts'
import { type App, createApp, sandboxKeys } from '../../server/src/app/app.ts'
import { createMetrics } from '../../server/src/app/metrics.ts'
import { seedSandboxPartners } from '../../server/src/app/sandbox-partners.ts'
import { defaultSpreads } from '../../server/src/core/domain/book.ts'
import { resolveNetwork } from '../../server/src/core/domain/network.ts'
import type { Chain } from '../../server/src/exchange/ports/chain.ts'
import { createLog } from '../../server/src/lib/log.ts'
import { startLoop } from '../../server/src/lib/loop.ts'
import { houseSettings } from './house-settings.ts'
import { createQuickKeystore } from './keystore.ts'
import { PATIENCE_MS } from './patience.ts'

const COIN = 10n ** 18n
/** What each hot wallet starts with: far more than any run pays out. */
const FUNDS = 100_000n * COIN
const POLL_MS = 50
/** Creates in flight, as many partners' requests would be. */
const CREATES = 32
const pepper = Buffer.from('a pepper of the memory house')

export type MemoryHouse = Readonly<{
  house: App
  /** By network: `eth` and `bsc`. */
  worlds: ReadonlyMap<string, MemoryWorld>
  /** Takes so many exchanges of ether on `eth` for BNB on `bsc` from their creation until each is finished. */
  run(count: number): Promise<{ count: number; seconds: number; recipients: readonly string[] }>
  stop(): Promise<void>
}>

export type MemoryHouseOptions = Readonly<{
  /** An empty database on a real cluster. */
  databaseUrl: string
  /** Time between two blocks of either chain. */
  blockMs?: number
}>

/**
 * The whole house, with every service, loop and job that it runs with, on two chains in this process: what an exchange
 * costs the house alone, without nodes and networks.
 */
export async function startMemoryHouse({ databaseUrl, blockMs = 200 }: MemoryHouseOptions): Promise<MemoryHouse> {
  const folder = await mkdtemp(join(tmpdir(), 'swapyard-memory-house-'))
  const keystore = join(folder, 'keystore.json')
  await createQuickKeystore(keystore, 'a passphrase', [60])
  const publicKeys = openPublicKeys(keystore)
  const signer = await openSigner({
    path: keystore,
    passphrase: 'a passphrase',
    journalPath: join(folder, 'signed.log'),
    signWith: { evm: signMemory },
    coinTypeOf: () => 60,
  })
  const worlds = new Map<string, MemoryWorld>()
  const chains = new Map<string, Chain>()
  for (const definition of definitions.filter(({ id }) => id === 'eth' || id === 'bsc')) {
    const network = resolveNetwork(definition, 'sandbox')
    const world = createMemoryWorld({ network, seed: network.id })
    worlds.set(network.id, world)
    chains.set(network.id, createMemoryChain({ network, world, publicKeys }))
  }
  const house = await createApp({
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
    settings: houseSettings,
    denied: [],
    rateLimit: false,
    api: { publicUrl: 'http://127.0.0.1' },
    log: createLog({ level: process.env['WORLD_LOG'] === undefined ? 'silent' : 'info', pretty: false }),
    metrics: createMetrics({ defaults: false }),
  })
  await seedSandboxPartners(house.database, pepper)
  const workers = await house.startWorkers()
  const mining = startLoop({
    paceMs: blockMs,
    backoffMs: blockMs,
    turn: async () => {
      for (const world of worlds.values()) world.mine()
      return undefined
    },
    onError: () => undefined,
  })
  await fund(house, worlds)
  return {
    house,
    worlds,
    run: (count) => runExchanges(house, worlds, count),
    stop: async () => {
      await workers.stop()
      await mining.stop()
      await house.stop()
      await signer.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function until(what: string, look: () => Promise<boolean>, deadlineMs = PATIENCE_MS): Promise<void> {
  const deadline = Date.now() + deadlineMs
  while (!(await look())) {
    if (Date.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${what}`)
    await delay(POLL_MS)
  }
}

/** The watchers must have begun: they follow a chain from its head on. */
async function fund({ store, services, chains }: App, worlds: ReadonlyMap<string, MemoryWorld>): Promise<void> {
  await until('both chains are watched', async () => {
    const cursors = await Promise.all([...chains.keys()].map((network) => store.chainLog.cursor(network)))
    return cursors.every((cursor) => cursor !== null)
  })
  for (const [network, chain] of chains) worlds.get(network)?.pay({ address: chain.addresses.hot(), units: FUNDS })
  await until('the hot wallets are filled and prices are there', async () => services.readiness().length === 0)
}

async function runExchanges(
  { services, database }: App,
  worlds: ReadonlyMap<string, MemoryWorld>,
  count: number,
): ReturnType<MemoryHouse['run']> {
  const { partner } = await services.authenticate(sandboxKeys[0], '127.0.0.1')
  const [row] = await database.query<{ at: Date }>('select clock_timestamp() as at')
  const since = row?.at ?? new Date(0)
  const recipients = newAddresses(worlds.get('bsc'), `recipients since ${since.getTime()}`, count)
  const startedAt = performance.now()
  let next = 0
  const customers = Array.from({ length: CREATES }, async () => {
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
      worlds.get('eth')?.pay({ address: exchange.deposit.address, units: COIN / 10n })
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
      const bad = rows.filter(({ status }) => status === 'failed' || status === 'refunded')
      if (bad.length > 0) throw new Error(`exchanges ended otherwise: ${JSON.stringify(rows)}`)
      return rows.find(({ status }) => status === 'finished')?.count === count
    },
    PATIENCE_MS + count * 200,
  )
  return { count, seconds: (performance.now() - startedAt) / 1000, recipients }
}

function newAddresses(world: MemoryWorld | undefined, seed: string, count: number): readonly string[] {
  if (!world) throw new Error('no world')
  const { addresses } = createMemoryChain({ network: world.network, world, publicKeys: createMemoryKeys(seed) })
  return Array.from({ length: count }, (_, n) => addresses.deposit(n).address)
}
