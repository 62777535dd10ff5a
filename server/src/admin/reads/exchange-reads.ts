import { parseUnits } from '../../core/domain/amount.ts'
import type { AssetId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import { present } from '../../lib/assert.ts'
import { decisionMeanings } from '../actions/exchange-actions.ts'
import { findCurrency, findNetwork, formatSigned, listedCurrency } from '../actions/lookup.ts'
import { explorerUrl } from './explorer-links.ts'
import { type Query, type ReadContext, type ReadsOf, requireLive, toPage, toPlain, whole } from './read.ts'

const QUEUE_MAX = 500

export const exchangeReads: ReadsOf<
  'overview' | 'exchanges' | 'exchange' | 'held' | 'payouts' | 'queue' | 'unclaimed'
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
  exchange: (context, { id = '' }) => readStory(context, id),
  async held({ store }, query) {
    const page = await store.lists.held(toPage(query))
    const actions = Object.fromEntries(
      Object.entries(decisionMeanings).map(([name, text]) => [`exchanges-${name}`, text]),
    )
    return { ...page, data: page.data.map((row) => ({ ...row, actions })) }
  },
  payouts: ({ store }, query) =>
    store.lists.payouts({ state: query['state'] ?? null, isHeld: query['attention'] === 'held' }, toPage(query)),
  queue: async ({ store }, { network = '' }) => whole(await store.lists.queue(findNetwork(network), QUEUE_MAX)),
  unclaimed: ({ store }, query) => store.lists.unclaimed(toPage(query)),
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
    created24h: lastDay.created,
    finished24h: lastDay.finished,
    volume24h: Object.fromEntries(lastDay.volume.map(({ assetId, units }) => [assetId, coins(units, assetId)])),
    revenueToday: revenue,
    readiness: live.readiness(),
  }
}

const coins = (units: bigint, assetId: string): string =>
  formatSigned(units, listedCurrency(assetId as AssetId).decimals)

type Part = Readonly<Record<string, unknown>>

async function readStory({ store, live }: ReadContext, id: string) {
  const story = await store.lists.story(id)
  if (story === null) throw new AppError('EXCHANGE_NOT_FOUND', `there is no exchange ${id}`, { field: 'id' })
  const { exchange, plan, parts, ledger } = story
  const ofKind = (...kinds: readonly string[]) => parts.filter(({ what }) => kinds.includes(String(what)))
  const transfers = ofKind('execution', 'payout').map((part) => ({ ...part, links: linksOf(part, live) }))
  return {
    exchange: toPlain(exchange),
    timeline: toPlain(ofKind('event')),
    transfers: toPlain(transfers),
    ledger: toPlain(ledger),
    facts: toPlain(parts),
    plan: toPlain(plan ?? null),
  }
}

/** Every transaction of the part with its page at an explorer. */
function linksOf({ network, payin_hash: payin, tx_hashes: paid }: Part, live: ReadContext['live']) {
  const hashes = [payin, ...(Array.isArray(paid) ? paid : [])].filter((one) => typeof one === 'string')
  return hashes.map((hash) => ({ hash, url: explorerUrl(live, String(network), 'tx', hash) }))
}
