import * as schema from '@swapyard/schema'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { exchangeStatuses, statusReasons } from '../../src/domain/exchange.ts'
import { scopes } from '../../src/domain/partner.ts'
import { createTestApp, type TestApp } from './app-for-tests.ts'

let world: TestApp
let mounted: string[]

beforeEach(async () => {
  world = createTestApp({ sandboxControlUrl: 'http://127.0.0.1:9' })
  mounted = []
  await world.app.ready()
  for (const line of world.app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, path = '', methods = ''] = /[├└]── (\S*)(?: \(([A-Z, ]+)\))?/.exec(line) ?? []
    for (const method of methods.split(', ').filter(Boolean)) mounted.push(`${method} ${path}`)
  }
})
afterEach(() => world.app.close())

describe('the documentation', () => {
  test('has every route of the server but those that serve files and operators', async () => {
    const { paths } = (await world.app.inject({ url: '/openapi.json' })).json()
    const documented = Object.entries<object>(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const undocumented = ['/metrics', '/openapi.json', '/icons/:name', '/docs']
    const internal = (route: string) =>
      undocumented.some((path) => route === `GET ${path}` || route.startsWith(`GET ${path}/`))
    expect(mounted.filter((route) => !internal(route)).toSorted()).toEqual(documented.toSorted())
    expect(mounted.filter(internal).length).toBeGreaterThan(5)
  })

  test('leaves the sandbox out where there is none', async () => {
    const elsewhere = createTestApp()
    const { paths } = (await elsewhere.app.inject({ url: '/openapi.json' })).json()
    expect(Object.keys(paths).filter((path) => path.startsWith('/sandbox'))).toEqual([])
    await elsewhere.app.close()
  })
})

describe('the words of the interface', () => {
  test("are the domain's own", () => {
    expect(schema.exchangeStatuses).toEqual(exchangeStatuses)
    expect(schema.statusReasons).toEqual(statusReasons)
    const used = Object.values(schema.routes).map(({ access }) => access)
    expect(used.filter((access) => access !== 'public' && !(scopes as readonly string[]).includes(access))).toEqual([])
  })
})
