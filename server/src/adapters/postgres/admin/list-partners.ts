import type { AdminLists } from '../../../admin/ports/lists.ts'
import { isUuid } from '../../../lib/id.ts'
import { memoOrNull, type Sql } from '../core/database.ts'
import { listFeeAddresses } from '../swap/own-fee-addresses.ts'
import { formatAmount } from './format-amount.ts'
import { type Condition, createBinder, placeOfText, readText, toRows } from './keyset.ts'

const EXPIRES_AT = `(select nullif(max(coalesce(s.expires_at, 'infinity')), 'infinity') from key_secrets s where s.key_id = k.id)`

const PARTNER = `select p.id, p.name, p.fee_bps as "feeBps", p.suspended, p.open_exchanges_max as "openExchangesMax",
  p.rate_limit_per_minute as "rateLimitPerMinute", p.strict, p.refund_to_sender as "refundToSender",
  p.refund_by_link as "refundByLink", p.email,
  (select json_agg(json_build_object('currency', r.asset_id, 'address', r.address, 'memo', r.memo) order by r.asset_id)
     from default_recipients r where r.partner_id = p.id) as recipients,
  (select json_agg(json_build_object('keyId', k.id, 'scopes', k.scopes, 'ipAllowList', k.ip_allow_list, 'origins', k.origins,
     'createdBy', k.created_by, 'expiresAt', ${EXPIRES_AT}, 'revoked', k.revoked_at is not null, 'lastUsedAt', k.last_used_at)
     order by k.created_at) from api_keys k where k.partner_id = p.id) as keys
  from partners p`

type Recipient = Readonly<{ currency: string; address: string; memo: string }>
type Key = Readonly<Record<string, unknown>> & Readonly<{ expiresAt: string | null; lastUsedAt: string | null }>
type Row = Readonly<Record<string, unknown>> &
  Readonly<{ id: string; name: string; recipients: readonly Recipient[] | null; keys: readonly Key[] | null }>

/** In the order of their names, by their index. A search reads names alone: operators add partners one by one. */
export function createPartnerLists(sql: Sql): Pick<AdminLists, 'partners'> {
  return {
    async partners(find, { cursor, limit }) {
      const values: unknown[] = []
      const after = readText(cursor)
      const where = [...(after === null ? [] : [['p.name > $', after] as const]), ...toConditions(find)]
      const conditions = where.map(createBinder(values)).join(' and ')
      values.push(limit + 1)
      const rows = await sql.query<Row>(
        `${PARTNER} ${conditions === '' ? '' : `where ${conditions}`} order by p.name limit $${values.length}`,
        values,
      )
      const ids = rows.map(({ id }) => id)
      const addresses = Map.groupBy(await listFeeAddresses(sql, ids), ({ partnerId }) => partnerId)
      const monthly = Map.groupBy(await listMonthlyPayouts(sql, ids), ({ partnerId }) => partnerId)
      const shown = rows.map(({ recipients, keys, ...partner }) => ({
        ...partner,
        recipients: (recipients ?? []).map((row) => ({ ...row, memo: memoOrNull(row.memo) })),
        keys: (keys ?? []).map(toKey),
        feeAddresses: (addresses.get(partner.id) ?? []).map(({ partnerId: _, ...row }) => row),
        monthlyPayouts: (monthly.get(partner.id) ?? []).map(({ partnerId: _, ...row }) => row),
        position: placeOfText(partner.name),
      }))
      return toRows(shown, limit)
    },
  }
}

function toConditions(find: string | null): readonly Condition[] {
  if (find === null) return []
  if (isUuid(find)) return [['(p.id = $ or p.name = $)', find, find]]
  return [['position(lower($) in lower(p.name)) > 0', find]]
}

const toTime = (at: string | null): Date | null => (at === null ? null : new Date(at))
const toKey = (key: Key) => ({ ...key, expiresAt: toTime(key.expiresAt), lastUsedAt: toTime(key.lastUsedAt) })

/** In coins. */
async function listMonthlyPayouts(sql: Sql, partnerIds: readonly string[]) {
  type Terms = Readonly<{ partnerId: string; currency: string; units: string; address: string; memo: string | null }>
  const rows = await sql.query<Terms & Readonly<{ convertsOthers: boolean }>>(
    `select s.partner_id as "partnerId", s.asset_id as currency, s.minimum as units, r.address,
       nullif(r.memo, '') as memo, s.converts_others as "convertsOthers"
     from monthly_payout_settings s join default_recipients r using (partner_id, asset_id)
     where s.partner_id = any($1) order by s.asset_id`,
    [partnerIds],
  )
  return rows.map(({ units, ...row }) => ({ ...row, minimum: formatAmount(BigInt(units), row.currency) }))
}
