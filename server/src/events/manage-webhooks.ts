import { randomBytes } from 'node:crypto'
import { AppError } from '../core/domain/errors.ts'
import type { Partner } from '../core/domain/partner.ts'
import type { Keep } from '../core/ports/store/idempotency.ts'
import { isUuid, timeOrderedId } from '../lib/id.ts'
import type { Webhook } from './domain/webhook.ts'
import type { WebhookServices } from './interfaces.ts'
import type { PartnerHttp, WebhookSecrets } from './ports/partner-http.ts'
import type { WebhookStore } from './ports/store.ts'

export type ManageWebhooksDeps = Readonly<{
  webhooks: WebhookStore
  http: Pick<PartnerHttp, 'findProblem'>
  secrets: WebhookSecrets
}>

const WEBHOOKS_MAX = 20
const OVERLAP_MS = 24 * 3_600_000
const SECRET_BYTES = 32
/** Other texts never reach the store. */
const DELIVERY_ID = /^[1-9][0-9]{0,17}$/

/** For callers without an Idempotency-Key. */
const keepNothing: Keep<unknown> = () => null

export function createManageWebhooks({ webhooks, http, secrets }: ManageWebhooksDeps): WebhookServices {
  const sealNew = (id: string): Buffer => secrets.seal(id, `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}`)

  async function find({ id: partnerId }: Partner, id: string): Promise<Webhook> {
    return orNotFound(isUuid(id) ? await webhooks.find(partnerId, id) : null)
  }

  /** What sends something needs an enabled webhook: else it would wait without a visible reason. */
  async function findEnabled(partner: Partner, id: string): Promise<Webhook> {
    const webhook = await find(partner, id)
    if (webhook.disabledBy !== null) throw disabled()
    return webhook
  }

  return {
    create: async (partner, { url, events }, keep = keepNothing) => {
      // Before the look-up of the host, which takes time. `add` counts again, under a lock.
      if ((await webhooks.list(partner.id)).length >= WEBHOOKS_MAX) throw limitReached()
      const problem = await http.findProblem(url)
      if (problem !== null) throw new AppError('WEBHOOK_URL_REFUSED', `url is refused: ${problem}`, { field: 'url' })
      const id = timeOrderedId()
      const secret = sealNew(id)
      const toCreated = (webhook: Webhook) => ({ webhook, sealed: secret.toString('base64') })
      const added = { id, partnerId: partner.id, url, events, secret }
      const webhook = await webhooks.add(added, WEBHOOKS_MAX, (row) => keep(toCreated(row)))
      if (webhook === null) throw limitReached()
      return toCreated(webhook)
    },
    list: ({ id }) => webhooks.list(id),
    find,
    remove: async (partner, id) => {
      if (!isUuid(id) || !(await webhooks.remove(partner.id, id))) throw notFound()
    },
    rotate: async (partner, id, keep = keepNothing) => {
      const secret = sealNew(id)
      const rotated = { id, sealed: secret.toString('base64') }
      const webhook = { id, partnerId: partner.id, secret }
      const outcome = isUuid(id) ? await webhooks.rotate(webhook, OVERLAP_MS, keep(rotated)) : null
      if (outcome === null) throw notFound()
      if (outcome !== 'rotated') throw rotatedBefore(outcome)
      return rotated
    },
    openSecret: ({ id, sealed }) => secrets.open(id, Buffer.from(sealed, 'base64')),
    setEnabled: async (partner, id, isEnabled) => {
      const isSet = isUuid(id) && (await webhooks.setDisabled(partner.id, id, isEnabled ? null : 'partner'))
      // Not found, or disabled by the operator.
      const webhook = await find(partner, id)
      if (isSet) return webhook
      throw new AppError('WEBHOOK_DISABLED', 'the operator has disabled this webhook: ask them', { field: 'id' })
    },
    test: async (partner, id, keep = keepNothing) => {
      const webhook = await findEnabled(partner, id)
      const eventId = await webhooks.addTest({ id: webhook.id, partnerId: partner.id }, keep)
      if (eventId !== null) return eventId
      // It was deleted or disabled since.
      await findEnabled(partner, id)
      throw disabled()
    },
    deliveries: async (partner, id, before, limit) =>
      webhooks.deliveries(partner.id, (await find(partner, id)).id, before, limit),
    redeliver: async (partner, id, deliveryId, keep = keepNothing) => {
      const webhook = await findEnabled(partner, id)
      const isId = DELIVERY_ID.test(deliveryId)
      const delivery = isId ? await webhooks.redeliver(partner.id, webhook.id, deliveryId, keep) : null
      if (delivery !== null) return delivery
      throw new AppError('DELIVERY_NOT_FOUND', 'this webhook has no delivery with this id', { field: 'deliveryId' })
    },
  }
}

/** One message for an unknown id and one of another partner: it must not reveal which. */
const notFound = () => new AppError('WEBHOOK_NOT_FOUND', 'no webhook with this id: check the id', { field: 'id' })

const disabled = () => new AppError('WEBHOOK_DISABLED', 'this webhook is disabled: enable it first', { field: 'id' })

const rotatedBefore = (until: Date) =>
  new AppError(
    'WEBHOOK_SECRET_ROTATED',
    `two secrets of this webhook sign until ${until.toISOString()}: rotate again from then on`,
    { field: 'id', extra: { possibleFrom: until.toISOString() } },
  )

const limitReached = () =>
  new AppError('WEBHOOK_LIMIT_REACHED', `there are ${WEBHOOKS_MAX} webhooks already: delete one`, {
    extra: { limit: String(WEBHOOKS_MAX) },
  })

function orNotFound(webhook: Webhook | null): Webhook {
  if (webhook === null) throw notFound()
  return webhook
}
