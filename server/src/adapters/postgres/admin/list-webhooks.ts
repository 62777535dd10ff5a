import type { AdminLists } from '../../../admin/ports/lists.ts'
import type { Database } from '../core/database.ts'
import { readNumber, readPage, toRows } from './keyset.ts'

/** Counting and the search for an error stop after these rows. */
const WAITING_MAX = 1_000
const DUE_MAX = 20

const WEBHOOK = `w.id, p.name as partner, w.url, w.events, w.disabled_by as "disabledBy",
  (select count(*)::int from (select 1 from webhook_deliveries d where d.webhook_id = w.id and d.state = 'pending'
    limit ${WAITING_MAX}) waiting) as waiting,
  (select n.last_error from (select d.last_error from webhook_deliveries d
     where d.webhook_id = w.id and d.next_attempt_at is not null order by d.next_attempt_at, d.id limit ${DUE_MAX}) n
   where n.last_error is not null limit 1) as "lastError", w.created_at as "createdAt"
  from webhooks w join partners p on p.id = w.partner_id`

export function createWebhookLists(database: Database): Pick<AdminLists, 'webhooks' | 'webhookDeliveries'> {
  return {
    webhooks: ({ partner }, page) =>
      readPage(
        database,
        {
          ...{ select: WEBHOOK, at: 'w.created_at', id: 'w.id' },
          where: partner === null ? [] : [['w.partner_id = (select id from partners where name = $)', partner]],
        },
        page,
      ),
    async webhookDeliveries(webhookId, { cursor, limit }) {
      const rows = await database.query<Record<string, unknown> & { position: string }>(
        `select d.id::text as position, d.id::text, d.event_id as "eventId", e.type, d.subject_id as subject, d.state, d.attempts,
           d.next_attempt_at as "nextAttemptAt", d.last_attempt_at as "lastAttemptAt", d.last_status as "lastStatus",
           d.last_error as "lastError", d.created_at as "createdAt", d.delivered_at as "deliveredAt"
         from webhook_deliveries d join partner_events e on e.id = d.event_id
         where d.webhook_id = $1 and ($2::bigint is null or d.id < $2::bigint) order by d.id desc limit $3`,
        [webhookId, readNumber(cursor), limit + 1],
      )
      return toRows(rows, limit)
    },
  }
}
