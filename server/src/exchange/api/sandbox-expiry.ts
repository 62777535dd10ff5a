import { type SandboxExpiryBody, sandboxRoutes } from '@swapyard/schema'
import { readIdempotency } from '../../core/http/idempotency.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import type { ExchangeServices } from '../interfaces.ts'

/** Not mounted in production. */
export function mountSandboxExpiry(context: ApiContext<ExchangeServices>): void {
  const { services, settings } = context
  if (settings.sandboxControlUrl === null) return
  const route = sandboxRoutes.expireSandboxExchange
  mount(context, route, async (request, reply) => {
    const { partner } = callerOf(request)
    const { id } = request.body as SandboxExpiryBody
    const answer = await services.withIdempotency(partner, readIdempotency(request, route), async () => {
      const expiresAt = await services.expireExchange(partner, id)
      return JSON.stringify({ id, expiresAt: expiresAt.toISOString() })
    })
    reply.code(201).header('cache-control', 'no-store')
    return JSON.parse(answer)
  })
}
