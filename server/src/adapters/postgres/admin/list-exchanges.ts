import type { AdminLists, ExchangeDetails, ExchangeFilter, PageRequest, Rows } from '../../../admin/ports/lists.ts'
import { formatUnits } from '../../../core/domain/amount.ts'
import { exchangeStatuses } from '../../../exchange/domain/exchange.ts'
import { isUuid } from '../../../lib/id.ts'
import type { Sql } from '../core/database.ts'
import { readExchangeDetails } from '../exchange/exchange-details.ts'
import { formatAmount } from './format-amount.ts'
import { type Condition, comparePlace, compareRows, createBinder, type PlacedRow, placeOf, toRows } from './keyset.ts'
import { findStop, type Range, readRange, readRangeRows } from './read-range.ts'

const FOUND_MAX = 100
/** Exchanges of one refund address or external id that a search compares with its filters. */
const FILTERED_MAX = 1_000
const ENTRIES_MAX = 1_000
/** Deposits of one amount that a search reads. */
const RECEIVED_MAX = 200

const COLUMNS = `e.id, p.name as partner, e.type, e.flow, e.status, e.reason,
  e.from_currency || '@' || e.from_network as "from", e.to_currency || '@' || e.to_network as "to",
  e.from_units as "fromUnits", e.to_units as "toUnits", (e.legs->0->'from'->>'decimals')::int as "fromDecimals",
  (e.legs->-1->'to'->>'decimals')::int as "toDecimals", e.created_at as "createdAt"`
const JOINS = 'left join partners p on p.id = e.partner_id'

/** The newest of each text: a partner may give any number of exchanges one refund address or id. */
const newestBy = (column: 'refund_address' | 'external_id', by: string, limit: number): string =>
  `select n.id, '${by}' from unnest($1::text[]) t(text) cross join lateral (select id from exchanges
      where ${column} = t.text order by created_at desc, id desc limit ${limit}) n`

/** What an id, an address or a hash belongs to: each part reads an index. */
const findBy = (filters: readonly string[]): string => {
  const newest = filters.length === 0 ? FOUND_MAX : FILTERED_MAX
  return `with found as (
    select id as exchange_id, 'id' as by from exchanges where id = $2::uuid
    union select exchange_id, 'deposit address' from deposit_targets where address = any($1)
    union select id, 'recipient' from exchanges where recipient_address = any($1)
    union ${newestBy('refund_address', 'refund address', newest)}
    union ${newestBy('external_id', 'external id', newest)}
    union select exchange_id, 'deposit' from deposits
      where network in (select network from cursors) and tx_hash = any($1) and exchange_id is not null
    union select exchange_id, 'unconfirmed deposit' from sightings
      where network in (select network from cursors) and tx_hash = any($1) and gone_at is null
    union select p.exchange_id, p.purpose from attempts a join payouts p on p.transaction_id = a.transaction_id
      where a.network in (select network from cursors) and a.tx_hash = any($1) and p.exchange_id is not null)
  select ${COLUMNS}, f.by as "foundBy" from found f join exchanges e on e.id = f.exchange_id ${JOINS}
    ${filters.length === 0 ? '' : `where ${filters.join(' and ')}`}
    order by e.created_at desc, e.id desc, f.by limit ${FOUND_MAX}`
}

type Lists = Pick<AdminLists, 'exchanges' | 'exchangeDetails' | 'entries'>

export function createExchangeLists(sql: Sql): Lists {
  return {
    async exchanges(filter, page) {
      const found = await listExchanges(sql, filter, page)
      return { ...found, data: found.data.map((row) => presentRow(row as Row)) }
    },
    exchangeDetails: (id) => loadExchangeDetails(sql, id),
    entries: (id) => readEntries(sql, id),
  }
}

function listExchanges(sql: Sql, filter: ExchangeFilter, page: PageRequest): Promise<Rows> {
  const { find, from } = filter
  if (find !== null) return findExchanges(sql, find, filter)
  if (from === null || from.units === null) return readRange(sql, rangeOf(filter), page)
  return listByAmount(sql, filter, { ...from, units: from.units }, page)
}

async function findExchanges(sql: Sql, texts: readonly string[], filter: ExchangeFilter): Promise<Rows> {
  const values: unknown[] = [texts, texts.find((text) => isUuid(text.toLowerCase())) ?? null]
  const { ofStatus, ofPartner, ofCurrency } = conditionsOf(filter)
  const filters = [...ofStatus, ...ofPartner, ...ofCurrency, ...hasAmount(filter)].map(createBinder(values))
  return { data: await sql.query<Readonly<Record<string, unknown>>>(findBy(filters), values), next: null }
}

function conditionsOf({ status, partner, from }: ExchangeFilter) {
  return {
    ofStatus: status === null ? [] : [['e.status = $', status] as const],
    ofPartner: partner === null ? [] : [['e.partner_id = (select id from partners where name = $)', partner] as const],
    ofCurrency:
      from === null
        ? []
        : [['e.from_currency = $', from.currency] as const, ['e.from_network = $', from.network] as const],
  }
}

/** Orders the amount, or has a deposit of it. */
function hasAmount({ from }: ExchangeFilter): readonly Condition[] {
  if (from === null || from.units === null) return []
  const received = 'select 1 from deposits d where d.exchange_id = e.id and d.asset_id = $ and d.units = $::numeric'
  return [[`(e.from_units = $ or exists (${received}))`, from.units, `${from.currency}@${from.network}`, from.units]]
}

const SELECTED = { table: 'exchanges', alias: 'e', joins: JOINS } as const

/** An index orders the exchanges of a partner, of a status, of a currency, of a partner in a status, and of a currency in a status. */
function rangeOf(filter: ExchangeFilter): Range {
  const { ofPartner, ofCurrency } = conditionsOf(filter)
  const select = `${COLUMNS}, null as "foundBy"`
  const statuses = filter.status === null ? null : [filter.status]
  return filter.partner === null
    ? { ...SELECTED, select, within: ofCurrency, statuses: statuses ?? exchangeStatuses, filters: [] }
    : { ...SELECTED, select, within: ofPartner, statuses, filters: ofCurrency }
}

type Amount = Readonly<{ currency: string; network: string; units: bigint }>

/** Exchanges that order the amount, and others that have one of the newest deposits of it. */
async function listByAmount(sql: Sql, filter: ExchangeFilter, amount: Amount, page: PageRequest): Promise<Rows> {
  const { ofStatus, ofPartner, ofCurrency } = conditionsOf(filter)
  const filters = [...ofStatus, ...ofPartner]
  const ordered: Range = {
    ...{ ...SELECTED, select: `${COLUMNS}, 'ordered amount' as "foundBy"` },
    ...{ within: [...ofCurrency, ['e.from_units = $', amount.units]], statuses: null, filters },
  }
  const stop = await findStop(sql, ordered, page)
  const rows = await Promise.all([
    readRangeRows(sql, ordered, page, stop),
    readReceived(sql, amount, filters, page, stop),
  ])
  return toRows(rows.flat().toSorted(compareRows), page.limit, stop)
}

/** `offset 0` keeps the planner at the few exchanges of these deposits. */
function readReceived(
  sql: Sql,
  { currency, network, units }: Amount,
  filters: readonly Condition[],
  { cursor, limit }: PageRequest,
  stop: string | null,
): Promise<readonly PlacedRow[]> {
  const [at, id] = ['e.created_at', 'e.id']
  const values: unknown[] = []
  const bind = createBinder(values)
  const received = bind([
    `select e.* from (select distinct exchange_id from (select exchange_id from deposits
       where asset_id = $ and units = $::numeric and exchange_id is not null order by id desc limit ${RECEIVED_MAX}) newest) d
     join exchanges e on e.id = d.exchange_id where not (e.from_currency = $ and e.from_network = $ and e.from_units = $) offset 0`,
    ...[`${currency}@${network}`, units, currency, network, units],
  ])
  const conditions = [
    ...filters,
    ...(cursor === null ? [] : [comparePlace(at, id, '<', cursor)]),
    ...(stop === null ? [] : [comparePlace(at, id, '>=', stop)]),
  ].map(bind)
  return sql.query<PlacedRow>(
    `select ${placeOf(at, id)} as position, ${COLUMNS}, 'received amount' as "foundBy" from (${received}) e ${JOINS}
     ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
     order by ${at} desc, ${id} desc limit $${values.push(limit + 1)}`,
    values,
  )
}

type Row = Readonly<Record<string, unknown>> &
  Readonly<{ fromUnits: string; toUnits: string; fromDecimals: number; toDecimals: number }>

function presentRow({ fromUnits, toUnits, fromDecimals, toDecimals, ...row }: Row) {
  return {
    ...row,
    fromAmount: formatUnits(BigInt(fromUnits), fromDecimals),
    toAmount: formatUnits(BigInt(toUnits), toDecimals),
  }
}

async function loadExchangeDetails(sql: Sql, id: string): Promise<ExchangeDetails | null> {
  const details = await readExchangeDetails(sql, id)
  return details && { ...details, ledger: await readEntries(sql, id) }
}

async function readEntries(sql: Sql, id: string): Promise<Rows['data']> {
  if (!isUuid(id.toLowerCase())) return []
  const rows = await sql.query<{ id: string; event: string; at: Date; list: Posting[] }>(
    `select j.id, j.event, j.at, (select json_agg(json_build_object('debit', o.debit, 'credit', o.credit, 'currency', o.asset_id,
       'units', o.units::text) order by o.position) from postings o where o.journal_id = j.id) as list
     from journal j where j.exchange_id = $1 order by j.at, j.id limit ${ENTRIES_MAX}`,
    [id],
  )
  return rows.map(({ list, ...entry }) => ({
    ...entry,
    postings: (list ?? []).map(({ units, ...posting }) => ({
      ...posting,
      amount: formatAmount(BigInt(units), posting.currency),
    })),
  }))
}

type Posting = Readonly<{ debit: string; credit: string; currency: string; units: string }>
