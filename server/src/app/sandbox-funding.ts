import { formatUnits, scale } from '../core/domain/amount.ts'
import type { AssetId } from '../core/domain/asset.ts'
import type { Currency } from '../core/domain/currency.ts'
import { isUtxoFamily } from '../core/domain/network.ts'
import { unitsWorth } from '../core/domain/price.ts'
import { smallest } from '../lib/bigint.ts'
import type { App } from './app.ts'

/** Funding per currency, in US dollars scaled by 10^12. Limited by what a young regtest chain has mined. */
const FUNDS_USD = 5_000_000n * 10n ** 12n
const FUNDS_SCARCE_USD = 300_000n * 10n ** 12n
const SCARCE: readonly string[] = ['ltc', 'xmr']
/** UTXO families get several outputs, so that payouts do not wait for the change of earlier ones. */
const OUTPUTS = 5n
const READY_MS = 120_000
/** Alarms of each kind that the error of a late funding names. */
const ALARMS_MAX = 5
/** Currencies that need more confirmations than this (Monero: ten) are funded after the start. */
const CLOCK_BLOCKS = 3

export type FundSandbox = Readonly<{
  app: App
  controlUrl: string
  say(line: string): void
  /** US dollars scaled by 10^12 per currency. Apps on the same chains share one bank. */
  usd?: bigint
  /** Mines the confirmations instead of waiting for them. Only if no other app uses these chains. */
  mines?: boolean
  /** Aborts the wait for slow currencies. */
  signal?: AbortSignal
}>

/**
 * Funds empty hot wallets at the first start, as an operator would: real transfers, counted when confirmed. `later` resolves
 * when the slow currencies have arrived; until then they have no reserve, and the app is not ready.
 */
export async function fundSandbox(options: FundSandbox): Promise<{ later: Promise<void> }> {
  const { app, say } = options
  const { catalogue, chains, store, starting } = app
  const reason = 'the sandbox is funding the hot wallets'
  const held = await store.ledger.balances('asset:wallet')
  const empty = catalogue
    .list()
    .filter(({ enabled, asset }) => enabled && chains.has(asset.network) && (held.get(asset.id) ?? 0n) === 0n)
  const isSlow = ({ network }: Currency) => network.confirmations > CLOCK_BLOCKS
  const [slow, quick] = [empty.filter(isSlow), empty.filter((currency) => !isSlow(currency))]
  if (empty.length > 0) starting.add(reason)
  if (slow.length > 0) say(`wallets: ${namesOf(slow)} will follow`)
  const slowly = fill(options, slow)
  // `later` passes its error on, also while the others are funded.
  slowly.catch(() => undefined)
  if (quick.length > 0) {
    say(`wallets: funding ${quick.length} currencies`)
    await fill(options, quick)
  }
  // Not ready before: every enabled currency can then be paid out.
  const later = slowly.then(() => {
    starting.delete(reason)
    if (slow.length > 0 && !options.signal?.aborted) say(`wallets: ${namesOf(slow)} can be paid out as well`)
  })
  return { later }
}

const namesOf = (currencies: readonly Currency[]) => currencies.map(({ asset }) => asset.id).join(' ')

async function fill(
  { app, controlUrl, usd = FUNDS_USD, mines = false, signal }: FundSandbox,
  empty: readonly Currency[],
): Promise<void> {
  const { chains, books } = app
  const { prices } = books.current()
  const sent = new Map<AssetId, bigint>()
  const bringOne = async (currency: Currency) => {
    const units = await bring(
      controlUrl,
      currency,
      chains.get(currency.asset.network)?.addresses.hot() ?? '',
      prices.usd.get(currency.definition.priceKey)?.ask ?? 0n,
      SCARCE.includes(currency.asset.ticker) ? smallest(usd, FUNDS_SCARCE_USD) : usd,
    )
    sent.set(currency.asset.id, units)
  }
  const networks = Map.groupBy(empty, ({ network }) => network)
  await Promise.all(
    [...networks].map(async ([{ id, confirmations }, currencies]) => {
      await Promise.all(currencies.map(bringOne))
      // Ten Monero blocks take ten seconds.
      if (mines || confirmations > CLOCK_BLOCKS)
        await control(controlUrl, '/blocks', { network: id, count: confirmations })
    }),
  )
  const deadline = Date.now() + READY_MS
  let missing = await listMissing(app, sent)
  while (missing.length > 0) {
    if (signal?.aborted) return
    if (Date.now() > deadline) {
      const alarms = (await app.store.alarms.list(ALARMS_MAX)).map(({ subject, alarm }) => `; ${subject}: ${alarm}`)
      throw new Error(`funding did not arrive at the hot wallets: ${missing.join(' ')}${alarms.join('')}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
    missing = await listMissing(app, sent)
  }
}

/** What has not arrived whole, or does not count as a reserve yet. The outputs of a UTXO family may be in different blocks. */
async function listMissing({ store, books }: App, sent: ReadonlyMap<AssetId, bigint>): Promise<readonly AssetId[]> {
  const [held, stock] = await Promise.all([store.ledger.balances('asset:wallet'), store.inventory.fixedStock()])
  const counted = books.current().reserves.fixed
  return [...sent].flatMap(([id, units]) => {
    const hasArrived = units > 0n && (held.get(id) ?? 0n) >= units
    return hasArrived && counted?.get(id)?.freeUnits === stock.get(id)?.freeUnits ? [] : [id]
  })
}

/** Returns the units that it sent. */
async function bring(
  controlUrl: string,
  { asset, network }: Currency,
  address: string,
  price: bigint,
  usd: bigint,
): Promise<bigint> {
  if (price === 0n) return 0n
  const outputs = isUtxoFamily(network) ? OUTPUTS : 1n
  const units = scale(unitsWorth(usd, asset, price, 'down'), 1n, outputs, 'down')
  for (let n = 0n; n < outputs; n++) {
    await control(controlUrl, '/deposits', {
      network: asset.network,
      currency: asset.contract === null ? 'native' : asset.ticker,
      address,
      amount: formatUnits(units, asset.decimals),
    })
  }
  return units * outputs
}

async function control(controlUrl: string, path: string, body: Readonly<Record<string, unknown>>): Promise<void> {
  const answer = await fetch(controlUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  })
  if (!answer.ok) throw new Error(`sandbox control ${path} ${JSON.stringify(body)} failed: ${await answer.text()}`)
}
