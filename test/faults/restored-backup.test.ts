import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { networks as definitions } from '../../server/networks/index.ts'
import { createMemoryChain } from '../../server/src/adapters/memory/chain.ts'
import { createMemoryKeys } from '../../server/src/adapters/memory/keys.ts'
import { signMemory } from '../../server/src/adapters/memory/transaction.ts'
import { createMemoryWorld } from '../../server/src/adapters/memory/world.ts'
import { createEmbeddedPrices } from '../../server/src/adapters/prices/embedded.ts'
import { createKeystore, openPublicKeys, openSigner } from '../../server/src/adapters/signers/keystore.ts'
import { seedSandboxPartners } from '../../server/src/cli/sandbox-partners.ts'
import { composeHouse, sandboxKeys } from '../../server/src/compose.ts'
import { defaultSpreads } from '../../server/src/domain/book.ts'
import { resolveNetwork } from '../../server/src/domain/network.ts'
import { createLog } from '../../server/src/lib/log.ts'
import { type Loop, startLoop } from '../../server/src/lib/loop.ts'
import { createMetrics } from '../../server/src/lib/metrics.ts'
import { importDepartures } from '../../server/src/services/import-departures.ts'
import { createDatabase } from '../support/database.ts'

const USD = 10n ** 12n
const COIN = 10n ** 18n
const DEADLINE_MS = 60_000
const pepper = Buffer.from('a pepper of the restored house')
/** What two runs of the backup's copying have between them. */
let folder: string
let mining: Loop
let live: Awaited<ReturnType<typeof createDatabase>>
const opened: (() => Promise<unknown>)[] = []

const worlds = new Map(
  definitions
    .filter(({ id }) => id === 'eth' || id === 'bsc')
    .map((definition) => {
      const network = resolveNetwork(definition, 'sandbox')
      return [network.id, createMemoryWorld({ network, seed: `restored ${network.id}` })] as const
    }),
)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'swapyard-restored-'))
  await createKeystore(join(folder, 'keystore.json'), 'a passphrase', [60])
  live = await createDatabase(inject('databaseUrl'))
  mining = startLoop({
    paceMs: 200,
    backoffMs: 200,
    turn: async () => {
      for (const world of worlds.values()) world.mine()
      return undefined
    },
    onError: () => undefined,
  })
})
afterAll(async () => {
  await mining.stop()
  for (const close of opened.splice(0).reverse()) await close()
  await live.drop()
  await rm(folder, { recursive: true, force: true })
})

/** One worker with a journal of its own; `journal` names its file. */
async function openHouse(databaseUrl: string, journal = 'signed.log') {
  const keystore = join(folder, 'keystore.json')
  const publicKeys = openPublicKeys(keystore)
  const signer = await openSigner({
    path: keystore,
    passphrase: 'a passphrase',
    journalPath: join(folder, journal),
    signWith: { evm: signMemory },
    coinTypeOf: () => 60,
  })
  const chains = new Map(
    [...worlds].map(([id, world]) => [id, createMemoryChain({ network: world.network, world, publicKeys })]),
  )
  const house = await composeHouse({
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
    settings: {
      rateIdMs: 60_000,
      fixedLockMs: 1_200_000,
      expiryMs: 86_400_000,
      stuckMs: 60_000,
      limits: { perTransactionUsd: 10n ** 6n * USD, hourUsd: 10n ** 8n * USD, dayUsd: 10n ** 8n * USD },
    },
    denied: [],
    rateLimit: false,
    api: { publicUrl: 'http://127.0.0.1' },
    log: createLog({ level: process.env['WORLD_LOG'] === undefined ? 'silent' : 'info', pretty: false }),
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
  opened.push(stop)
  return { house, stop }
}

type Open = Awaited<ReturnType<typeof openHouse>>['house']

async function until<T>(what: string, look: () => Promise<T | null | undefined | false>): Promise<T> {
  const deadline = Date.now() + DEADLINE_MS
  for (;;) {
    const found = await look()
    if (found) return found
    if (Date.now() > deadline) throw new Error(`not within ${DEADLINE_MS} ms: ${what}`)
    await delay(100)
  }
}

const fresh = createMemoryKeys('customers of the restored house')
let customers = 0

async function order({ services, chains }: Open) {
  const { partner } = await services.authenticate(sandboxKeys[0], '127.0.0.1')
  const world = worlds.get('bsc')
  if (!world || !chains.has('bsc')) throw new Error('no chain')
  const { addresses } = createMemoryChain({ network: world.network, world, publicKeys: fresh })
  const address = addresses.deposit(customers++).address
  const { exchange } = await services.createExchange(
    partner,
    {
      fromCurrency: 'eth',
      fromNetwork: 'eth',
      toCurrency: 'bnb',
      toNetwork: 'bsc',
      fromAmount: '0.1',
      flow: 'standard',
      address,
    },
    null,
  )
  return { id: exchange.id, deposit: exchange.deposit.address, recipient: address }
}

const pay = (address: string) => worlds.get('eth')?.pay({ address, units: COIN / 10n })

async function finished({ database }: Open, id: string): Promise<boolean> {
  const [row] = await database.query<{ status: string }>('select status from exchanges where id = $1', [id])
  return row?.status === 'finished'
}

async function received({ chains }: Open, address: string): Promise<bigint> {
  const bnb = { id: 'bnb@bsc', ticker: 'bnb', network: 'bsc', decimals: 18, contract: null } as const
  return (await chains.get('bsc')?.reader.balance(address, bnb)) ?? 0n
}

/** A copy of the whole database as it is at this moment: the backup. */
async function copy(from: string): Promise<Awaited<ReturnType<typeof createDatabase>>> {
  const { url, drop } = await createDatabase(inject('databaseUrl'))
  const admin = new pg.Client({ connectionString: inject('databaseUrl') })
  await admin.connect()
  const name = (text: string) => new URL(text).pathname.slice(1)
  await admin.query(`drop database ${name(url)}`)
  await admin.query(`create database ${name(url)} template ${name(from)}`)
  await admin.end()
  opened.unshift(drop)
  return { url, drop }
}

const alarm = async ({ store }: Open) =>
  (await store.audit.alarms(100)).find(({ subject }) => subject === 'database:older')

test('F7: yesterday’s backup under the current journal pays nobody twice: payouts are held, and what is missing is listed', {
  timeout: 240_000,
}, async () => {
  const first = await openHouse(live.url)
  for (const [network, chain] of first.house.chains) {
    await until(`${network} is watched`, async () => (await first.house.store.chainLog.cursor(network)) !== null)
    worlds.get(network)?.pay({ address: chain.addresses.hot(), units: 1_000n * COIN })
  }
  await until('the house is ready', async () => first.house.services.readiness().length === 0)
  const early = await order(first.house)
  pay(early.deposit)
  await until('the early exchange is finished', () => finished(first.house, early.id))
  // Created before the backup, paid after it: the backup knows the address and neither deposit nor payout.
  const late = await order(first.house)
  await first.stop()
  const backup = await copy(live.url)

  const second = await openHouse(live.url)
  pay(late.deposit)
  await until('the late exchange is finished', () => finished(second.house, late.id))
  const paid = await received(second.house, late.recipient)
  expect(paid > 0n).toBe(true)
  const [sent] = await second.house.database.query<{ tx_hash: string; id: string }>(
    'select a.tx_hash, p.id from payouts p join attempts a on a.transaction_id = p.transaction_id where p.exchange_id = $1',
    [late.id],
  )
  await second.stop()

  const restored = await openHouse(backup.url)
  expect(await restored.house.store.audit.pauses()).toMatchObject([{ scope: 'payouts:all' }])
  const raised = await alarm(restored.house)
  expect(raised?.detail).toMatchObject({
    missing: expect.arrayContaining([expect.objectContaining({ txHash: sent?.tx_hash, address: late.recipient })]),
  })
  // The deposit is found again and asks for its payout again: under the same id.
  await until('the payout stands in the queue again', async () => {
    const rows = await restored.house.database.query('select 1 from payouts where id = $1', [sent?.id])
    return rows.length === 1
  })
  // Another worker, whose own journal knows nothing of it, is held by the same row.
  await restored.stop()
  const other = await openHouse(backup.url, 'another.log')
  const behind = await order(other.house)
  pay(behind.deposit)
  await until('the payout that the backup never saw waits as well', async () => {
    const rows = await other.house.database.query(
      "select 1 from payouts where exchange_id = $1 and state = 'reserved'",
      [behind.id],
    )
    return rows.length === 1
  })
  expect(
    await other.house.database.query("select 1 from payouts where exchange_id = any($1) and state <> 'reserved'", [
      [late.id, behind.id],
    ]),
  ).toEqual([])

  // What left is taken in again, and an operator ends the hold: all else goes on.
  await until('the payout is taken in', async () => {
    await importDepartures(other.house.store)
    const rows = await other.house.database.query("select 1 from payouts where id = $1 and state <> 'reserved'", [
      sent?.id,
    ])
    return rows.length === 1
  })
  await until('it is found on the chain', () => finished(other.house, late.id))
  await other.house.store.transaction(async (tx) => {
    await tx.signing.begin()
    for (const { scope } of await tx.audit.pauses()) await tx.controls.resume(scope)
    await tx.controls.clear('database:older')
  })
  await until('the payout of after the restore is made', () => finished(other.house, behind.id))
  expect(await received(other.house, late.recipient)).toBe(paid)
  await other.stop()
  // The signer of before is content again: its records are settled, and the new life is known.
  const back = await openHouse(backup.url)
  expect(await back.house.store.audit.pauses()).toEqual([])
  expect(await received(back.house, late.recipient)).toBe(paid)
})
