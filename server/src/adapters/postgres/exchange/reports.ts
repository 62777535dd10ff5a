import type {
  CostRow,
  Grouping,
  ReportPlace,
  ReportStore,
  RevenueRow,
  TrialBalanceRow,
} from '../../../exchange/ports/store/reports.ts'
import type { Database, RowOf } from '../core/database.ts'

/** The account without the id of an exchange, partner, swap, payout or address. */
const KIND = `case when split_part(account, ':', 1) = 'liability' or account like 'asset:fees:%'
  then split_part(account, ':', 1) || ':' || split_part(account, ':', 2) else account end`

const TRIAL_BALANCE = `
with changes as (
  select o.debit as account, o.asset_id, o.units as debit, 0 as credit, j.at >= $1 as within
  from postings o join journal j on j.id = o.journal_id where j.at < $2
  union all
  select o.credit, o.asset_id, 0, o.units, j.at >= $1
  from postings o join journal j on j.id = o.journal_id where j.at < $2)
select ${KIND} as account, asset_id as "assetId",
  coalesce(sum(debit - credit) filter (where not within), 0) as opening,
  coalesce(sum(debit) filter (where within), 0) as debits,
  coalesce(sum(credit) filter (where within), 0) as credits,
  sum(debit - credit) as closing
from changes group by 1, 2 order by 2, 1`

/** The group of a row of exchanges (e), partners (a) and a time (at). */
const GROUPS: Readonly<Record<Grouping, string>> = {
  day: "to_char(at at time zone 'UTC', 'YYYY-MM-DD')",
  pair: "e.from_currency || '@' || e.from_network || '/' || e.to_currency || '@' || e.to_network",
  partner: 'coalesce(a.name, e.partner_id::text)',
  exchange: 'e.id::text',
}

/** Net of reversals: what was credited to the accounts less what was debited. */
const earned = (accounts: string) =>
  `coalesce(sum(units) filter (where credit ${accounts}), 0) - coalesce(sum(units) filter (where debit ${accounts}), 0)`

/** Rows after the place ($4 to $6) of the last one of the page before, or from the first. */
const pageOf = (rows: string) => `
select * from (${rows}) report
where $4::boolean is null or ("group" is null, coalesce("group", ''), "assetId") > ($4, $5::text, $6::text)
order by "group" is null, "group", "assetId" limit $3`

const placeValues = (place: ReportPlace | null) =>
  place === null ? [null, null, null] : [place.group === null, place.group ?? '', place.assetId]

const revenueBy = (grouping: Grouping) =>
  pageOf(`
select ${GROUPS[grouping]} as "group", o.asset_id as "assetId", count(distinct e.id)::int as exchanges,
  ${earned("= 'income:spread'")} as spread,
  -- Other postings to a partner's account are proceeds and withdrawals.
  ${earned("like 'liability:partner:%' and event like 'conversion%'")} as "partnerFees",
  ${earned("= 'income:network-fee'")} as "networkFees",
  ${earned("= 'income:dust'")} as dust
from journal j join postings o on o.journal_id = j.id
left join exchanges e on e.id = j.exchange_id left join partners a on a.id = e.partner_id
where j.at >= $1 and j.at < $2 and (o.credit like 'income:%' or o.debit like 'income:%'
  or (j.event like 'conversion%' and (o.credit like 'liability:partner:%' or o.debit like 'liability:partner:%')))
group by 1, 2`)

const net = (account: string) =>
  `coalesce(sum(o.units) filter (where o.debit = '${account}'), 0) - coalesce(sum(o.units) filter (where o.credit = '${account}'), 0)`

const COSTS = "('expense:network-fee', 'expense:stranded', 'expense:suspense')"

/*
 * Network fees are booked by transaction, and supplied gas by payout: the entry's id names which. A transaction of several
 * payouts divides its fee among them, and the first one takes the remainder. Only sweeps and gas supplies, each a transaction
 * of its own, change what is stranded. Losses are booked by exchange.
 *
 * A payout leaves its transaction when that one expires. What an expired transaction paid for is then in its intents, which never
 * change. The exchange of a sweep is that of the address which it emptied: a sweep that was dropped has no deposits.
 */
const costsBy = (grouping: Grouping) =>
  pageOf(`
with cost as (
  select j.id, j.at, j.exchange_id, split_part(j.id, ':', 1) as kind, split_part(j.id, ':', 2) as owner, o.asset_id,
    ${net('expense:network-fee')} as units, ${net('expense:stranded')} as stranded, ${net('expense:suspense')} as lost
  from journal j join postings o on o.journal_id = j.id
  where j.at >= $1 and j.at < $2 and (o.debit in ${COSTS} or o.credit in ${COSTS})
  group by j.id, o.asset_id),
share as (
  select c.at, c.kind, c.owner, c.stranded, c.lost, c.asset_id, p.purpose,
    coalesce(c.exchange_id, p.exchange_id, t.exchange_id) as exchange_id,
    case when p.id is null then c.units
      else div(c.units, count(*) over w) + case when row_number() over (w order by p.id) = 1
        then c.units - count(*) over w * div(c.units, count(*) over w) else 0 end end as units
  from cost c left join transactions x on x.id = case when c.kind = 'transaction' then c.owner::uuid end
  -- Each branch has an index; a condition that joins them would compare every entry with every payout.
  left join lateral (
    select id, purpose, exchange_id, network, address from payouts where transaction_id = x.id
    union all select id, purpose, exchange_id, network, address from payouts
      where id = case when c.kind = 'payout' then c.owner::uuid end
    union all select id, purpose, exchange_id, network, address from payouts where id = any(array(
      select (pay ->> 'payoutId')::uuid from attempts a
      cross join jsonb_array_elements(coalesce(a.intent -> 'pays', jsonb_build_array(a.intent -> 'pay'))) pay
      where a.transaction_id = case when x.state = 'expired' then x.id end))) p on true
  left join lateral (select exchange_id from deposit_targets
    where network = p.network and address = case p.purpose when 'sweep' then x.wallet when 'gas' then p.address end limit 1) t on true
  window w as (partition by c.id, c.asset_id))
select ${GROUPS[grouping]} as "group", s.asset_id as "assetId",
  count(distinct s.owner) filter (where s.kind = 'transaction')::int as transactions,
  coalesce(sum(s.units) filter (where coalesce(s.purpose, '') not in ('sweep', 'gas', 'split', 'consolidate')), 0) as payouts,
  coalesce(sum(s.units) filter (where s.purpose in ('sweep', 'split', 'consolidate')), 0) as sweeps,
  coalesce(sum(s.units) filter (where s.purpose = 'gas'), 0) as gas,
  coalesce(sum(s.stranded), 0) as stranded, coalesce(sum(s.lost), 0) as lost
from share s left join exchanges e on e.id = s.exchange_id left join partners a on a.id = e.partner_id
group by 1, 2`)

/** A trial balance reads all postings: minutes for hundreds of millions. */
const REPORT_MS = 600_000

export function createReportStore(database: Database): ReportStore {
  const read = <Row extends object>(text: string, values: readonly unknown[]) =>
    database.transaction((tx) => tx.query<Row>(text, values), { statementTimeoutMs: REPORT_MS })
  return {
    async trialBalance({ from, to }) {
      type Units = 'opening' | 'debits' | 'credits' | 'closing'
      const rows = await read<RowOf<TrialBalanceRow, Units>>(TRIAL_BALANCE, [from, to])
      return rows.map(({ opening, debits, credits, closing, ...row }) => ({
        ...row,
        opening: BigInt(opening),
        debits: BigInt(debits),
        credits: BigInt(credits),
        closing: BigInt(closing),
      }))
    },
    async revenue({ from, to }, grouping, limit, after = null) {
      type Units = 'spread' | 'partnerFees' | 'networkFees' | 'dust'
      const rows = await read<RowOf<RevenueRow, Units>>(revenueBy(grouping), [from, to, limit, ...placeValues(after)])
      return rows.map(({ spread, partnerFees, networkFees, dust, ...row }) => ({
        ...row,
        spread: BigInt(spread),
        partnerFees: BigInt(partnerFees),
        networkFees: BigInt(networkFees),
        dust: BigInt(dust),
      }))
    },
    async costs({ from, to }, grouping, limit, after = null) {
      type Units = 'payouts' | 'sweeps' | 'gas' | 'stranded' | 'lost'
      const rows = await read<RowOf<CostRow, Units>>(costsBy(grouping), [from, to, limit, ...placeValues(after)])
      return rows.map(({ payouts, sweeps, gas, stranded, lost, ...row }) => ({
        ...row,
        payouts: BigInt(payouts),
        sweeps: BigInt(sweeps),
        gas: BigInt(gas),
        stranded: BigInt(stranded),
        lost: BigInt(lost),
      }))
    },
  }
}
