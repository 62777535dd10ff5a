import { exchangeStatuses } from '../../../exchange/domain/exchange.ts'
import { isTerminal, terminals } from '../../../exchange/domain/lifecycle.ts'
import type { Destination } from '../../../exchange/ports/chain.ts'
import { type PayeeMacs, refundPayee } from '../../../exchange/ports/payee-macs.ts'
import type { ExchangeQuery, ExchangeStore, ReportPlace } from '../../../exchange/ports/store/exchanges.ts'
import { isUuid } from '../../../lib/id.ts'
import { type Database, hasRow, type Sql, type Tx } from '../core/database.ts'
import { schedule, wake } from '../core/wake.ts'
import { cancelExchange } from './cancel-exchange.ts'
import { createExchanges, findRepeated } from './create-exchanges.ts'
import { expireExchange } from './expire-exchange.ts'
import { createFind } from './poll-cache.ts'
import { type ExchangeRow, type ExecutionViewRow, exchangeColumns, executionsColumn, toExchangeView } from './rows.ts'

type ViewRow = ExchangeRow & { executions: ExecutionViewRow[] | null }

const OPEN = exchangeStatuses.filter((status) => !isTerminal(status)).map((status) => `'${status}'`)
const TERMINAL = terminals.map((status) => `'${status}'`)
/**
 * `shownState` of the domain in SQL, so that a filter finds what the response shows; shown-status.test.ts compares them for
 * all combinations of statuses. It makes one index search per status, however many executions there are.
 */
const SHOWN_STATUS = `case when e.status in (${TERMINAL}) then e.status else coalesce(
  (select w.status from unnest(array[${OPEN}]) as s (status) cross join lateral (
     select x.status, x.leg, x.deposit_id from executions x where x.exchange_id = e.id and x.status = s.status
     order by x.leg desc, x.deposit_id desc limit 1) w
   where w.status <> 'pending' or w.leg > 0 order by w.leg desc, w.deposit_id desc limit 1), e.status) end`

/** An exchange that failed can be refunded later: the newest event of its status counts. */
const COMPLETED_AT = `case when e.status in (${TERMINAL}) then (select h.at from events h where h.exchange_id = e.id
  and h.execution_id is null and h.status = e.status order by h.id desc limit 1) end`

// Not `clock_timestamp()`: it changes within a statement, so the planner cannot use an index.
const FILTER = `e.partner_id = $1 and e.created_at >= statement_timestamp() - interval '24 hours'
  and ($2::text is null or $2 = ${SHOWN_STATUS}) and ($3::text is null or e.type = $3)
  and ($4::text is null or e.from_currency = $4) and ($5::text is null or e.from_network = $5)
  and ($6::text is null or e.to_currency = $6) and ($7::text is null or e.to_network = $7)
  and ($8::text is null or e.external_id = $8)`

const filterValues = (query: ExchangeQuery) => [
  query.partnerId,
  query.status ?? null,
  query.exchangeType ?? null,
  query.fromCurrency ?? null,
  query.fromNetwork ?? null,
  query.toCurrency ?? null,
  query.toNetwork ?? null,
  query.externalId ?? null,
]

const LOWEST_ID = '00000000-0000-0000-0000-000000000000'

/** `database` is where `create` opens its own transactions; everything else runs on `sql`. */
export function createExchangeStore(sql: Sql, database: Database, macs: PayeeMacs): ExchangeStore {
  // A transaction has a store of its own and does not poll, so the cache of polls is created with the first one.
  let find: ExchangeStore['find'] | undefined
  const poll: ExchangeStore['find'] = (partnerId, id, type) => {
    find ??= createFind(sql)
    return find(partnerId, id, type)
  }
  return {
    create: (batch) => createExchanges(database, batch, macs),
    find: async (partnerId, id, type) => (isUuid(id) ? poll(partnerId, id, type) : null),
    nameRefund: (id, refund) => database.transaction((tx) => nameRefund(tx, id, refund, macs)),
    cancel: (id) => database.transaction((tx) => cancelExchange(tx, id)),
    expire: (id) => database.transaction((tx) => expireExchange(tx, id)),
    findRepeated: (partnerId, key) => findRepeated(sql, partnerId, key),
    async list(query, after, limit, offset) {
      const rows = await sql.query<ViewRow>(
        `select ${exchangeColumns}, ${executionsColumn} from exchanges e
         join deposit_targets t on t.exchange_id = e.id and t.leg = 0
         where ${FILTER} and ($9::timestamptz is null or (e.created_at, e.id) < ($9, $10::uuid))
         order by e.created_at desc, e.id desc limit $11 offset $12`,
        [...filterValues(query), after?.createdAt ?? null, after?.id ?? null, limit, offset],
      )
      return rows.map(toExchangeView)
    },
    async count(query) {
      const [row] = await sql.query<{ total: string }>(
        `select count(*) as total from exchanges e where ${FILTER}`,
        filterValues(query),
      )
      return Number(row?.total ?? 0)
    },
    // Both bounds are on the columns of `exchanges_of_partner`, which is read backwards from the place of the page.
    async report({ partnerId, from, to }, after, limit) {
      const rows = await sql.query<ViewRow & { completed_at: Date | null }>(
        `select ${exchangeColumns}, ${executionsColumn}, ${COMPLETED_AT} as completed_at from exchanges e
         join deposit_targets t on t.exchange_id = e.id and t.leg = 0
         where e.partner_id = $1 and (e.created_at, e.id) > ($2, $3::uuid) and e.created_at < $4
         order by e.created_at, e.id limit $5`,
        [partnerId, ...startOf(from, after), to ?? 'infinity', limit],
      )
      return rows.map((row) => ({ ...toExchangeView(row), completedAt: row.completed_at }))
    },
    async countOpen(partnerId, most) {
      const [row] = await sql.query<{ total: string }>(
        `select count(*) as total from (select 1 from exchanges where partner_id = $1
           and status not in ('finished', 'failed', 'refunded')
           and (status <> 'pending' or expires_at > statement_timestamp()) limit $2) open`,
        [partnerId, most],
      )
      return Number(row?.total ?? 0)
    },
    async takeKeyIndexes(count) {
      const rows = await sql.query<{ index: string }>(
        "select nextval('deposit_key_index') as index from generate_series(1, $1::int)",
        [count],
      )
      return rows.map((row) => Number(row.index))
    },
    async newestKeyIndex(before) {
      const [row] = await sql.query<{ index: string }>(
        `select t.key_index as index from deposit_targets t where t.leg = 0 and t.nth = 0 and t.exchange_id = (
           select id from exchanges where created_at < $1 order by created_at desc limit 1)`,
        [before],
      )
      return Number(row?.index ?? 0)
    },
  }
}

/** The first row of a period is after all rows of the millisecond before it. */
function startOf(from: Date | null, after: ReportPlace | null): [Date | string, string] {
  if (after !== null && (from === null || after.createdAt >= from)) return [after.createdAt, after.id]
  return from === null ? ['-infinity', LOWEST_ID] : [from, LOWEST_ID]
}

/** The lock on the exchange makes this wait for a step that reserves a refund. */
async function nameRefund(
  tx: Tx,
  id: string,
  { address, memo }: Destination,
  macs: PayeeMacs,
): Promise<'set' | 'other' | 'refunded'> {
  const [row] = await tx.query<{ address: string | null; memo: string | null; network: string }>(
    'select refund_address as address, refund_memo as memo, from_network as network from exchanges where id = $1 for no key update',
    [id],
  )
  if (row?.address) return row.address === address && row.memo === memo ? 'set' : 'other'
  if (
    await hasRow(
      tx,
      `select 1 from executions x join payouts p on p.execution_id = x.id
       where x.exchange_id = $1 and p.purpose = 'refund' and p.state <> 'void' limit 1`,
      [id],
    )
  )
    return 'refunded'
  await setRefund(tx, id, row?.network ?? '', { address, memo }, macs)
  await tx.query("insert into events (exchange_id, event) values ($1, 'refund address named')", [id])
  await schedule(tx, [id])
  await wake(tx, [{ kind: 'exchange', id }])
  return 'set'
}

/** Where the refunds of the exchange go from now on, on the network of its deposits. */
export async function setRefund(
  sql: Sql,
  id: string,
  network: string,
  refund: Destination,
  macs: PayeeMacs,
): Promise<void> {
  const mac = macs.of(refundPayee(id, network, refund))
  await sql.query('update exchanges set refund_address = $2, refund_memo = $3, refund_mac = $4 where id = $1', [
    id,
    refund.address,
    refund.memo,
    mac,
  ])
}
