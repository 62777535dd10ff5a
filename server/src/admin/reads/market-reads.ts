import { dexNetworks } from '../../../dexes/index.ts'
import { formatUnits } from '../../core/domain/amount.ts'
import { priceTime, USD_DECIMALS } from '../../core/domain/price.ts'
import { findNetwork, formatSigned, listedCurrency } from '../actions/lookup.ts'
import { explorerUrl } from './explorer-links.ts'
import { type ReadContext, type ReadsOf, requireLive, toPage, whole } from './read.ts'

export const marketReads: ReadsOf<
  'prices' | 'venues' | 'networks' | 'dexes' | 'tokens' | 'swaps' | 'swapFees' | 'unclaimedFees'
> = {
  async prices(context) {
    const { prices } = requireLive(context).book()
    const show = (price: bigint) => formatUnits(price, USD_DECIMALS)
    const rows = [...prices.usd].map(([key, { bid, ask }]) => {
      return { key, bid: show(bid), ask: show(ask), at: new Date(priceTime(prices, key)) }
    })
    return whole(rows.toSorted((a, b) => (a.key < b.key ? -1 : 1)))
  },
  async venues(context) {
    const { reserves, pauses } = requireLive(context).book()
    const rows = [...reserves.available].map(([id, units]) => ({
      ...{ venue: 'inventory', currency: id },
      available: units === null ? null : formatSigned(units, listedCurrency(id).decimals),
      paused: pauses.assets.has(id) || pauses.networks.has(listedCurrency(id).network),
    }))
    return whole(rows)
  },
  networks: (context) => readNetworks(context),
  async dexes({ store }) {
    const paused = await pausedScopes({ store })
    const rows = dexNetworks.flatMap(({ network, dexes }) =>
      dexes.map(({ name, kind }) => {
        const scope = `dex:${name}@${network}`
        return { network, dex: name, kind, scope, paused: paused.has(scope) }
      }),
    )
    return whole(rows)
  },
  async tokens(context, { network: ticker = '' }) {
    const network = findNetwork(ticker)
    const paused = await pausedScopes(context)
    const rows = []
    for (const { address, symbol, name, decimals, enabled } of requireLive(context).tokens(network)) {
      const poolName = await context.deps.parsePoolName(network, 'token', address)
      const scope = `token:${poolName ?? address}@${network}`
      rows.push({ ...{ network, address, symbol, name, decimals, enabled }, scope, paused: paused.has(scope) })
    }
    return whole(rows)
  },
  async swaps({ store, live, deps }, query) {
    const { status = null, hash, partner = null } = query
    const hashes = hash === undefined ? null : deps.encodingsOf(hash.trim())
    const page = await store.lists.swaps({ status, hashes, partner }, toPage(query))
    const data = page.data.map((row) => ({
      ...row,
      txUrl: explorerUrl(live, String(row['network']), 'tx', String(row['hash'])),
    }))
    return { ...page, data }
  },
  swapFees: ({ store }, query) => store.lists.swapFees(toPage(query)),
  unclaimedFees: ({ store }, query) => store.lists.unclaimedFees(toPage(query)),
}

export async function pausedScopes({ store }: Pick<ReadContext, 'store'>): Promise<ReadonlySet<string>> {
  return new Set((await store.store.pauses.list()).map(({ scope }) => scope))
}

async function readNetworks(context: ReadContext) {
  const { networks, endpoints } = requireLive(context)
  const cursors = new Map((await context.store.lists.cursors()).map((row) => [row.network, row]))
  const paused = [...(await pausedScopes(context))]
  const rows = networks.map(({ id, family }) => {
    const cursor = cursors.get(id)
    const concerned = paused.filter(
      (scope) => scope === 'all' || scope === 'payouts:all' || scope.endsWith(`:${id}`) || scope.endsWith(`@${id}`),
    )
    return {
      ...{ network: id, family, endpoints: endpoints.get(id) ?? [] },
      ...{ height: cursor?.height ?? null, scannedAt: cursor?.scannedAt ?? null },
      ...{ caughtUpAt: cursor?.caughtUpAt ?? null, lagSeconds: cursor?.lagSeconds ?? null },
      pauses: concerned,
    }
  })
  return whole(rows)
}
