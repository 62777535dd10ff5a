import type { ClaimedDelivery } from '../../../events/domain/webhook.ts'
import type { AttemptResult, DeliveryStore, DisabledMail, FailurePolicy } from '../../../events/ports/store.ts'
import { createAlarmStore } from '../core/alarms.ts'
import type { Database, Tx } from '../core/database.ts'

export const webhookAlarm = (id: string): string => `webhook:${id}`

/**
 * `queued` visits each webhook with a queue by one look into the index, so that a long queue of one costs the others nothing.
 * Those that are sent now are skipped by their lease. A claim clears the last error: a delivery without one is being sent.
 */
const CLAIM = `with recursive queued as (
    (select webhook_id from webhook_deliveries where next_attempt_at is not null order by webhook_id limit 1)
    union all
    select (select d.webhook_id from webhook_deliveries d where d.next_attempt_at is not null and d.webhook_id > q.webhook_id
      order by d.webhook_id limit 1) from queued q where q.webhook_id is not null),
  due as (
    select d.id from queued q
    join webhooks w on w.id = q.webhook_id and w.disabled_by is null
    left join unnest($3::uuid[], $4::int[]) as o (id, most) on o.id = w.id
    cross join lateral (
      select d.id, d.next_attempt_at from webhook_deliveries d
      where d.webhook_id = w.id and d.next_attempt_at <= statement_timestamp()
      order by d.next_attempt_at, d.id limit coalesce(o.most, $2)) d
    order by d.next_attempt_at, d.id limit $1),
  locked as materialized (
    select id from webhook_deliveries where id in (select id from due) and next_attempt_at <= statement_timestamp()
    for update skip locked)
  update webhook_deliveries d set attempts = attempts + 1, last_attempt_at = clock_timestamp(), last_status = null, last_error = null,
    next_attempt_at = clock_timestamp() + $5::bigint * interval '1 millisecond'
  from locked l, webhooks w, partner_events e
  where d.id = l.id and w.id = d.webhook_id and e.id = d.event_id
  returning d.id, d.webhook_id as "webhookId", w.url, d.attempts, e.body, w.secret,
    case when w.previous_until > statement_timestamp() then w.previous_secret end as "previousSecret"`

type ClaimedRow = Omit<ClaimedDelivery, 'secrets'> & Readonly<{ secret: Buffer; previousSecret: Buffer | null }>

export function createDeliveryStore(database: Database): DeliveryStore {
  return {
    async claim(limit, { each, others }, leaseMs) {
      const values = [limit, each, [...others.keys()], [...others.values()], leaseMs]
      const rows = await database.query<ClaimedRow>(CLAIM, values, 'claim-deliveries')
      return rows.map(({ secret, previousSecret, ...row }) => ({
        ...row,
        secrets: previousSecret === null ? [secret] : [secret, previousSecret],
      }))
    },
    finish: (results, policy) => database.transaction((tx) => finish(tx, results, policy)),
  }
}

type Outcome = AttemptResult & Readonly<{ retryMs: number | null }>

/**
 * The number of the attempt tells whether the claim is still in force. Sorted, so that two of these cannot deadlock. A delivery that
 * failed for too long stays due, first in its queue, until its webhook is enabled again.
 */
async function finish(tx: Tx, results: readonly AttemptResult[], policy: FailurePolicy): Promise<void> {
  const delivered = results.filter(({ error }) => error === null).map((one): Outcome => ({ ...one, retryMs: null }))
  const failed = await scheduleFailed(tx, results, policy)
  const outcomes = [...delivered, ...failed.map((one): Outcome => ({ ...one, retryMs: one.retryMs ?? 0 }))]
  const column = <K extends keyof Outcome>(name: K) => outcomes.map((outcome) => outcome[name])
  await tx.query(
    `with r as (select * from unnest($1::bigint[], $2::int[], $3::bigint[], $4::int[], $5::text[])
         as r (id, attempts, retry_ms, status, error)),
       locked as materialized (select d.id from webhook_deliveries d join r on r.id = d.id and r.attempts = d.attempts
         where d.state = 'pending' order by d.id for update of d)
     update webhook_deliveries d set last_status = r.status, last_error = r.error,
       state = case when r.error is null then 'delivered' else 'pending' end,
       delivered_at = case when r.error is null then clock_timestamp() end,
       failing_since = case when r.error is not null then coalesce(d.failing_since, clock_timestamp()) end,
       next_attempt_at = case when r.error is not null then clock_timestamp() + r.retry_ms * interval '1 millisecond' end
     from r, locked l where d.id = l.id and r.id = d.id`,
    [column('id'), column('attempts'), column('retryMs'), column('status'), column('error')],
  )
  for (const { webhookId, error, retryMs } of failed)
    if (retryMs === null) await disable(tx, webhookId, error ?? '', policy.mail)
}

/**
 * When the failed ones are sent again; null = their webhook is disabled. Only those whose claim is in force. The webhooks are locked
 * before their deliveries, as by those who enable or delete one: an attempt that ends after the webhook was enabled fails for the
 * first time.
 */
async function scheduleFailed(
  tx: Tx,
  results: readonly AttemptResult[],
  { nextAttemptMs }: FailurePolicy,
): Promise<readonly Outcome[]> {
  const failed = results.filter(({ error }) => error !== null)
  if (failed.length === 0) return []
  const column = <K extends keyof AttemptResult>(name: K) => failed.map((one) => one[name])
  await tx.query('select 1 from webhooks where id = any($1::uuid[]) order by id for no key update', [
    column('webhookId'),
  ])
  const rows = await tx.query<{ id: string; attempts: number; failingMs: number }>(
    `select d.id, d.attempts, coalesce(extract(epoch from clock_timestamp() - d.failing_since) * 1000, 0)::float8 as "failingMs"
     from webhook_deliveries d join unnest($1::bigint[], $2::int[]) as r (id, attempts) on r.id = d.id and r.attempts = d.attempts
     where d.state = 'pending' order by d.id for update of d`,
    [column('id'), column('attempts')],
  )
  return rows.flatMap(({ id, attempts, failingMs }) => {
    const one = failed.find((result) => result.id === id && result.attempts === attempts)
    return one === undefined ? [] : [{ ...one, retryMs: nextAttemptMs(failingMs) }]
  })
}

type Disabled = Readonly<{ url: string; partner: string; email: string | null }>

async function disable(tx: Tx, id: string, reason: string, mail: DisabledMail | null): Promise<void> {
  const [disabled] = await tx.query<Disabled>(
    `update webhooks w set disabled_by = 'failures' from partners p
     where w.id = $1 and w.disabled_by is null and p.id = w.partner_id returning w.url, p.name as partner, p.email`,
    [id],
  )
  if (!disabled) return
  const { url, partner, email } = disabled
  const mailed = mail !== null && email !== null
  await createAlarmStore(tx).raise(webhookAlarm(id), 'a webhook failed for three days and was disabled', {
    ...{ partner, url, reason, mailed },
  })
  if (!mailed) return
  const { subject, body } = mail({ id, url })
  await tx.query('insert into mails (recipient, subject, body) values ($1, $2, $3)', [email, subject, body])
}
