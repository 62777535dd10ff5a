import type { PublishedEvent, UnpublishedEvent } from '../../../events/domain/partner-event.ts'
import type { EventStore, QueueMeasures } from '../../../events/ports/store.ts'
import type { Database, RowOf, Sql, Tx } from '../core/database.ts'

/** Held from the assignment of positions until the commit, so that positions become visible in ascending order. */
const POSITION_LOCK = 7_240_931

const PUBLISHED = 'id, partner_id as "partnerId", type, position, body'
type PublishedRow = RowOf<PublishedEvent, 'position'>
const toPublished = (row: PublishedRow): PublishedEvent => ({ ...row, position: BigInt(row.position) })

export function createEventStore(database: Database): EventStore {
  const positionOf = async (text: string, values: readonly unknown[], name: string): Promise<bigint | null> => {
    const [row] = await database.query<{ position: string | null }>(text, values, name)
    return row?.position == null ? null : BigInt(row.position)
  }
  return {
    readUnpublished: (limit) => database.query<UnpublishedEvent>(UNPUBLISHED, [limit], 'unpublished-events'),
    publish: async (events) => {
      if (events.length > 0) await database.transaction((tx) => publish(tx, events))
    },
    async postpone(ids, delayMs) {
      if (ids.length === 0) return
      await database.query(
        `update partner_events set publish_at = clock_timestamp() + $2::bigint * interval '1 millisecond' where id = any($1::uuid[])`,
        [ids, delayMs],
      )
    },
    async remove(ids) {
      if (ids.length > 0) await database.query('delete from partner_events where id = any($1::uuid[])', [ids])
    },
    lastPosition: async () =>
      (await positionOf('select max(position) as position from partner_events', [], 'last-event')) ?? 0n,
    async lastOfPartner(partnerId) {
      const [row] = await database.query<RowOf<Pick<PublishedEvent, 'id' | 'position'>, 'position'>>(
        `select id, position from (
           (select id, position from partner_events where partner_id = $1 and position is not null and kind <> 'webhook'
            order by position desc limit 1)
           union all select event_id, position from removed_partner_events where partner_id = $1) e
         order by position desc limit 1`,
        [partnerId],
        'last-event-of-partner',
      )
      return row === undefined ? null : { id: row.id, position: BigInt(row.position) }
    },
    after: async (position, limit) =>
      (
        await database.query<PublishedRow>(
          `select ${PUBLISHED} from partner_events where position > $1 and kind <> 'webhook' order by position limit $2`,
          [position, limit],
          'events-after',
        )
      ).map(toPublished),
    afterOfPartner: async (partnerId, position, limit) =>
      (
        await database.query<PublishedRow>(
          `select ${PUBLISHED} from partner_events where partner_id = $1 and position > $2 and kind <> 'webhook'
           order by position limit $3`,
          [partnerId, position, limit],
          'events-of-partner',
        )
      ).map(toPublished),
    findPosition: (partnerId, id) =>
      positionOf(
        `select position from (
           select position from partner_events where id = $1 and partner_id = $2
           union all select position from removed_partner_events where event_id = $1 and partner_id = $2) e
         where position >= coalesce((select position from removed_partner_events where partner_id = $2), 0)`,
        [id, partnerId],
        'find-event',
      ),
    lastRemoved: (partnerId) => lastRemoved(database, partnerId),
    removeOld: (days, limit) => removeOld(database, days, limit),
    measure: () => measure(database),
  }
}

async function lastRemoved(sql: Sql, partnerId: string): Promise<string | null> {
  const [row] = await sql.query<{ id: string }>(
    'select event_id as id from removed_partner_events where partner_id = $1',
    [partnerId],
  )
  return row?.id ?? null
}

const UNPUBLISHED = `select id, partner_id as "partnerId", kind, subject_id as "subjectId", type, webhook_id as "webhookId",
    created_at as "createdAt"
  from partner_events e where position is null and publish_at <= statement_timestamp()
    and not exists (select 1 from partner_events f where f.subject_id = e.subject_id and f.position is null and f.seq < e.seq
      and f.publish_at > statement_timestamp())
  order by seq limit $1`

async function publish(tx: Tx, events: readonly Readonly<{ id: string; body: string }>[]): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [POSITION_LOCK])
  const values = [events.map(({ id }) => id), events.map(({ body }) => body)]
  await tx.query(
    `with ordered as materialized (
       select e.id, b.body from unnest($1::uuid[], $2::text[]) as b (id, body) join partner_events e on e.id = b.id
       where e.position is null order by e.seq),
     numbered as materialized (select id, body, nextval('partner_event_positions') as position from ordered)
     update partner_events e set position = n.position, body = n.body from numbered n where e.id = n.id`,
    values,
  )
  // A second publisher that read the same events comes here later, and finds their deliveries.
  await tx.query(
    `insert into webhook_deliveries (webhook_id, event_id, subject_id)
     select w.id, e.id, e.subject_id from partner_events e join webhooks w on w.partner_id = e.partner_id
       and (w.id = e.webhook_id or (e.webhook_id is null and (w.events = '{}' or e.type = any(w.events))
         and w.created_at <= e.created_at))
     where e.id = any($1::uuid[]) and not exists (select 1 from webhook_deliveries d where d.event_id = e.id and d.webhook_id = w.id)
     order by e.position, w.id`,
    [values[0]],
  )
  await tx.query(`select pg_notify('partner_events_published', ''), pg_notify('webhook_deliveries_due', '')`)
}

/** Small statements: deliveries are deleted with their events. */
async function removeOld(database: Database, days: number, limit: number): Promise<boolean> {
  await database.query(`delete from mails where created_at < statement_timestamp() - $1 * interval '1 day'`, [days])
  const [removed] = await database.query<{ count: number }>(
    `with removed as (
       delete from partner_events where id in (select id from partner_events
         where created_at < statement_timestamp() - $1 * interval '1 day' order by created_at limit $2)
       returning partner_id, id, position, kind),
     newest as (insert into removed_partner_events as r (partner_id, event_id, position)
       select distinct on (partner_id) partner_id, id, position from removed
         where position is not null and kind <> 'webhook' order by partner_id, position desc
       on conflict (partner_id) do update set event_id = excluded.event_id, position = excluded.position
         where r.position < excluded.position)
     select count(*)::int as count from removed`,
    [days, limit],
  )
  return removed?.count === limit
}

async function measure(database: Database): Promise<QueueMeasures> {
  const seconds = (column: string) => `coalesce(extract(epoch from statement_timestamp() - min(${column})), 0)::float8`
  const [row] = await database.query<QueueMeasures>(
    `with e as (select count(*)::int as n, ${seconds('created_at')} as s from partner_events where position is null),
       d as (select count(*)::int as n, ${seconds('d.created_at')} as s from webhook_deliveries d join webhooks w on w.id = d.webhook_id
         where d.state = 'pending' and w.disabled_by is null)
     select e.n as unpublished, e.s as "unpublishedSeconds", d.n as undelivered, d.s as "undeliveredSeconds" from e, d`,
  )
  return row ?? { unpublished: 0, unpublishedSeconds: 0, undelivered: 0, undeliveredSeconds: 0 }
}

/**
 * A test event of an enabled webhook of this partner; null if it is unknown or disabled. Its subject is itself, so that it waits for no other
 * delivery.
 */
export async function addTestEvent(sql: Sql, partnerId: string, webhookId: string): Promise<string | null> {
  const [row] = await sql.query<{ id: string }>(
    `with made as (
       select gen_random_uuid() as id, w.id as webhook_id from webhooks w
       where w.id = $2 and w.partner_id = $1 and w.disabled_by is null)
     insert into partner_events (id, partner_id, kind, subject_id, type, webhook_id)
     select id, $1, 'webhook', id, 'webhook.test', webhook_id from made returning id`,
    [partnerId, webhookId],
  )
  return row?.id ?? null
}
