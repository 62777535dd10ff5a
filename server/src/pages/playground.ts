import type { FastifyInstance } from 'fastify'
import { mountWebBundle } from './web-bundle.ts'

/** Mounts the playground at `/`. Only the sandbox has it. */
export function mountPlayground(app: FastifyInstance): void {
  const sendIndex = mountWebBundle(app, 'playground')
  app.get('/', (request, reply) => {
    request.operation = '/'
    return sendIndex(request, reply)
  })
}
