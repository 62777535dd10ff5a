import type { ClaimedResponse, Keep } from '../../../core/ports/store/idempotency.ts'
import type { Delivery, Webhook } from '../../../events/domain/webhook.ts'
import type { NewWebhook, WebhookStore } from '../../../events/ports/store.ts'
import { createAlarmStore } from '../core/alarms.ts'
import { type Database, hasRow, type Sql, type Tx } from '../core/database.ts'
import { saveInTransaction } from '../core/idempotency.ts'
import { webhookAlarm } from './deliveries.ts'
import { addTestEvent } from './events.ts'

const WEBHOOK = 'id, partner_id as "partnerId", url, events, disabled_by as "disabledBy", created_at as "createdAt"'
const DELIVERY = `d.id, d.event_id as "eventId", e.type, d.state, d.attempts, d.next_attempt_at as "nextAttemptAt",
  d.last_attempt_at as "lastAttemptAt", d.last_status as "lastStatus", d.last_error as "lastError", d.created_at as "createdAt",
  d.delivered_at as "deliveredAt"`
const NOTIFY = `select pg_notify('webhook_deliveries_due', '')`

export function createWebhookStore(database: Database): WebhookStore {
  return {
    add: (webhook, most, keep) => database.transaction((tx) => add(tx, webhook, most, keep)),
    list: (partnerId) =>
      database.query<Webhook>(`select ${WEBHOOK} from webhooks where partner_id = $1 order by created_at, id`, [
        partnerId,
      ]),
    async find(partnerId, id) {
      const [row] = await database.query<Webhook>(`select ${WEBHOOK} from webhooks where id = $1 and partner_id = $2`, [
        id,
        partnerId,
      ])
      return row ?? null
    },
    remove: (partnerId, id) =>
      database.transaction(async (tx) => {
        const values = [id, partnerId]
        const isFound = await hasRow(tx, 'delete from webhooks where id = $1 and partner_id = $2 returning 1', values)
        if (isFound) await createAlarmStore(tx).clear(webhookAlarm(id))
        return isFound
      }),
    rotate: (webhook, overlapMs, response) => database.transaction((tx) => rotate(tx, webhook, overlapMs, response)),
    setDisabled: (partnerId, id, by) => database.transaction((tx) => setWebhookDisabled(tx, partnerId, id, by)),
    addTest: ({ partnerId, id }, keep) =>
      database.transaction(async (tx) => {
        const eventId = await addTestEvent(tx, partnerId, id)
        if (eventId !== null) await saveInTransaction(tx, keep(eventId))
        return eventId
      }),
    // The partner also here, after the services' own check (I-20).
    deliveries: (partnerId, id, before, limit) =>
      database.query<Delivery>(
        `select ${DELIVERY} from webhook_deliveries d join partner_events e on e.id = d.event_id
         where d.webhook_id = $1 and exists (select 1 from webhooks where id = $1 and partner_id = $2)
           and ($3::bigint is null or d.id < $3) order by d.id desc limit $4`,
        [id, partnerId, before, limit],
      ),
    redeliver: (partnerId, id, deliveryId, keep) =>
      database.transaction((tx) => redeliver(tx, { partnerId, webhookId: id, deliveryId }, keep)),
  }
}

/** The lock of the partner's row makes concurrent creates count one after the other. */
async function add(
  tx: Tx,
  { id, partnerId, url, events, secret }: NewWebhook,
  most: number,
  keep: Keep<Webhook>,
): Promise<Webhook | null> {
  await tx.query('select 1 from partners where id = $1 for no key update', [partnerId])
  const [row] = await tx.query<Webhook>(
    `insert into webhooks (id, partner_id, url, events, secret) select $1, $2, $3, $4, $5
     where (select count(*) from webhooks where partner_id = $2) < $6 returning ${WEBHOOK}`,
    [id, partnerId, url, events, secret, most],
  )
  if (row === undefined) return null
  await saveInTransaction(tx, keep(row))
  return row
}

async function rotate(
  tx: Tx,
  { id, partnerId, secret }: Pick<NewWebhook, 'id' | 'partnerId' | 'secret'>,
  overlapMs: number,
  response: ClaimedResponse | null,
): Promise<'rotated' | Date | null> {
  // A third secret would end the one that receivers still use.
  const isRotated = await hasRow(
    tx,
    `update webhooks set secret = $3, previous_secret = secret,
       previous_until = clock_timestamp() + $4::bigint * interval '1 millisecond'
     where id = $1 and partner_id = $2 and (previous_until is null or previous_until <= clock_timestamp()) returning 1`,
    [id, partnerId, secret, overlapMs],
  )
  if (isRotated) {
    await saveInTransaction(tx, response)
    return 'rotated'
  }
  const [row] = await tx.query<{ until: Date | null }>(
    'select previous_until as until from webhooks where id = $1 and partner_id = $2',
    [id, partnerId],
  )
  return row?.until ?? null
}

/**
 * Enabling makes what failed due at once, with three days from its next failure, and ends the alarm. What is sent now keeps its lease:
 * a second attempt would begin beside the first.
 */
async function setWebhookDisabled(
  sql: Sql,
  partnerId: string | null,
  id: string,
  by: Webhook['disabledBy'],
): Promise<boolean> {
  const isFound = await hasRow(
    sql,
    `update webhooks set disabled_by = $3
     where id = $1 and ($2::uuid is null or (partner_id = $2 and disabled_by is distinct from 'operator')) returning 1`,
    [id, partnerId, by],
  )
  if (!isFound || by !== null) return isFound
  await sql.query(
    `update webhook_deliveries set failing_since = null,
       next_attempt_at = case when last_error is null then next_attempt_at else clock_timestamp() end
     where webhook_id = $1 and next_attempt_at is not null and (last_error is not null or failing_since is not null)`,
    [id],
  )
  await createAlarmStore(sql).clear(webhookAlarm(id))
  await sql.query(NOTIFY)
  return true
}

async function redeliver(
  tx: Tx,
  { partnerId, webhookId, deliveryId }: Readonly<{ partnerId: string | null; webhookId: string; deliveryId: string }>,
  keep: Keep<Delivery>,
): Promise<Delivery | null> {
  // Before the delivery, as everywhere.
  const isFound = await hasRow(
    tx,
    'select 1 from webhooks where id = $1 and ($2::uuid is null or partner_id = $2) for no key update',
    [webhookId, partnerId],
  )
  if (!isFound) return null
  const [found] = await tx.query<{ eventId: string; subjectId: string; state: string }>(
    `select event_id as "eventId", subject_id as "subjectId", state from webhook_deliveries
     where id = $1 and webhook_id = $2 for update`,
    [deliveryId, webhookId],
  )
  if (!found) return null
  const [row] =
    found.state === 'pending'
      ? // Not while it is sent, when it has no error: a second attempt would begin beside the first.
        await tx.query<{ id: string }>(
          `update webhook_deliveries set next_attempt_at = clock_timestamp()
           where id = $1 and last_error is not null and next_attempt_at is not null returning id`,
          [deliveryId],
        )
      : await tx.query<{ id: string }>(
          'insert into webhook_deliveries (webhook_id, event_id, subject_id) values ($1, $2, $3) returning id',
          [webhookId, found.eventId, found.subjectId],
        )
  await tx.query(NOTIFY)
  const [delivery] = await tx.query<Delivery>(
    `select ${DELIVERY} from webhook_deliveries d join partner_events e on e.id = d.event_id where d.id = $1`,
    [row?.id ?? deliveryId],
  )
  if (delivery === undefined) return null
  await saveInTransaction(tx, keep(delivery))
  return delivery
}

/** A webhook for the audit log, without its secrets; null if it is unknown. */
export async function webhookRow(sql: Sql, id: string): Promise<Record<string, unknown> | null> {
  const [row] = await sql.query<Record<string, unknown>>(
    `select w.id, p.name as partner, w.url, w.events, w.disabled_by as "disabledBy", w.created_at as "createdAt"
     from webhooks w join partners p on p.id = w.partner_id where w.id = $1`,
    [id],
  )
  return row ?? null
}
