import {
  countConfirmations,
  type ExchangeType,
  type ExchangeView,
  type ExecutionView,
} from '../../../exchange/domain/exchange.ts'
import type { ExchangeStore } from '../../../exchange/ports/store/exchanges.ts'
import { createBatcher } from '../../../lib/batch.ts'
import { createTtlCache, type TtlCache } from '../../../lib/ttl-cache.ts'
import type { Sql } from '../core/database.ts'
import { type ExchangeRow, type ExecutionViewRow, exchangeColumns, executionsColumn, toExchangeView } from './rows.ts'

/*
 * Caches exchanges for status requests. Before a cached view is used, one query for all concurrent polls asks which
 * exchanges changed and where the chains' heads are, so no response is older than its request. docs/poll-cache.md has the
 * argument.
 */

/** `xmin`: all transactions below it had ended when the view was read. */
type CachedView = Readonly<{ view: ExchangeView; xmin: bigint }>
type ViewRow = ExchangeRow & { executions: ExecutionViewRow[] | null; n: string; xmin: string }
type Key = Readonly<{ id: string; partnerId: string | null; type: ExchangeType | null }>

/** Polls are many and small: while three queries run, new polls are collected for the next one. */
const FIND_BATCHES = { most: 64, running: 3 }
/** One query at a time: a poll that arrives during a query is answered by the next one. */
const CHANGES_BATCHES = { most: 1_000, running: 1 }
const CACHE_LIMITS = { max: 10_000, ttlMs: 600_000 }
/** Above this number of changes in one query it is cheaper to clear the cache. */
const CHANGES_MAX = 1_000
/** The mark does not move for this time, so that views that are read meanwhile are not below it. */
const MARK_MS = 200
/** After a pause of this length there are many changes since the mark: the cache is cleared. */
const PAUSE_MS = 10_000

/** `pg_snapshot_xmin`: all transactions below it have ended and are visible, or were rolled back. */
const XMIN = 'pg_snapshot_xmin(pg_current_snapshot())::text'

/** Each key has its own partner, or null for any, so one query serves the polls of all partners and payers. */
const FIND = `select k.n, ${XMIN} as xmin, ${exchangeColumns}, ${executionsColumn}
  from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality k(id, partner_id, type, n)
  join exchanges e on e.id = k.id and (k.partner_id is null or e.partner_id = k.partner_id) and (k.type is null or e.type = k.type)
  join deposit_targets t on t.exchange_id = e.id and t.leg = 0`

/** Changes if the server restarts or fails over, or a table is restored, truncated or rewritten: numbers may have restarted. */
const GENERATION = `concat_ws(' ', pg_postmaster_start_time(), ${['exchanges', 'executions', 'payouts', 'deposits']
  .map((table) => `'${table}'::regclass::oid, pg_relation_filenode('${table}')`)
  .join(', ')})`
/**
 * The upper bound excludes numbers from a restored dump that this server has not reached. The subqueries hide the numbers
 * from the planner, so it plans the statement once; a plan for each query would cost more than the query.
 */
const CHANGED = `changed_by >= (select $1::xid8) and changed_by < (select pg_snapshot_xmax(pg_current_snapshot()))
  order by changed_by limit ${CHANGES_MAX}`
const CHANGES = `select ${GENERATION} as generation, ${XMIN} as xmin,
  (select json_agg(json_build_object('id', c.id, 'by', c.changed_by::text)) from (
     (select id, changed_by from exchanges where ${CHANGED})
     union all (select exchange_id, changed_by from executions where ${CHANGED})
     union all (select exchange_id, changed_by from payouts where purpose = 'refund' and ${CHANGED})
     union all (select exchange_id, changed_by from deposits where exchange_id is not null and ${CHANGED})) c) as changes,
  (select json_object_agg(network, height) from cursors) as heads`
type Heads = Readonly<Record<string, number>>
type ChangesRow = {
  generation: string
  xmin: string
  changes: { id: string; by: string }[] | null
  heads: Heads | null
}

async function findExchanges(sql: Sql, keys: readonly Key[]): Promise<readonly (CachedView | null)[]> {
  const values = [keys.map(({ id }) => id), keys.map(({ partnerId }) => partnerId), keys.map(({ type }) => type)]
  const rows = await sql.query<ViewRow>(FIND, values, 'find-exchanges')
  const views = new Map(rows.map((row) => [Number(row.n), { view: toExchangeView(row), xmin: BigInt(row.xmin) }]))
  return keys.map((_key, index) => views.get(index + 1) ?? null)
}

type Mark = Readonly<{ generation: string; xmin: bigint; at: number }>

/** Removes changed views from the cache. The next query asks for changes by transactions at or above the mark. */
function createChangeTracker(sql: Sql, cache: TtlCache<string, CachedView>, now: () => number) {
  let mark: Mark | null = null
  let queriedAt = Number.NEGATIVE_INFINITY
  let heads: Heads = {}

  async function removeChanged(): Promise<void> {
    if (mark && now() - queriedAt > PAUSE_MS) mark = null
    const [row] = await sql.query<ChangesRow>(CHANGES, [mark?.xmin.toString() ?? null], 'changed-exchanges')
    queriedAt = now()
    if (!row) throw new Error('the query for changed exchanges returned no row')
    const changes = row.changes ?? []
    heads = row.heads ?? {}
    if (mark === null || row.generation !== mark.generation || changes.length >= CHANGES_MAX) {
      cache.clear()
      mark = null
    }
    for (const { id, by } of changes) {
      const cached = cache.get(id)
      if (cached && BigInt(by) >= cached.xmin) cache.delete(id)
    }
    if (mark === null || queriedAt - mark.at >= MARK_MS) {
      mark = { generation: row.generation, xmin: BigInt(row.xmin), at: queriedAt }
    }
  }

  const removeChangedOnce = createBatcher<null, null>(async (polls) => {
    await removeChanged()
    return polls
  }, CHANGES_BATCHES)

  return {
    removeChanged: () => removeChangedOnce(null),
    hasMark: () => mark !== null,
    /** Recorded heights of the chains at the last query. */
    heads: () => heads,
    /** A view below the mark may miss changes that no later query returns, so it is not cached. */
    add: (found: CachedView) => {
      if (mark && found.xmin >= mark.xmin) cache.set(found.view.exchange.id, found)
    },
  }
}

export function createFind(sql: Sql, now: () => number = Date.now): ExchangeStore['find'] {
  const cache = createTtlCache<string, CachedView>({ ...CACHE_LIMITS, now })
  const tracker = createChangeTracker(sql, cache, now)
  const findBatched = createBatcher((keys: readonly Key[]) => findExchanges(sql, keys), FIND_BATCHES)
  return async (partnerId, id, type) => {
    const cached = cache.get(id)
    const isUsable = cached && belongsTo(cached.view, partnerId, type)
    if (isUsable || !tracker.hasMark()) await tracker.removeChanged()
    // The same object as before the query: a view that was added during the query may be older than this request.
    if (isUsable && cache.get(id) === cached) return atHeads(cached.view, tracker.heads())
    const row = await findBatched({ id, partnerId, type: type ?? null })
    if (row) tracker.add(row)
    return row?.view ?? null
  }
}

/** Blocks change the confirmations of a cached view, not its rows. */
function atHeads(view: ExchangeView, heads: Heads): ExchangeView {
  const executions = view.executions.map((execution) => withHead(execution, heads))
  return executions.every((execution, index) => execution === view.executions[index]) ? view : { ...view, executions }
}

function withHead(execution: ExecutionView, heads: Heads): ExecutionView {
  const { network, height, required, seen } = execution.confirmations
  const current = countConfirmations(height, heads[network] ?? null, required)
  return current === seen ? execution : { ...execution, confirmations: { network, height, required, seen: current } }
}

const belongsTo = ({ exchange }: ExchangeView, partnerId: string | null, type?: ExchangeType): boolean =>
  (partnerId === null || exchange.partnerId === partnerId) && (type === undefined || exchange.type === type)
