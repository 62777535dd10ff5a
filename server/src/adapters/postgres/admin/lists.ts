import type { AdminLists } from '../../../admin/ports/lists.ts'
import { formatUnits } from '../../../core/domain/amount.ts'
import { exchangeStatuses } from '../../../exchange/domain/exchange.ts'
import { swapStatuses } from '../../../swap/domain/swap.ts'
import type { Database } from '../core/database.ts'
import { type Condition, readNumber, readPage, toRows } from './keyset.ts'
import { createBalanceLists } from './list-balances.ts'
import { createExchangeLists } from './list-exchanges.ts'
import { createPartnerLists } from './list-partners.ts'
import { createPayoutLists } from './list-payouts.ts'
import { createWebhookLists } from './list-webhooks.ts'
import { type Range, readRange } from './read-range.ts'

const COUNTED_MAX = 1_000
const LISTED_MAX = 1_000

export function createAdminLists(database: Database): AdminLists {
  return {
    ...createExchangeLists(database),
    ...createPayoutLists(database),
    ...createActLists(database),
    ...createServiceLists(database),
    ...createWebhookLists(database),
    ...createPartnerLists(database),
    ...createBalanceLists(database),
    async swaps(filter, page) {
      const found = await readRange(database, swapRange(filter), page)
      return { ...found, data: found.data.map((row) => toSwap(row as SwapRow)) }
    },
  }
}

const SWAP = `s.id, p.name as partner, s.network, s.hash, s.status, s.reason, s.told as reported, s.token_in as "tokenIn",
  s.units_in as "unitsIn", s.decimals_in as "decimalsIn", s.token_out as "tokenOut", s.decimals_out as "decimalsOut",
  s.expected_units as "expectedUnits", s.received_units as "receivedUnits", s.sender, s.recipient, s.created_at as "createdAt"`

/** Few swaps have one hash; an index orders those of a partner, of a status, and of a partner in a status. */
function swapRange({ status, hashes, partner }: Parameters<AdminLists['swaps']>[0]): Range {
  const ofPartner: readonly Condition[] =
    partner === null ? [] : [['s.partner_id = (select id from partners where name = $)', partner]]
  const ofHash: readonly Condition[] = hashes === null ? [] : [['s.hash = any($)', hashes]]
  const merged = partner === null && hashes === null ? swapStatuses : null
  return {
    table: 'swaps',
    ...{ alias: 's', select: SWAP, joins: 'left join partners p on p.id = s.partner_id' },
    within: [...ofPartner, ...ofHash],
    statuses: status === null ? merged : [status],
    filters: [],
  }
}

type SwapRow = Readonly<Record<string, unknown>> &
  Readonly<{
    unitsIn: string
    decimalsIn: number
    expectedUnits: string
    receivedUnits: string | null
    decimalsOut: number
  }>

function toSwap({ unitsIn, decimalsIn, expectedUnits, receivedUnits, decimalsOut, ...row }: SwapRow) {
  return {
    ...row,
    amountIn: formatUnits(BigInt(unitsIn), decimalsIn),
    expected: formatUnits(BigInt(expectedUnits), decimalsOut),
    received: receivedUnits === null ? null : formatUnits(BigInt(receivedUnits), decimalsOut),
  }
}

/** The log, requests and sessions. */
function createActLists(database: Database): Pick<AdminLists, 'audit' | 'requests' | 'sessions'> {
  return {
    async audit({ subject, actor }, { cursor, limit }) {
      const filters = [
        ['a.subject = ', subject],
        ['a.actor = ', actor],
        ['a.id < ', readNumber(cursor)],
      ] as const
      const used = filters.filter(([, value]) => value !== null)
      const where = used.map(([condition], n) => `${condition}$${n + 1}`).join(' and ')
      const rows = await database.query<Record<string, unknown> & { position: string }>(
        `select id::text as position, id::text, at, actor, act, subject, reason, detail, before, after,
           encode(hash, 'hex') as hash
         from operator_acts a ${where === '' ? '' : `where ${where}`} order by a.id desc limit $${used.length + 1}`,
        [...used.map(([, value]) => value), limit + 1],
      )
      return toRows(rows, limit)
    },
    requests: (isOpen, page) =>
      readPage(
        database,
        {
          select: `r.id, r.action, r.arguments - 'hmac' - 'tokenHash' - 'totpSecret' - 'raw' as arguments, r.reason,
            case when r.state = 'asked' and r.expires_at <= clock_timestamp() then 'expired' else r.state end as state,
            a.login as "askedBy", r.asked_at as "askedAt", r.expires_at as "expiresAt", d.login as "decidedBy",
            r.decided_at as "decidedAt", r.result
            from operator_requests r join operators a on a.id = r.asked_by left join operators d on d.id = r.decided_by`,
          at: 'r.asked_at',
          id: 'r.id',
          where: isOpen ? [["r.state = 'asked'"], ['r.expires_at > clock_timestamp()']] : [],
        },
        page,
      ),
    sessions: (operatorId, page) =>
      readPage(
        database,
        {
          select: `s.id, o.login, s.kind, s.ip, s.user_agent as "userAgent", s.created_at as "createdAt",
            s.last_used_at as "lastUsedAt", s.expires_at as "expiresAt", s.revoked_at is not null as revoked
            from operator_sessions s join operators o on o.id = s.operator_id`,
          at: 's.created_at',
          id: 's.id',
          where: operatorId === null ? [] : [['s.operator_id = $', operatorId]],
        },
        page,
      ),
  }
}

/**
 * The journal has the time of a credit, and an index of its times. Deposits of a later leg are our own payments, and those that were
 * reversed have no `credited_units`.
 */
const CREDITED_LAST_DAY = `
select d.asset_id as "assetId", sum(d.credited_units) as units
from (select distinct split_part(id, ':', 2)::bigint as id from journal
  where at > statement_timestamp() - interval '24 hours' and event = 'deposit') credited
join deposits d on d.id = credited.id
where d.status = 'credited' and d.leg = 0 group by 1 order by 1`

type ServiceLists = Pick<AdminLists, 'pauses' | 'rescans' | 'cursors' | 'pools' | 'waiting' | 'lastDay'>

function createServiceLists(database: Database): ServiceLists {
  return {
    pauses: () =>
      database.query(
        `select s.scope, p.name as partner, s.reason, s.actor, s.at
         from pauses s left join partners p on s.scope = 'partner:' || p.id order by s.scope limit ${LISTED_MAX}`,
      ),
    rescans: (limit) =>
      database.query(
        `select id::text, network, next_height::text as "nextHeight", to_height::text as "toHeight", found, failure,
           ended_at is not null as ended, created_at as "createdAt" from rescans order by id desc limit $1`,
        [limit],
      ),
    cursors: () =>
      database.query(
        `select network, height::text, scanned_at as "scannedAt", caught_up_at as "caughtUpAt",
           extract(epoch from clock_timestamp() - caught_up_at)::int as "lagSeconds" from cursors order by network`,
      ),
    pools: () =>
      database.query(
        'select network, block_height::text as height, saved_at as "savedAt" from pool_snapshots order by network',
      ),
    async waiting() {
      const count = (from: string) => `(select count(*)::int from (select 1 from ${from} limit ${COUNTED_MAX}) c)`
      const [row] = await database.query<Awaited<ReturnType<AdminLists['waiting']>>>(
        `select ${count("executions where status = 'verifying'")} as executions,
           ${count("payouts where state = 'reserved' and attention is not null")} as payouts,
           ${count("operator_requests where state = 'asked' and expires_at > clock_timestamp()")} as requests,
           (select min(next_check_at) from exchange_checks where next_check_at < clock_timestamp()) as "oldestStepAt"`,
      )
      return row ?? { executions: 0, payouts: 0, requests: 0, oldestStepAt: null }
    },
    async lastDay() {
      const hours = await database.query<{ at: Date; created: number; finished: number }>(
        `select date_trunc('hour', created_at, 'UTC') as at, count(*)::int as created,
           count(*) filter (where status = 'finished')::int as finished
         from exchanges where status = any($1) and created_at > statement_timestamp() - interval '24 hours'
         group by 1 order by 1`,
        [exchangeStatuses],
      )
      const credited = await database.query<{ assetId: string; units: string }>(CREDITED_LAST_DAY)
      return { volume: credited.map(({ assetId, units }) => ({ assetId, units: BigInt(units) })), hours }
    },
  }
}
