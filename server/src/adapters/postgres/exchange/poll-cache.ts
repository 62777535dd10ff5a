import type { ExchangeType, ExchangeView } from '../../../exchange/domain/exchange.ts'
import type { ExchangeStore } from '../../../exchange/ports/store/exchanges.ts'
import { createBatcher } from '../../../lib/batch.ts'
import { createTtlCache, type TtlCache } from '../../../lib/ttl-cache.ts'
import { tableGeneration, OLDEST_RUNNING } from '../core/changed-since.ts'
import type { Sql } from '../core/database.ts'
import { type ExchangeRow, type ExecutionViewRow, exchangeColumns, executionsColumn, toExchangeView } from './rows.ts'

/*
 * Exchanges are polled until they end, and nearly every poll finds what the one before did. So each process keeps what it
 * read, and asks with one question for all polls of a moment which of the kept ones changed since: neither how many
 * exchanges there are nor how far apart they lie is felt. No answer is older than its request
 * (decision 0072).
 */

/** `since`: every transaction below it had ended when this was read. */
type Kept = Readonly<{ view: ExchangeView; since: bigint }>
type ViewRow = ExchangeRow & { executions: ExecutionViewRow[] | null; n: string; since: string }
type Key = Readonly<{ id: string; partnerId: string; type: ExchangeType | null }>

/** Polls are many and small: while this many questions are under way, the next ones gather. */
const FIND_TOGETHER = { most: 64, running: 3 }
/** One at a time: a poll that comes while one is under way is answered by the next. */
const ASK_TOGETHER = { most: 1_000, running: 1 }
/** Those that are polled now. */
const KEPT = { max: 10_000, ttlMs: 600_000 }
/** With more changes of a table in one answer, reading anew what is asked for is cheaper. */
const CHANGES_MOST = 1_000
/** The mark stays for a while, so that what was read meanwhile is not older than it. */
const MARK_MS = 200
/** After a pause without polls the mark is old, and the changes since are many. */
const PAUSE_MS = 10_000

/** Each key asks for its own partner's exchange: what arrives together is one round trip, whoever asks. */
const FIND = `select k.n, ${OLDEST_RUNNING} as since, ${exchangeColumns}, ${executionsColumn}
  from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality k(id, partner_id, type, n)
  join exchanges e on e.id = k.id and e.partner_id = k.partner_id and (k.type is null or e.type = k.type)
  join deposit_targets t on t.exchange_id = e.id and t.leg = 0`

const TABLES = tableGeneration('exchanges', 'executions', 'payouts')
/**
 * A restored dump may bring numbers of another server's future, which are no changes of this one. Behind a subquery the
 * planner cannot see the number: it plans once instead of anew for each question, which costs more than the answer.
 */
const SINCE = `changed_by >= (select $1::xid8) and changed_by < (select pg_snapshot_xmax(pg_current_snapshot()))
  order by changed_by limit ${CHANGES_MOST}`
const CHANGES = `select ${TABLES} as tables, ${OLDEST_RUNNING} as since,
  (select json_agg(json_build_object('id', c.id, 'by', c.changed_by::text)) from (
     (select id, changed_by from exchanges where ${SINCE})
     union all (select exchange_id, changed_by from executions where ${SINCE})
     union all (select exchange_id, changed_by from payouts where purpose = 'refund' and ${SINCE})) c) as changes`
type ChangesRow = { tables: string; since: string; changes: { id: string; by: string }[] | null }

async function findExchanges(sql: Sql, keys: readonly Key[]): Promise<readonly (Kept | null)[]> {
  const values = [keys.map(({ id }) => id), keys.map(({ partnerId }) => partnerId), keys.map(({ type }) => type)]
  const rows = await sql.query<ViewRow>(FIND, values, 'find-exchanges')
  const found = new Map(rows.map((row) => [Number(row.n), { view: toExchangeView(row), since: BigInt(row.since) }]))
  return keys.map((_key, index) => found.get(index + 1) ?? null)
}

type Mark = Readonly<{ tables: string; since: bigint; at: number }>

/**
 * Every change that a kept one does not show is of a transaction not below the mark, so that the next question names it:
 * at each question the old ones go, and what is kept later was read by a snapshot that is not below the mark either.
 */
function createMark(sql: Sql, kept: TtlCache<string, Kept>, now: () => number) {
  let mark: Mark | null = null
  let askedAt = Number.NEGATIVE_INFINITY

  async function ask(): Promise<void> {
    if (mark && now() - askedAt > PAUSE_MS) mark = null
    const [row] = await sql.query<ChangesRow>(CHANGES, [mark?.since.toString() ?? null], 'changed-exchanges')
    askedAt = now()
    if (!row) throw new Error('no answer')
    const changes = row.changes ?? []
    if (mark === null || row.tables !== mark.tables || changes.length >= CHANGES_MOST) {
      kept.clear()
      mark = null
    }
    for (const { id, by } of changes) {
      const one = kept.get(id)
      if (one && BigInt(by) >= one.since) kept.delete(id)
    }
    if (mark === null || askedAt - mark.at >= MARK_MS) {
      mark = { tables: row.tables, since: BigInt(row.since), at: askedAt }
    }
  }

  const askTogether = createBatcher<null, null>(async (polls) => {
    await ask()
    return polls
  }, ASK_TOGETHER)

  return {
    ask: () => askTogether(null),
    isSet: () => mark !== null,
    keep: (one: Kept) => {
      if (mark && one.since >= mark.since) kept.set(one.view.exchange.id, one)
    },
  }
}

export function createFind(sql: Sql, now: () => number = Date.now): ExchangeStore['find'] {
  const kept = createTtlCache<string, Kept>({ ...KEPT, now })
  const mark = createMark(sql, kept, now)
  const findTogether = createBatcher((keys: readonly Key[]) => findExchanges(sql, keys), FIND_TOGETHER)
  return async (partnerId, id, type) => {
    const before = kept.get(id)
    const isAsked = before && isOf(before.view, partnerId, type)
    if (isAsked || !mark.isSet()) await mark.ask()
    // The same one as before the question: one that came meanwhile may be older than it.
    if (isAsked && kept.get(id) === before) return before.view
    const found = await findTogether({ id, partnerId, type: type ?? null })
    if (found) mark.keep(found)
    return found?.view ?? null
  }
}

const isOf = ({ exchange }: ExchangeView, partnerId: string, type?: ExchangeType): boolean =>
  exchange.partnerId === partnerId && (type === undefined || exchange.type === type)
