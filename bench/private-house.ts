import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { networks as definitions } from '../server/networks/index.ts'
import { createEmbeddedPrices } from '../server/src/adapters/prices/embedded.ts'
import { createKeystore, openPublicKeys, openSigner } from '../server/src/adapters/signers/keystore.ts'
import { type App, createApp, sandboxKeys } from '../server/src/app/app.ts'
import { createSigning } from '../server/src/app/chains.ts'
import { coinTypes } from '../server/src/app/keys.ts'
import { createMetrics } from '../server/src/app/metrics.ts'
import type { ChainsFile } from '../server/src/app/sandbox-chains.ts'
import { fundSandbox } from '../server/src/app/sandbox-funding.ts'
import { seedSandboxPartners } from '../server/src/app/sandbox-partners.ts'
import { defaultSpreads } from '../server/src/core/domain/book.ts'
import type { Partner } from '../server/src/core/domain/partner.ts'
import { createLog } from '../server/src/lib/log.ts'
import { serve, settingsOf } from './processes.ts'

/*
 * One worker with the sandbox's own nodes, which takes private exchanges of ether for bitcoin through Monero from their
 * creation until each is paid. Its Monero wallet begins with one output, and keeps as many as it is told from the first
 * payment on, which is not counted.
 */
export type PrivateHouseSettings = Readonly<{
  databaseUrl: string
  chainsFile: string
  count: number
  outputsReady: number
}>
export type PrivateFigures = Readonly<{
  seconds: number
  /** From the first payment between two legs to the last, signed. */
  signingSeconds: number
  transactions: number
  /** Of that time: how much the queue of Monero stood because no output was unlocked. */
  waitingShare: number
}>

const USD = 10n ** 12n
const FUNDS_USD = 200_000n * USD
const XMR = '300'
const AMOUNT = '0.02'
const pair = { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'btc', toNetwork: 'btc' }
const EVERY_MS = 250
const LOOK_MS = 200
const DEADLINE_MS = 300_000
const pepper = Buffer.from('a pepper of the benchmarks')

const settings = settingsOf<PrivateHouseSettings>()
const chains = JSON.parse(readFileSync(settings.chainsFile, 'utf8')) as ChainsFile
const folder = await mkdtemp(join(tmpdir(), 'swapyard-bench-private-'))
const { house, close } = await open()
serve((await measure(house)) satisfies PrivateFigures, close)

async function open(): Promise<{ house: App; close(): Promise<void> }> {
  const keystore = join(folder, 'keystore.json')
  await createKeystore(keystore, 'a passphrase', coinTypes)
  const signer = await openSigner({
    path: keystore,
    passphrase: 'a passphrase',
    journalPath: join(folder, 'signed.log'),
    signWith: createSigning('sandbox'),
    coinTypeOf: (network) => definitions.find(({ id }) => id === network)?.coinType ?? 60,
  })
  const opened = await createApp({
    environment: 'sandbox',
    databaseUrl: settings.databaseUrl,
    poolMax: 10,
    nodes: chains.networks,
    publicKeys: openPublicKeys(keystore),
    signer,
    walletFolder: join(folder, 'wallets'),
    walletSettings: { restoreHeight: 0, outputsReady: settings.outputsReady },
    pepper,
    prices: createEmbeddedPrices({ now: Date.now, still: true }),
    spreads: defaultSpreads,
    settings: {
      rateIdMs: 60_000,
      fixedLockMs: 1_200_000,
      expiryMs: 86_400_000,
      stuckMs: 600_000,
      limits: { perTransactionUsd: 10n ** 6n * USD, hourUsd: 10n ** 8n * USD, dayUsd: 10n ** 8n * USD },
      privacy: { delayMaxMs: 2_000, withheldMaxPpm: 10_000, stallMs: 21_600_000 },
    },
    denied: [],
    rateLimit: false,
    api: { publicUrl: 'http://127.0.0.1' },
    log: createLog({ level: 'info', pretty: false }),
    metrics: createMetrics({ defaults: false }),
  })
  await seedSandboxPartners(opened.database, pepper)
  const workers = await opened.startWorkers()
  await fund(opened)
  return {
    house: opened,
    close: async () => {
      await workers.stop()
      await opened.stop()
      await signer.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Of Monero one output, where the sandbox's operator would bring several. */
async function fund(opened: App): Promise<void> {
  const { store } = opened
  await until('Monero is watched', async () => (await store.chainLog.cursor('xmr')) !== null)
  await deposit('xmr', opened.chains.get('xmr')?.addresses.hot() ?? '', XMR)
  await control('/blocks', { network: 'xmr', count: 10 })
  await until('its funds are counted', async () => (await store.ledger.balance('asset:wallet', 'xmr@xmr')) > 0n)
  await fundSandbox({ app: opened, controlUrl: chains.controlUrl, say: () => undefined, usd: FUNDS_USD })
}

async function measure(opened: App): Promise<PrivateFigures> {
  const { services } = opened
  const { partner } = await services.authenticate(sandboxKeys[0], '127.0.0.1')
  await until('private exchanges are on offer', async () => {
    try {
      services.quotePrivate(partner, { ...pair, amount: AMOUNT, privateType: 'privatePlus' })
      return true
    } catch {
      return false
    }
  })
  // Its change is what is kept ready from then on, and is unlocked when it is paid.
  await exchange(opened, partner, 1)
  return exchange(opened, partner, settings.count)
}

async function exchange({ services, database, store }: App, partner: Partner, count: number): Promise<PrivateFigures> {
  const recipients = await Promise.all(Array.from({ length: count }, () => control('/wallets', { network: 'btc' })))
  const [row] = await database.query<{ at: Date }>('select clock_timestamp() as at')
  const startedAt = performance.now()
  for (const { address } of recipients) {
    const { exchange } = await services.createPrivateExchange(
      partner,
      { ...pair, fromAmount: AMOUNT, privateType: 'privatePlus', address: String(address) },
      null,
    )
    await deposit('eth', exchange.deposit.address, AMOUNT)
    await delay(EVERY_MS)
  }
  let [looks, waits] = [0, 0]
  await until('all are paid', async () => {
    looks++
    if ((await store.alarms.list(100)).some(({ subject }) => subject === 'wallet:xmr')) waits++
    const open = await database.query("select 1 from exchanges where status <> 'finished' limit 1")
    return open.length === 0
  })
  const seconds = (performance.now() - startedAt) / 1_000
  const [signed] = await database.query<{ transactions: number; seconds: string }>(
    `select count(*)::int as transactions, extract(epoch from max(created_at) - min(created_at))::text as seconds
     from transactions where network = 'xmr' and created_at >= $1`,
    [row?.at],
  )
  return {
    seconds,
    signingSeconds: Number(signed?.seconds),
    transactions: signed?.transactions ?? 0,
    waitingShare: waits / looks,
  }
}

function deposit(network: string, address: string, amount: string): Promise<unknown> {
  return control('/deposits', { network, currency: 'native', address, amount })
}

async function control(path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(chains.controlUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
  return (await answer.json()) as Record<string, unknown>
}

async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS
  // A busy machine's database does not answer at times.
  while (!(await look().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`not within ${DEADLINE_MS} ms: ${what}`)
    await delay(LOOK_MS)
  }
}
