import type { MailStore, QueuedMail } from '../../../events/ports/store.ts'
import type { Sql } from '../core/database.ts'

/** E-mails older than this are not sent: what they say may be wrong by then. */
const MAX_AGE = "interval '3 days'"

export function createMailStore(sql: Sql): MailStore {
  return {
    claim: (limit, leaseMs) =>
      sql.query<QueuedMail>(
        `with due as (select id from mails where next_attempt_at <= statement_timestamp()
             and created_at > statement_timestamp() - ${MAX_AGE} order by next_attempt_at limit $1 for update skip locked)
         update mails m set attempts = attempts + 1, next_attempt_at = clock_timestamp() + $2::bigint * interval '1 millisecond'
         from due where m.id = due.id returning m.id, m.recipient, m.subject, m.body, m.attempts`,
        [limit, leaseMs],
      ),
    async sent(id) {
      await sql.query(
        'update mails set sent_at = clock_timestamp(), next_attempt_at = null, last_error = null where id = $1',
        [id],
      )
    },
    async failed(id, error, retryMs) {
      await sql.query(
        `update mails set last_error = $2, next_attempt_at = clock_timestamp() + $3::bigint * interval '1 millisecond'
         where id = $1`,
        [id, error, retryMs],
      )
    },
  }
}
