import { parseUnits } from '../../core/domain/amount.ts'
import { AppError } from '../../core/domain/errors.ts'
import { decisions } from '../../exchange/domain/lifecycle.ts'
import { listHeld } from '../../exchange/operations/operate-exchanges.ts'
import { type DecidablePayout, listPayoutActs } from '../../exchange/operations/operate-payouts.ts'
import { present } from '../../lib/assert.ts'
import { decisionMeanings } from '../actions/exchange-actions.ts'
import { forecastPayment } from '../actions/forecast-payment.ts'
import { findCurrency, findNetwork, listedCurrency } from '../actions/lookup.ts'
import type { Rows } from '../ports/lists.ts'
import { coins } from './coins.ts'
import { readExchangeDetails, toLinks } from './exchange-details.ts'
import { explorerUrl } from './explorer-links.ts'
import { type Query, type ReadContext, type ReadsOf, requireLive, toPage, whole } from './read.ts'
import type { Sums } from './sums.ts'

export const exchangeReads: ReadsOf<
  'overview' | 'exchanges' | 'exchange' | 'held' | 'decisions' | 'payouts' | 'queue' | 'unclaimed'
> = {
  overview: (context) => readOverview(context),
  exchanges: ({ store, deps }, query) => {
    const { find, status = null, partner = null } = query
    const filter = {
      find: find === undefined ? null : deps.encodingsOf(find.trim()),
      status,
      partner,
      from: readFrom(query),
    }
    return store.lists.exchanges(filter, toPage(query))
  },
  exchange: (context, { id = '' }) => readExchangeDetails(context, id),
  async held({ store, live }, query) {
    const page = withTxUrls(await store.lists.held(toPage(query)), live)
    const actions = Object.fromEntries(
      Object.entries(decisionMeanings).map(([name, text]) => [`exchanges-${name}`, text]),
    )
    return { ...page, data: page.data.map((row) => ({ ...row, actions })) }
  },
  decisions: (context, query) => readDecisions(context, query),
  async payouts({ store, live }, query) {
    const filter = { state: query['state'] ?? null, isHeld: query['attention'] === 'held' }
    return presentPayouts(await store.lists.payouts(filter, toPage(query)), live)
  },
  queue: async ({ store, live }, { network = '', ...query }) =>
    presentPayouts(await store.lists.queue(findNetwork(network), toPage(query)), live),
  unclaimed: async ({ store, live }, query) => withTxUrls(await store.lists.unclaimed(toPage(query)), live),
}

/** What each decision about a held deposit would do now. Empty if the deposit is not held, or several are. */
async function readDecisions({ store, deps }: ReadContext, { exchangeId = '', deposit }: Query): Promise<Rows> {
  const [held, ...others] = await listHeld(store.store, exchangeId, deposit ?? null)
  if (held === undefined || others.length > 0) return whole([])
  const rows: Rows['data'][number][] = []
  for (const decision of decisions)
    rows.push({
      ...{ action: `exchanges-${decision}`, meaning: decisionMeanings[decision] },
      ...(await forecastPayment({ store: store.store, deps }, exchangeId, held, decision)),
    })
  return whole(rows)
}

function readFrom({ currency, amount }: Query) {
  if (currency === undefined) {
    if (amount === undefined) return null
    throw new AppError('VALIDATION_ERROR', 'amount needs currency', { field: 'amount' })
  }
  const id = findCurrency(currency)
  const definition = listedCurrency(id)
  const units = amount === undefined ? null : parseUnits(amount, { ...definition, id })
  return { currency: definition.ticker, network: definition.network, units }
}

async function readOverview(context: ReadContext) {
  const { store, sums } = context
  const live = requireLive(context)
  await sums.refresh(store)
  const { lastDay, revenue } = present(sums.value(), 'the sums')
  const waiting = await store.lists.waiting()
  const alarms = { critical: 0, warning: 0, info: 0 }
  for (const { severity, count } of await store.store.alarms.count()) alarms[severity] += count
  const cursors = await store.lists.cursors()
  return {
    openByStatus: Object.fromEntries(await store.store.reconciliation.openByStatus()),
    oldestStepAt: waiting.oldestStepAt,
    heldExecutions: waiting.executions,
    heldPayouts: waiting.payouts,
    openRequests: waiting.requests,
    alarms,
    pauses: (await store.store.pauses.list()).length,
    networks: Object.fromEntries(cursors.map(({ network, lagSeconds }) => [network, lagSeconds])),
    created24h: sum(lastDay.hours.map(({ created }) => created)),
    finished24h: sum(lastDay.hours.map(({ finished }) => finished)),
    hours: fillHours(lastDay.hours, live.now()),
    volume24h: Object.fromEntries(lastDay.volume.map(({ assetId, units }) => [assetId, coins(units, assetId)])),
    revenueToday: revenue,
    readiness: live.readiness(),
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

type Hour = Sums['lastDay']['hours'][number]
const HOUR_MS = 3_600_000

/** Hours without an exchange are listed too. */
function fillHours(hours: readonly Hour[], now: number): readonly Hour[] {
  const found = new Map(hours.map((hour) => [hour.at.getTime(), hour]))
  const last = Math.floor(now / HOUR_MS) * HOUR_MS
  return Array.from({ length: 25 }, (_, n) => {
    const at = last - (24 - n) * HOUR_MS
    return found.get(at) ?? { at: new Date(at), created: 0, finished: 0 }
  })
}

type Part = Readonly<Record<string, unknown>>

const networkOf = ({ network, currency }: Part): string => String(network ?? String(currency).split('@').at(-1))

const withTxUrls = (page: Rows, live: ReadContext['live']): Rows => ({
  ...page,
  data: page.data.map((row) => ({ ...row, txUrl: explorerUrl(live, networkOf(row), 'tx', String(row['txHash'])) })),
})

/** With what an operator can decide, and with pages at explorers. */
const presentPayouts = (page: Rows, live: ReadContext['live']): Rows => ({
  ...page,
  data: page.data.map(({ postponed, ...row }) => ({
    ...row,
    acts: listPayoutActs({ ...row, postponed, isReversed: row['reversed'] } as DecidablePayout).map(
      (act) => `payouts-${act}`,
    ),
    addressUrl: explorerUrl(live, networkOf(row), 'address', String(row['address'])),
    links: toLinks((row['txHashes'] ?? []) as readonly string[], networkOf(row), live),
  })),
})
