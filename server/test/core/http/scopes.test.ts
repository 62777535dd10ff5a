import { type RouteDefinition, routes } from '@swapyard/schema'
import { afterAll, describe, expect, test } from 'vitest'
import { type Scope, scopes } from '../../../src/core/domain/partner.ts'
import { createTestApp } from './app-for-tests.ts'

const all = Object.entries<RouteDefinition>(routes)
const isScope = (access: RouteDefinition['access']): access is Scope => (scopes as readonly string[]).includes(access)
const scoped = all.flatMap(([id, { method, path, access }]) =>
  isScope(access) ? [{ id, method, path, scope: access }] : [],
)

const { app, services } = createTestApp()
const { authenticate } = services
afterAll(() => app.close())

/** Sends an empty request with a key of these scopes. */
async function send({ method, path }: (typeof scoped)[number], allowed: readonly Scope[]) {
  const caller = await authenticate('sandbox', '127.0.0.1')
  Object.assign(services, { authenticate: async () => ({ ...caller, scopes: new Set(allowed) }) })
  return app.inject({
    ...{ method, url: path.replaceAll(/\{\w+\}/g, '1') },
    headers: { 'x-api-key': 'sandbox', ...(method === 'POST' ? { 'content-type': 'application/json' } : {}) },
    ...(method === 'POST' ? { payload: '{}' } : {}),
  })
}

describe('a key', () => {
  test.each(scoped)('needs the scope $scope for $id', async (route) => {
    const others = scopes.filter((one) => one !== route.scope)
    const answer = await send(route, others)
    expect([answer.statusCode, answer.json()]).toMatchObject([
      403,
      { code: 'SCOPE_REQUIRED', errors: [{ code: 'SCOPE_REQUIRED', scope: route.scope }] },
    ])
  })

  test.each(scoped)('needs no other scope for $id', async (route) => {
    expect((await send(route, [route.scope])).statusCode).not.toBe(403)
  })

  test('has the scope webhooks:manage for the operations of webhooks, and for nothing else', () => {
    const managed = scoped.filter(({ scope }) => scope === 'webhooks:manage').map(({ id }) => id)
    expect(managed).toEqual(all.filter(([, { path }]) => path.startsWith('/v1/webhooks')).map(([id]) => id))
    expect(managed.length).toBe(10)
  })
})
