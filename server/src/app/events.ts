import { createSmtpMailer } from '../adapters/mail/smtp.ts'
import type { Database } from '../adapters/postgres/core/database.ts'
import { createDeliveryStore } from '../adapters/postgres/events/deliveries.ts'
import { createEventStore } from '../adapters/postgres/events/events.ts'
import { createMailStore } from '../adapters/postgres/events/mails.ts'
import { createWebhookStore } from '../adapters/postgres/events/webhooks.ts'
import { createWebhookSecrets } from '../adapters/signers/webhook-secrets.ts'
import type { Environment } from '../core/domain/network.ts'
import { startDeliverWebhooks } from '../events/deliver-webhooks.ts'
import { KEPT_DAYS } from '../events/domain/event-types.ts'
import type { EventServices } from '../events/interfaces.ts'
import { createManageWebhooks } from '../events/manage-webhooks.ts'
import { createPublishEvents, type PublishEventsDeps } from '../events/publish-events.ts'
import { createSendMails, disabledMail } from '../events/send-mails.ts'
import { createEventStreams } from '../events/stream-events.ts'
import { presentStatus } from '../exchange/api/present.ts'
import { createPresentDeps } from '../exchange/api/present-deps.ts'
import type { ExchangeServices } from '../exchange/interfaces.ts'
import type { Store } from '../exchange/ports/store/store.ts'
import type { Log } from '../lib/log.ts'
import { joinLoops, type Loop, startLoop } from '../lib/loop.ts'
import { createOutwardHttp } from '../lib/outward-http.ts'
import { presentSwap } from '../swap/api/present.ts'
import type { SwapServices } from '../swap/interfaces.ts'
import type { Metrics } from './metrics.ts'
import { repeat } from './repeat.ts'

/** The SMTP server for e-mails to partners, and their sender. */
export type MailSettings = Readonly<{ url: string; from: string }>

export type EventOptions = Readonly<{
  environment: Environment
  pepper: Uint8Array
  previousPepper?: Uint8Array | null
  /** Absent: no e-mails are sent. */
  mail?: MailSettings | null
  /** Time of one delivery, in ms. Default: 10 s. */
  deliveryTimeoutMs?: number
  log: Log
  metrics: Pick<Metrics, 'eventStreams' | 'eventQueues' | 'webhookAttempt'>
}>

export type Events = Readonly<{
  services: EventServices
  /** What to do at each notification of the database. `forget` drops cached keys. */
  onNotice(forget: () => void): Readonly<Record<string, () => void>>
  startWorkers(render: PublishEventsDeps['render']): Loop
  stop(): Promise<void>
}>

const POLL_MS = 1_000
const REMOVE_MS = 60_000
const REMOVE_BATCH = 500

export function openEvents(options: EventOptions, database: Database): Events {
  const { log, metrics } = options
  const http = createOutwardHttp({
    allowsAll: options.environment === 'sandbox',
    ...(options.deliveryTimeoutMs === undefined ? {} : { timeoutMs: options.deliveryTimeoutMs }),
  })
  const secrets = createWebhookSecrets(options.pepper, options.previousPepper)
  const events = createEventStore(database)
  const streams = createEventStreams({
    events,
    onCount: metrics.eventStreams,
    onError: (err) => log.warn({ err }, 'events were not read for the event streams'),
  })
  const wakes = { publish: () => undefined as unknown, deliver: () => undefined as unknown }
  return {
    services: { webhooks: createManageWebhooks({ webhooks: createWebhookStore(database), http, secrets }), streams },
    onNotice: (forget) => ({
      partners_changed: () => {
        forget()
        streams.recheck()
      },
      partner_events_added: () => void wakes.publish(),
      partner_events_published: streams.wake,
      webhook_deliveries_due: () => void wakes.deliver(),
    }),
    startWorkers: (render) => {
      const publishing = startLoop({
        paceMs: POLL_MS,
        backoffMs: 10_000,
        turn: createPublishEvents({
          events,
          render,
          onError: (err, { id, type, subjectId }) =>
            log.error({ err, eventId: id, type, subjectId }, 'event not rendered'),
        }),
        onError: (err) => log.warn({ err }, 'events were not published'),
      })
      const delivering = startDeliverWebhooks({
        ...{ deliveries: createDeliveryStore(database), http, secrets, mail: options.mail ? disabledMail : null },
        ...{ random: Math.random, now: Date.now, onAttempt: metrics.webhookAttempt },
        onError: (err) => log.warn({ err }, 'webhooks were not delivered'),
      })
      wakes.publish = publishing.wake
      wakes.deliver = delivering.wake
      const others = startOthers(options, database, events)
      return {
        stop: async () => {
          await joinLoops(publishing, delivering, ...others).stop()
        },
      }
    },
    stop: async () => {
      await streams.stop()
      await http.close()
    },
  }
}

/** E-mails, the end of old events, and gauges. */
function startOthers(
  { mail = null, log, metrics }: EventOptions,
  database: Database,
  events: ReturnType<typeof createEventStore>,
): Loop[] {
  const mailing = mail && {
    turn: createSendMails({ mails: createMailStore(database), mailer: createSmtpMailer(mail), random: Math.random }),
  }
  return [
    ...(mailing ? [repeat(log, POLL_MS, 'e-mails were not sent', mailing.turn)] : []),
    repeat(log, REMOVE_MS, 'old events were not deleted', async () =>
      (await events.removeOld(KEPT_DAYS, REMOVE_BATCH)) ? 'again' : undefined,
    ),
    repeat(log, 5_000, 'gauges of events were not updated', async () => metrics.eventQueues(await events.measure())),
  ]
}

/** Renders what events are about exactly as the API answers about it. */
export function createRenderers(
  store: Pick<Store, 'exchanges'>,
  services: Pick<ExchangeServices, 'listCurrencies' | 'expectations' | 'tracking'> &
    Readonly<{ swaps: Pick<SwapServices, 'findSwap' | 'listFeeAddresses'> }>,
  publicUrl: string,
): PublishEventsDeps['render'] {
  const presentDeps = createPresentDeps(services, publicUrl)
  return {
    exchange: async (partnerId, id) => {
      const view = await store.exchanges.find(partnerId, id)
      return view === null ? null : presentStatus(view, presentDeps)
    },
    swap: async (partnerId, id) => {
      const view = await services.swaps.findSwap({ id: partnerId }, { id })
      return view === null ? null : presentSwap(view)
    },
    partner: async (id) => ({ data: await services.swaps.listFeeAddresses({ id }) }),
  }
}
