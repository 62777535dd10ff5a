import { type AssetId, nativeId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import { accounts } from '../../core/domain/ledger/entries.ts'
import { refused } from '../../core/services/audit-note.ts'
import { freeCapitalOf, type MaxNetworkFees } from '../../exchange/domain/free-capital.ts'
import type { InventoryStore } from '../../exchange/ports/store/inventory.ts'
import type { Grouping, Period, ReportPlace, ReportStore } from '../../exchange/ports/store/reports.ts'
import { decimalsOf, formatSigned, listedCurrency, showAmount } from '../actions/lookup.ts'
import type { AdminStores } from '../ports/admin-store.ts'
import { explorerUrl } from './explorer-links.ts'
import { type Query, type ReadContext, type ReadsOf, requireLive, toPlain, whole } from './read.ts'

const DAY_MS = 86_400_000
const ROWS_MAX = 10_000
const FAULTS_MAX = 1_000
const MISSING_MAX = 10_000

export const moneyReads: ReadsOf<
  | 'wallets'
  | 'trialBalance'
  | 'ledgerFaults'
  | 'ledgerEntries'
  | 'reconciliation'
  | 'revenue'
  | 'costs'
  | 'missingPayouts'
> = {
  wallets: (context) => readWallets(context),
  trialBalance: async ({ store }, query) => {
    const rows = await store.store.reports.trialBalance(readPeriod(query))
    if (rows.length > ROWS_MAX) throw refused(`more than ${ROWS_MAX} rows: name a shorter period`)
    return whole(await presentReport(store, rows))
  },
  async ledgerFaults({ store }) {
    const faults = await store.store.reconciliation.ledgerFaults(FAULTS_MAX)
    return { faults: faults.length, list: toPlain(faults) }
  },
  ledgerEntries: async ({ store }, { exchangeId = '' }) => whole(await store.lists.entries(exchangeId)),
  reconciliation: (context) => readReconciliation(context),
  revenue: ({ store }, query) => readGroups(store, query, store.store.reports.revenue),
  costs: ({ store }, query) => readGroups(store, query, store.store.reports.costs),
  async missingPayouts({ store }) {
    const missing = await store.store.signingJournal.listMissing(MISSING_MAX)
    const rows = missing.map(({ network, txHash, payoutId, ...detail }) => ({
      ...{ network, txHash, payoutId, detail: toPlain(detail) },
    }))
    return whole(rows)
  },
}

async function readWallets({ store, deps, live }: ReadContext) {
  const { inventory, ledger } = store.store
  const available = await inventory.available()
  const hot = new Map([...deps.addresses()].map(([network, { addresses }]) => [network, addresses.hot()]))
  const rows = []
  for (const [id, held] of await ledger.balances(accounts.wallet)) {
    const { decimals, network } = listedCurrency(id)
    const show = (units: bigint) => formatSigned(units, decimals)
    const address = hot.get(network) ?? null
    rows.push({
      ...{ currency: id, held: show(held), available: show(available.get(id) ?? 0n) },
      ...(await readCapital(inventory, id, deps.maxFeesOf(network))),
      ...{ address, addressUrl: address && explorerUrl(live, network, 'address', address) },
    })
  }
  return whole(rows)
}

/** What the treasury may withdraw, and why it is not more. */
async function readCapital(inventory: Pick<InventoryStore, 'capital'>, id: AssetId, fees: MaxNetworkFees) {
  const { units, feeUnits, missingFeeUnits } = freeCapitalOf(id, await inventory.capital(id, fees), fees)
  const { decimals } = listedCurrency(id)
  return {
    freeCapital: formatSigned(units, decimals),
    keptForFees: formatSigned(id === fees.native ? feeUnits : 0n, decimals),
    missingFees: missingFeeUnits > 0n ? showAmount(missingFeeUnits, fees.native) : null,
  }
}

type ReportRow = Readonly<{ assetId: AssetId; [column: string]: string | number | bigint | null }>
type GroupRow = ReportRow & ReportPlace

/** A page of a report by groups. Each page reads the whole period. */
async function readGroups(
  store: AdminStores,
  query: Query,
  read: (...parameters: Parameters<ReportStore['revenue']>) => Promise<readonly GroupRow[]>,
) {
  const { by = 'day', cursor } = query
  const after = cursor === undefined ? null : readPlace(cursor)
  const rows = await read(readPeriod(query), by as Grouping, ROWS_MAX + 1, after)
  const shown = rows.slice(0, ROWS_MAX)
  const last = rows.length > ROWS_MAX ? shown.at(-1) : undefined
  return { data: await presentReport(store, shown), next: last === undefined ? null : toCursor(last) }
}

/** The asset, and on the next line the group if there is one. */
const toCursor = ({ group, assetId }: ReportPlace): string =>
  Buffer.from(group === null ? assetId : `${assetId}\n${group}`).toString('base64url')

function readPlace(cursor: string): ReportPlace {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [assetId, ...lines] = text.split('\n')
  if (!isAssetId(assetId) || text.includes('\0'))
    throw new AppError('VALIDATION_ERROR', 'cursor is not one of this list: use `next` of a page', { field: 'cursor' })
  return { group: lines.length === 0 ? null : lines.join('\n'), assetId }
}

const isAssetId = (text: string | undefined): text is AssetId => /^[^@]+@[^@]+$/.test(text ?? '')

/** Members of type bigint are base units of the row's asset. */
async function presentReport(store: AdminStores, rows: readonly ReportRow[]) {
  const decimals = new Map<AssetId, number>()
  for (const { assetId } of rows) if (!decimals.has(assetId)) decimals.set(assetId, await decimalsOf(store, assetId))
  return rows.map(({ assetId, ...row }) => ({
    ...Object.fromEntries(
      Object.entries(row).map(([column, value]) => [
        column,
        typeof value === 'bigint' ? formatSigned(value, decimals.get(assetId) ?? 0) : value,
      ]),
    ),
    currency: assetId,
  }))
}

function readPeriod(query: Query): Period {
  const [from, to] = [readDay(query, 'from'), readDay(query, 'to')]
  if (to < from) throw new AppError('VALIDATION_ERROR', 'to is before from', { field: 'to' })
  return { from, to: new Date(to.getTime() + DAY_MS) }
}

function readDay(query: Query, name: 'from' | 'to'): Date {
  const text = query[name] ?? ''
  const day = new Date(`${text}T00:00:00Z`)
  if (Number.isNaN(day.getTime()) || !day.toISOString().startsWith(text))
    throw new AppError('VALIDATION_ERROR', `${name} must be a day, for example 2026-11-01`, { field: name })
  return day
}

const ALARMS_PER_KIND = 1_000
/** Alarms about what the chains hold. */
const DIFFERENCES = /^(difference|missing|unswept|unseen|intrusion|ledger):/

async function readReconciliation(context: ReadContext) {
  const { store } = context
  const { networks } = requireLive(context)
  const alarms = (await store.store.alarms.list(ALARMS_PER_KIND)).filter(({ subject }) => DIFFERENCES.test(subject))
  const rows = []
  for (const { id, symbol } of networks) {
    const native = nativeId({ id, symbol })
    for (const { assetId, low, high } of await store.store.reconciliation.positions(id, native)) {
      const { decimals } = listedCurrency(assetId)
      const concerned = alarms.filter(({ subject }) => subject.includes(assetId) || subject.endsWith(`:${id}`))
      rows.push({
        ...{ network: id, currency: assetId, low: formatSigned(low, decimals), high: formatSigned(high, decimals) },
        alarms: toPlain(concerned),
      })
    }
  }
  return whole(rows)
}
