import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../lib/src/until.ts'
import { networks as definitions } from '../server/networks/index.ts'
import { createEmbeddedPrices } from '../server/src/adapters/prices/embedded.ts'
import { createKeystore, openPublicKeys, openSigner } from '../server/src/adapters/signers/keystore.ts'
import { createPayeeMacs } from '../server/src/adapters/signers/payee-macs.ts'
import { openAddresses } from '../server/src/app/addresses.ts'
import { type App, createApp, sandboxKeys } from '../server/src/app/app.ts'
import { createSigning } from '../server/src/app/chains.ts'
import { toServiceSettings } from '../server/src/app/configured-app.ts'
import { coinTypes } from '../server/src/app/keys.ts'
import { createMetrics } from '../server/src/app/metrics.ts'
import type { ChainsFile } from '../server/src/app/sandbox-chains.ts'
import { fundSandbox } from '../server/src/app/sandbox-funding.ts'
import { seedSandboxPartners } from '../server/src/app/sandbox-partners.ts'
import { loadConfig } from '../server/src/config/load.ts'
import { defaultSpreads } from '../server/src/core/domain/book.ts'
import { AppError } from '../server/src/core/domain/errors.ts'
import type { Partner } from '../server/src/core/domain/partner.ts'
import { createLog } from '../server/src/lib/log.ts'
import { readSettings, serve } from './processes.ts'
import { PEPPER } from './seed-database.ts'

/*
 * One worker on the sandbox's nodes runs private exchanges of ether for bitcoin through Monero from creation to payment. Its Monero
 * wallet starts with one output. A first exchange, which is not counted, makes the wallet split its change into `outputsReady` outputs.
 */
export type PrivateWorkerSettings = Readonly<{
  databaseUrl: string
  chainsFile: string
  count: number
  outputsReady: number
}>
export type PrivateFigures = Readonly<{
  seconds: number
  /** Time between signing the first and the last payment between two legs. */
  signingSeconds: number
  transactions: number
  /** Share of the run in which payments in Monero waited because no output was unlocked. */
  blockedShare: number
}>

const FUNDS_USD = 200_000n * 10n ** 12n
const XMR_FUNDS = '300'
const AMOUNT = '0.02'
const pair = { fromCurrency: 'eth', fromNetwork: 'eth', toCurrency: 'btc', toNetwork: 'btc' }
const CREATE_INTERVAL_MS = 250
const POLL_MS = 200
/** Refusals of a private quote until the book has read the funds of the wallets. */
const codesBeforeFunds: ReadonlySet<string> = new Set(['PAIR_UNAVAILABLE', 'INSUFFICIENT_LIQUIDITY'])
const DEADLINE_MS = 300_000
const pepper = Buffer.from(PEPPER)

const settings = readSettings<PrivateWorkerSettings>()
const chains = JSON.parse(readFileSync(settings.chainsFile, 'utf8')) as ChainsFile
const folder = await mkdtemp(join(tmpdir(), 'swapyard-bench-private-'))
const { app, close } = await startApp()
serve((await measure(app)) satisfies PrivateFigures, close)

async function startApp(): Promise<{ app: App; close(): Promise<void> }> {
  const keystore = join(folder, 'keystore.json')
  await createKeystore(keystore, 'a passphrase', coinTypes)
  const addresses = openAddresses({ environment: 'sandbox', keystore: { file: keystore } })
  const signer = await openSigner({
    path: keystore,
    macs: createPayeeMacs(pepper),
    passphrase: 'a passphrase',
    journalPath: join(folder, 'signed.log'),
    signWith: createSigning('sandbox'),
    coinTypeOf: (network) => definitions.find(({ id }) => id === network)?.coinType ?? 60,
    addressesOf: (network) => addresses.get(network)?.addresses ?? null,
  })
  const app = await createApp({
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
    // Those of production, except that a leg is delayed by 2 s at most.
    settings: toServiceSettings(loadConfig({ SWAPYARD_DATA_DIR: folder })),
    denied: [],
    rateLimit: false,
    api: { publicUrl: 'http://127.0.0.1' },
    log: createLog({ level: 'info', pretty: false }),
    metrics: createMetrics({ defaults: false }),
  })
  await seedSandboxPartners(app.database, pepper)
  const workers = await app.startWorkers()
  await fundWallets(app)
  return {
    app,
    close: async () => {
      await workers.stop()
      await app.stop()
      await signer.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Funds the wallets as the sandbox does, but Monero with a single output. */
async function fundWallets(app: App): Promise<void> {
  const { store } = app
  await waitFor('the watcher follows Monero', async () => (await store.chainLog.cursor('xmr')) !== null)
  await simulateDeposit('xmr', app.chains.get('xmr')?.addresses.hot() ?? '', XMR_FUNDS)
  await postToSandbox('/blocks', { network: 'xmr', count: 10 })
  await waitFor(
    'the Monero deposit is credited',
    async () => (await store.ledger.balance('asset:wallet', 'xmr@xmr')) > 0n,
  )
  await fundSandbox({ app, controlUrl: chains.controlUrl, say: () => undefined, usd: FUNDS_USD })
}

async function measure(app: App): Promise<PrivateFigures> {
  const { services } = app
  const { partner } = await services.authenticate(sandboxKeys[0], '127.0.0.1')
  await waitFor('private exchanges are available', async () => {
    try {
      services.quotePrivate(partner, { ...pair, amount: AMOUNT, privateType: 'privatePlus' })
      return true
    } catch (error) {
      if (error instanceof AppError && (error.retryable || codesBeforeFunds.has(error.code))) return false
      throw error
    }
  })
  // The change of this payment provides the ready outputs. They are unlocked once the exchange is paid.
  await runExchanges(app, partner, 1)
  return runExchanges(app, partner, settings.count)
}

async function runExchanges(
  { services, database, store }: App,
  partner: Partner,
  count: number,
): Promise<PrivateFigures> {
  const recipients = await Promise.all(
    Array.from({ length: count }, () => postToSandbox('/wallets', { network: 'btc' })),
  )
  const [row] = await database.query<{ at: Date }>('select clock_timestamp() as at')
  const startedAt = performance.now()
  for (const { address } of recipients) {
    const { exchange } = await services.createPrivateExchange(
      partner,
      { ...pair, fromAmount: AMOUNT, privateType: 'privatePlus', address: String(address) },
      null,
    )
    await simulateDeposit('eth', exchange.deposit.address, AMOUNT)
    await delay(CREATE_INTERVAL_MS)
  }
  let [polls, blockedPolls] = [0, 0]
  await waitFor('all exchanges are paid', async () => {
    polls++
    if ((await store.alarms.list(100)).some(({ subject }) => subject === 'wallet:xmr')) blockedPolls++
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
    blockedShare: blockedPolls / polls,
  }
}

function simulateDeposit(network: string, address: string, amount: string): Promise<unknown> {
  return postToSandbox('/deposits', { network, currency: 'native', address, amount })
}

async function postToSandbox(path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(chains.controlUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
  return (await answer.json()) as Record<string, unknown>
}

/** A query may fail while the machine is overloaded. Every other failure ends the wait. */
function waitFor(what: string, check: () => Promise<boolean>): Promise<boolean> {
  const look = () =>
    check().catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'OVERLOADED') return false
      throw error
    })
  return until(what, look, { timeoutMs: DEADLINE_MS, intervalMs: POLL_MS })
}
