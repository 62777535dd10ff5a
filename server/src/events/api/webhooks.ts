import {
  type CreateWebhookBody,
  type DeliveriesQuery,
  type DeliveryParams,
  LIMIT_DEFAULT,
  type RouteDefinition,
  routes,
  type Webhook,
  type WebhookParams,
} from '@swapyard/schema'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Partner } from '../../core/domain/partner.ts'
import { readIdempotency } from '../../core/http/idempotency.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import type { Keep } from '../../core/ports/store/idempotency.ts'
import type { CreatedWebhook, EventServices, SealedSecret } from '../interfaces.ts'
import { presentDelivery, presentWebhook } from './present.ts'

type Context = ApiContext<{ events: EventServices }>

const paramsOf = <Params = WebhookParams>(request: FastifyRequest): Params => request.params as Params

export function mountWebhooks(context: Context): void {
  const { webhooks } = context.services.events
  mountReads(context)
  mountSecrets(context)
  mount(context, routes.deleteWebhook, async (request, reply) => {
    const { id } = paramsOf(request)
    await webhooks.remove(callerOf(request).partner, id)
    reply.header('cache-control', 'no-store')
    return { id, deleted: true }
  })
  for (const [route, isEnabled] of [[routes.enableWebhook, true] as const, [routes.disableWebhook, false] as const])
    mountPost(context, route, async (partner, request) =>
      presentWebhook(await webhooks.setEnabled(partner, paramsOf(request).id, isEnabled)),
    )
  mountPost(context, routes.testWebhook, async (partner, request, keep: Keep<{ eventId: string }>) => ({
    eventId: await webhooks.test(partner, paramsOf(request).id, (eventId) => keep({ eventId })),
  }))
  mountPost(context, routes.redeliver, async (partner, request, keep: Keep<ReturnType<typeof presentDelivery>>) => {
    const { id, deliveryId } = paramsOf<DeliveryParams>(request)
    return presentDelivery(await webhooks.redeliver(partner, id, deliveryId, (made) => keep(presentDelivery(made))))
  })
}

function mountReads(context: Context): void {
  const { webhooks } = context.services.events
  const noStore = (reply: FastifyReply) => reply.header('cache-control', 'no-store')
  mount(context, routes.listWebhooks, async (request, reply) => {
    noStore(reply)
    return { data: (await webhooks.list(callerOf(request).partner)).map(presentWebhook) }
  })
  mount(context, routes.getWebhook, async (request, reply) => {
    noStore(reply)
    return presentWebhook(await webhooks.find(callerOf(request).partner, paramsOf(request).id))
  })
  mount(context, routes.listDeliveries, async (request, reply) => {
    const { before = null, limit } = request.query as DeliveriesQuery
    const most = limit === undefined ? LIMIT_DEFAULT : Number.parseInt(limit, 10)
    noStore(reply)
    const found = await webhooks.deliveries(callerOf(request).partner, paramsOf(request).id, before, most)
    return { data: found.map(presentDelivery) }
  })
}

/** Their stored responses hold the secret sealed, because a database must not hold it in plain text. */
function mountSecrets(context: Context): void {
  const { webhooks } = context.services.events
  type Sealed = Readonly<{ answer: Partial<Webhook>; sealed: SealedSecret }>
  const withSecret = ({ answer, sealed }: Sealed) => ({ ...answer, secret: webhooks.openSecret(sealed) })
  const ofCreated = ({ webhook, sealed }: CreatedWebhook): Sealed => ({
    answer: presentWebhook(webhook),
    sealed: { id: webhook.id, sealed },
  })
  const ofRotated = (sealed: SealedSecret): Sealed => ({ answer: { id: sealed.id }, sealed })
  mountPost(
    context,
    routes.createWebhook,
    async (partner, request, keep: Keep<Sealed>) => {
      const { url, events = [] } = request.body as CreateWebhookBody
      const asked = { url, events: [...new Set(events)] }
      return ofCreated(await webhooks.create(partner, asked, (created) => keep(ofCreated(created))))
    },
    withSecret,
  )
  mountPost(
    context,
    routes.rotateWebhookSecret,
    async (partner, request, keep: Keep<Sealed>) =>
      ofRotated(await webhooks.rotate(partner, paramsOf(request).id, (sealed) => keep(ofRotated(sealed)))),
    withSecret,
  )
}

/** `keep` makes what is stored for repeats in the transaction of the act, and `present` the answer of it. */
function mountPost<Stored extends object>(
  context: Context,
  route: RouteDefinition,
  serve: (partner: Partner, request: FastifyRequest, keep: Keep<Stored>) => Promise<Stored>,
  present: (stored: Stored) => object = (stored) => stored,
): void {
  mount(context, route, async (request, reply) => {
    const { partner } = callerOf(request)
    const stored = await context.services.withIdempotency<string>(
      partner,
      readIdempotency(request, route),
      async (keep) => JSON.stringify(await serve(partner, request, (made) => keep(JSON.stringify(made)))),
    )
    reply.code(201).header('cache-control', 'no-store')
    return present(JSON.parse(stored) as Stored)
  })
}
