import type { AdminLists, Rows } from '../../../admin/ports/lists.ts'
import type { Sql } from '../core/database.ts'
import { NEXT_UNCLAIMED } from '../exchange/unclaimed.ts'
import { formatAmount } from './format-amount.ts'
import { type Condition, readNumber, readPage, toRows } from './keyset.ts'

const PAYOUT = `p.id, p.purpose, p.state, p.attention, p.network, p.asset_id as currency, p.units, p.address,
  nullif(p.memo, '') as memo, p.exchange_id as "exchangeId", p.transaction_id as "transactionId",
  (select json_agg(a.tx_hash order by a.created_at) from attempts a
   where a.transaction_id = p.transaction_id) as "txHashes",
  p.waits_for as "waitsFor", p.held_until as "heldUntil", p.lost as reversed,
  p.postponed > 0 as postponed, p.created_at as "createdAt" from payouts p`

type Row = Readonly<Record<string, unknown>> & Readonly<{ units: string; currency: string }>

const toPayout = ({ units, ...row }: Row) => ({ ...row, amount: formatAmount(BigInt(units), row.currency) })

type Lists = Pick<AdminLists, 'payouts' | 'queue' | 'held' | 'unclaimed'>

export function createPayoutLists(sql: Sql): Lists {
  return {
    async payouts({ state, isHeld }, page) {
      const held: readonly Condition[] = isHeld ? [["p.state = 'reserved'"], ['p.attention is not null']] : []
      const where: readonly Condition[] = [...held, ...(state === null ? [] : [['p.state = $', state] as const])]
      const query = { select: PAYOUT, at: 'p.created_at', id: 'p.id', where, ascending: isHeld }
      const found = await readPage(sql, query, page)
      return { ...found, data: found.data.map((row) => toPayout(row as Row)) }
    },
    async queue(network, page) {
      const found = await readPage(
        sql,
        {
          select: PAYOUT,
          at: ['coalesce(p.held_until, p.created_at)', 'p.created_at'],
          id: 'p.id',
          where: [['p.network = $', network], ["p.state = 'reserved'"], ['p.attention is null']],
          ascending: true,
        },
        page,
      )
      return { ...found, data: found.data.map((row) => toPayout(row as Row)) }
    },
    held: (page) => listHeld(sql, page),
    unclaimed: (page) => listUnclaimed(sql, page),
  }
}

type HeldRow = Readonly<Record<string, unknown>> &
  Readonly<{
    currency: string | null
    units: string
    dueUnits: string | null
    dueCurrency: string
    quotedUnits: string
    quotedCurrency: string
  }>

async function listHeld(sql: Sql, page: Parameters<Lists['held']>[0]): Promise<Rows> {
  const found = await readPage(
    sql,
    {
      select: `x.exchange_id as "exchangeId", a.name as partner, x.id as "executionId", x.deposit_id as "depositId",
        d.network, d.tx_hash as "txHash", d.asset_id as currency, coalesce(d.credited_units, d.units) as units, x.reason, x.decision,
        e.recipient_address as recipient, nullif(e.recipient_memo, '') as "recipientMemo", e.refund_address as "refundAddress",
        nullif(e.refund_memo, '') as "refundMemo", e.legs->x.leg->'to'->>'id' as "dueCurrency", x.due_units as "dueUnits",
        e.legs->-1->'to'->>'id' as "quotedCurrency", e.to_units as "quotedUnits",
        coalesce(x.release_status, 'exchanging') as "onRelease", x.updated_at as since
        from executions x join deposits d on d.id = x.deposit_id join exchanges e on e.id = x.exchange_id
        left join partners a on a.id = e.partner_id`,
      at: 'x.updated_at',
      id: 'x.id',
      where: [["x.status = 'verifying'"]],
      ascending: true,
    },
    page,
  )
  const data = found.data.map((row) => {
    const { dueUnits, quotedUnits, ...held } = row as HeldRow
    const { currency, units, dueCurrency, quotedCurrency } = held
    return {
      ...held,
      amount: currency === null ? null : formatAmount(BigInt(units), currency),
      due: dueUnits === null ? null : formatAmount(BigInt(dueUnits), dueCurrency),
      quoted: formatAmount(BigInt(quotedUnits), quotedCurrency),
    }
  })
  return { ...found, data }
}

async function listUnclaimed(sql: Sql, { cursor, limit }: Parameters<Lists['unclaimed']>[0]): Promise<Rows> {
  const rows = await sql.query<Row & { position: string }>(
    `select d.id::text as position, d.id::text as "depositId", d.exchange_id as "exchangeId", d.tx_hash as "txHash",
       d.asset_id as currency, d.credited_units as units from (${NEXT_UNCLAIMED}) d order by d.id`,
    [readNumber(cursor) ?? '0', limit + 1],
  )
  const found = toRows(rows, limit)
  return { ...found, data: found.data.map((row) => toPayout(row as Row)) }
}
