import type { FastifyInstance } from 'fastify'
import { mountWebBundle } from './web-bundle.ts'

/** Mounts the operators' console. Every path below `/console` is the same page, which reads the path in the browser. */
export function mountConsole(app: FastifyInstance): void {
  const sendIndex = mountWebBundle(app, 'console')
  for (const path of ['/console', '/console/*'])
    app.get(path, (request, reply) => {
      request.operation = '/console'
      return sendIndex(request, reply)
    })
}
