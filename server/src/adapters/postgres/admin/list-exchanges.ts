import type { AdminLists, ExchangeFilter, ExchangeStory, PageRequest, Rows } from '../../../admin/ports/lists.ts'
import { formatUnits } from '../../../core/domain/amount.ts'
import type { Sql } from '../core/database.ts'
import { readExchangeDetails } from '../exchange/exchange-details.ts'
import { formatAmount } from './format-amount.ts'
import { readMergedPage, readPage } from './keyset.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const FOUND_MAX = 100
const ENTRIES_MAX = 1_000
/** Deposits of one amount that a search reads. */
const RECEIVED_MAX = 200

const COLUMNS = `e.id, p.name as partner, e.type, e.flow, e.status, e.reason,
  e.from_currency || '@' || e.from_network as "from", e.to_currency || '@' || e.to_network as "to",
  e.from_units as "fromUnits", e.to_units as "toUnits", (e.legs->0->'from'->>'decimals')::int as "fromDecimals",
  (e.legs->-1->'to'->>'decimals')::int as "toDecimals", e.created_at as "createdAt"`
const TABLES = 'from exchanges e left join partners p on p.id = e.partner_id'

/** The newest of each text: a partner may give any number of exchanges one refund address or id. */
const newestBy = (column: 'refund_address' | 'external_id', by: string): string =>
  `select n.id, '${by}' from unnest($1::text[]) t(text) cross join lateral (select id from exchanges
      where ${column} = t.text order by created_at desc, id desc limit ${FOUND_MAX}) n`

/** What an id, an address or a hash belongs to: each part reads an index. */
const FIND = `with found as (
    select id as exchange_id, 'id' as by from exchanges where id = $2::uuid
    union select exchange_id, 'deposit address' from deposit_targets where address = any($1)
    union select id, 'recipient' from exchanges where recipient_address = any($1)
    union ${newestBy('refund_address', 'refund address')}
    union ${newestBy('external_id', 'external id')}
    union select exchange_id, 'deposit' from deposits
      where network in (select network from cursors) and tx_hash = any($1) and exchange_id is not null
    union select exchange_id, 'unconfirmed deposit' from sightings
      where network in (select network from cursors) and tx_hash = any($1) and gone_at is null
    union select p.exchange_id, p.purpose from attempts a join payouts p on p.transaction_id = a.transaction_id
      where a.network in (select network from cursors) and a.tx_hash = any($1) and p.exchange_id is not null)
  select ${COLUMNS}, f.by as "foundBy" from found f join exchanges e on e.id = f.exchange_id
    left join partners p on p.id = e.partner_id order by e.created_at desc, e.id desc, f.by limit ${FOUND_MAX}`

type Lists = Pick<AdminLists, 'exchanges' | 'story' | 'entries'>

export function createExchangeLists(sql: Sql): Lists {
  return {
    exchanges: (filter, page) => (filter.find === null ? listExchanges(sql, filter, page) : find(sql, filter.find)),
    story: (id) => readStory(sql, id),
    entries: (id) => readEntries(sql, id),
  }
}

async function find(sql: Sql, texts: readonly string[]): Promise<Rows> {
  const id = texts.find((text) => UUID.test(text)) ?? null
  const rows = await sql.query<Row>(FIND, [texts, id])
  return { data: rows.map(present), next: null }
}

async function listExchanges(sql: Sql, { status, partner, from }: ExchangeFilter, page: PageRequest): Promise<Rows> {
  const values: unknown[] = []
  const where: string[] = []
  const add = (condition: (n: number) => string, value: unknown) => {
    values.push(value)
    where.push(condition(values.length))
  }
  if (status !== null) add((n) => `e.status = $${n}`, status)
  if (partner !== null) add((n) => `e.partner_id = (select id from partners where name = $${n})`, partner)
  if (from !== null && from.units === null) {
    add((n) => `e.from_currency = $${n}`, from.currency)
    add((n) => `e.from_network = $${n}`, from.network)
  }
  const found =
    from === null || from.units === null
      ? await readPage(sql, { select: `${COLUMNS}, null as "foundBy" ${TABLES}`, ...ORDER, where, values }, page)
      : await readMergedPage(sql, byAmount({ where, values }, { ...from, units: from.units }), page)
  return { ...found, data: found.data.map((row) => present(row as Row)) }
}

const ORDER = { at: 'e.created_at', id: 'e.id' } as const

type Amount = Readonly<{ currency: string; network: string; units: bigint }>
type Filtered = Readonly<{ where: readonly string[]; values: readonly unknown[] }>

/** Exchanges that order the amount, and others that have one of the newest deposits of it. Each reads about a page of an index. */
function byAmount(filtered: Filtered, { currency, network, units }: Amount) {
  const n = filtered.values.length
  const [ofCurrency, ofNetwork, ofUnits] = [`$${n + 1}::text`, `$${n + 2}::text`, `$${n + 3}::numeric`]
  const isOrdered = `(e.from_currency = ${ofCurrency} and e.from_network = ${ofNetwork} and e.from_units = ${ofUnits})`
  const received = `(select distinct exchange_id from (select exchange_id from deposits
    where asset_id = ${ofCurrency} || '@' || ${ofNetwork} and units = ${ofUnits} and exchange_id is not null
    order by id desc limit ${RECEIVED_MAX}) newest)`
  const values = [...filtered.values, currency, network, units]
  const query = (foundBy: string, tables: string, condition: string) => ({
    ...{ select: `${COLUMNS}, '${foundBy}' as "foundBy" ${tables}`, ...ORDER },
    ...{ where: [...filtered.where, condition], values },
  })
  return [
    query('ordered amount', TABLES, isOrdered),
    query(
      'received amount',
      `from ${received} d join exchanges e on e.id = d.exchange_id left join partners p on p.id = e.partner_id`,
      `not ${isOrdered}`,
    ),
  ] as const
}

type Row = Readonly<Record<string, unknown>> &
  Readonly<{ fromUnits: string; toUnits: string; fromDecimals: number; toDecimals: number }>

function present({ fromUnits, toUnits, fromDecimals, toDecimals, ...row }: Row) {
  return {
    ...row,
    fromAmount: formatUnits(BigInt(fromUnits), fromDecimals),
    toAmount: formatUnits(BigInt(toUnits), toDecimals),
  }
}

async function readStory(sql: Sql, id: string): Promise<ExchangeStory | null> {
  const details = await readExchangeDetails(sql, id)
  return details && { ...details, ledger: await readEntries(sql, id) }
}

async function readEntries(sql: Sql, id: string): Promise<Rows['data']> {
  if (!UUID.test(id)) return []
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
