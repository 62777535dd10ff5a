import { routes } from '@swapyard/schema'
import { AppError } from '../domain/errors.ts'
import { errorShape, errorText } from './errors.ts'
import { type ApiContext, mount } from './mount.ts'

/** Live: the process answers, also while it drains. Ready: quotes and creates work. */
export function mountHealth(context: ApiContext, isDraining: () => boolean): void {
  mount(context, routes.getLive, (_request, reply) => {
    reply.header('cache-control', 'no-store')
    return { status: 'ok' }
  })
  mount(context, routes.getReady, (request, reply) => {
    const reasons = isDraining() ? ['shutting down'] : context.services.readiness()
    reply.header('cache-control', 'no-store')
    if (reasons.length === 0) return { status: 'ready' }
    const error = new AppError('OVERLOADED', 'not ready', {
      problems: reasons.map((message) => ({ code: 'OVERLOADED' as const, message })),
    })
    const shape = { ...errorShape(error, request.id), status: 'unavailable', reasons }
    reply.code(shape.statusCode).headers({ 'retry-after': '5', 'content-type': 'application/json; charset=utf-8' })
    return reply.send(errorText(shape))
  })
}
