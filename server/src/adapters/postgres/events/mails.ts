import type { MailStore, QueuedMail } from '../../../events/ports/store.ts'
import { createAlarmStore } from '../core/alarms.ts'
import type { Database, Tx } from '../core/database.ts'

/** What older e-mails say may be wrong by now. */
const MAX_AGE = "interval '3 days'"

export function createMailStore(database: Database): MailStore {
  return {
    claim: (limit, leaseMs) =>
      database.query<QueuedMail>(
        `with due as (select id from mails where next_attempt_at <= statement_timestamp()
             order by next_attempt_at limit $1 for update skip locked)
         update mails m set attempts = attempts + 1, next_attempt_at = clock_timestamp() + $2::bigint * interval '1 millisecond'
         from due where m.id = due.id returning m.id, m.recipient, m.subject, m.body, m.attempts,
           m.created_at < statement_timestamp() - ${MAX_AGE} as "isLate"`,
        [limit, leaseMs],
      ),
    async sent(id) {
      await database.query(
        'update mails set sent_at = clock_timestamp(), next_attempt_at = null, last_error = null where id = $1',
        [id],
      )
    },
    async failed(id, error, retryMs) {
      await database.query(
        `update mails set last_error = $2, next_attempt_at = clock_timestamp() + $3::bigint * interval '1 millisecond'
         where id = $1`,
        [id, error, retryMs],
      )
    },
    giveUp: (id, reason) => database.transaction((tx) => giveUp(tx, id, reason)),
  }
}

async function giveUp(tx: Tx, id: string, reason: string): Promise<void> {
  const [mail] = await tx.query<{ recipient: string; subject: string }>(
    'update mails set last_error = $2, next_attempt_at = null where id = $1 returning recipient, subject',
    [id, reason],
  )
  if (mail === undefined) return
  await createAlarmStore(tx).raise(`mail:${id}`, 'an e-mail to a partner was not sent', { ...mail, reason })
}
