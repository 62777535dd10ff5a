import { retryDelayMs } from './domain/retry-delays.ts'
import type { Mailer } from './ports/partner-http.ts'
import type { DisabledMail, MailStore } from './ports/store.ts'

const BATCH = 10
const LEASE_MS = 120_000
/** The first nine retry delays, eight hours together. */
const ATTEMPTS_MAX = 9

/** One turn of the sender of e-mails. Each is sent at least once, or given up with an alarm. */
export function createSendMails({
  mails,
  mailer,
  random,
}: Readonly<{ mails: MailStore; mailer: Mailer; random(): number }>): () => Promise<'again' | undefined> {
  return async () => {
    const claimed = await mails.claim(BATCH, LEASE_MS)
    for (const mail of claimed) {
      if (mail.isLate) {
        await mails.giveUp(mail.id, 'it waited for more than three days')
        continue
      }
      try {
        await mailer.send(mail)
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        const retryMs = mail.attempts >= ATTEMPTS_MAX ? null : retryDelayMs(mail.attempts, random())
        await (retryMs === null ? mails.giveUp(mail.id, reason) : mails.failed(mail.id, reason, retryMs))
        continue
      }
      await mails.sent(mail.id)
    }
    return claimed.length === BATCH ? 'again' : undefined
  }
}

/** Tells a partner that its webhook was disabled, and what to do. */
export const disabledMail: DisabledMail = ({ id, url }) => ({
  subject: 'A webhook was disabled',
  body: [
    `The webhook ${id} was disabled, because ${url} did not accept an event for three days.`,
    'Its events are kept for 30 days.',
    `When the receiver works again, call POST /v1/webhooks/${id}/enable: the waiting events are then delivered in order.`,
    '',
  ].join('\n'),
})
