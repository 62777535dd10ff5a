import { AppError } from '../../core/domain/errors.ts'
import { pausesOfPool } from '../../swap/domain/pool-pauses.ts'
import type { PoolStateView, PoolView } from '../../swap/interfaces.ts'
import { findNetwork, formatSigned } from '../actions/lookup.ts'
import { pausedScopes } from './market-reads.ts'
import { type Query, type ReadContext, type ReadsOf, requireLive, toPage, whole } from './read.ts'

export const poolReads: ReadsOf<'pools' | 'networkPools'> = {
  pools: (context) => readStates(context),
  networkPools: (context, query) => readNetworkPools(context, query),
}

/** Of the router of this process; of a network that it does not follow, of the stored pools and pauses. */
async function readStates({ store, live }: ReadContext) {
  const scopes = [...(await pausedScopes({ store }))].filter((scope) => /^(dex|pool|token):/.test(scope))
  const stored = new Map((await store.lists.pools()).map((row) => [row.network, row]))
  const states = new Map(live?.pools.states().map((state) => [state.network, state] as const))
  const paused = scopes.map(networkOf)
  const rows = []
  for (const network of [...new Set([...states.keys(), ...stored.keys(), ...paused])].sort()) {
    const state = states.get(network)
    const alarm = await store.store.alarms.find(`pool-depth:${network}`)
    rows.push({
      ...{ network, pools: state?.pools ?? null },
      height: state?.block.height.toString() ?? stored.get(network)?.height ?? null,
      readAt: state === undefined ? null : new Date(state.readAtMs),
      savedAt: stored.get(network)?.savedAt ?? null,
      depth: { alarm: alarm && { alarm: alarm.alarm, detail: alarm.detail }, ...showDepth(state) },
      pauses: scopes.filter((scope) => networkOf(scope) === network),
    })
  }
  return whole(rows)
}

const networkOf = (scope: string): string => scope.split('@').at(-1) ?? ''

/** In native coins. */
function showDepth(state: PoolStateView | undefined) {
  if (state === undefined || state.depth === null) return { now: null, maximum: null, currency: null }
  const { depth, decimals, symbol } = state
  const show = (units: number) => formatSigned(BigInt(Math.floor(units)), decimals)
  return { now: show(depth.units), maximum: show(depth.maximumUnits), currency: symbol }
}

/** The deepest first; then by id. */
type Place = Readonly<{ dollars: number; id: string }>

const placeOf = ({ dollars, id }: PoolView): Place => ({
  dollars: Math.min(dollars ?? -1, Number.MAX_SAFE_INTEGER),
  id,
})
const compare = (a: Place, b: Place): number => b.dollars - a.dollars || (a.id < b.id ? -1 : a.id === b.id ? 0 : 1)

async function readNetworkPools(context: ReadContext, query: Query) {
  const network = findNetwork(query['network'] ?? '')
  const { cursor, limit } = toPage(query)
  const text = query['find']?.trim().toLowerCase() ?? ''
  const after = cursor === null ? null : readPlace(cursor)
  const found = (await requireLive(context).pools.list(network))
    .filter((pool) => textOf(pool).includes(text) && (after === null || compare(placeOf(pool), after) > 0))
    .toSorted((a, b) => compare(placeOf(a), placeOf(b)))
  const shown = found.slice(0, limit)
  const last = found.length > limit ? shown.at(-1) : undefined
  const scopes = [...(await pausedScopes(context))].filter((scope) => scope.endsWith(`@${network}`))
  const data = shown.map((pool) => ({
    ...{ network, id: pool.id, dex: pool.dex, tokens: pool.shown, depthUsd: pool.dollars },
    ...{ scope: `pool:${pool.id}@${network}`, pausedBy: pausesOfPool(pool, scopes, network) },
  }))
  return { data, next: last === undefined ? null : toCursor(placeOf(last)) }
}

const textOf = ({ id, dex, shown }: PoolView): string =>
  [id, dex, ...shown.flatMap(({ address, symbol }) => [address, symbol ?? ''])].join(' ').toLowerCase()

const toCursor = ({ dollars, id }: Place): string => `${dollars}_${id}`

function readPlace(cursor: string): Place {
  const [, dollars, id] = /^(-?\d{1,16})_(\w{1,90})$/.exec(cursor) ?? []
  if (dollars === undefined || id === undefined)
    throw new AppError('VALIDATION_ERROR', 'cursor is not one of this list: use `next` of a page', { field: 'cursor' })
  return { dollars: Number(dollars), id }
}
