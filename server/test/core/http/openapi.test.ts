import { gunzipSync } from 'node:zlib'
import * as schema from '@swapyard/schema'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { scopes } from '../../../src/core/domain/partner.ts'
import { exchangeStatuses, statusReasons } from '../../../src/exchange/domain/exchange.ts'
import { swapNetworks, swapReasons, swapStatuses } from '../../../src/swap/domain/swap.ts'
import { createTestApp, type TestApp } from './app-for-tests.ts'

let scenario: TestApp
let mounted: string[]

beforeEach(async () => {
  scenario = createTestApp({ sandboxControlUrl: 'http://127.0.0.1:9' })
  mounted = listMountedRoutes(scenario.app.printRoutes({ commonPrefix: false }))
})
afterEach(() => scenario.app.close())

/** Parses `METHOD path` of every route from the tree that the router prints. A level is four characters wide. */
function listMountedRoutes(tree: string): string[] {
  const parents: string[] = []
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', step = '', methods = ''] = /^(.*)[├└]── (\S*)(?: \(([A-Z, ]+)\))?/.exec(line) ?? []
    const depth = indent.length / 4
    parents.length = depth
    parents.push(step)
    return methods === '' ? [] : methods.split(', ').map((method) => `${method} ${parents.join('')}`)
  })
}

describe('OpenAPI document', () => {
  test('is compressed for clients that accept it, and not sent again to one that has it', async () => {
    const ask = (headers: Record<string, string>) => scenario.app.inject({ url: '/openapi.json', headers })
    const plain = await ask({})
    const compressed = await ask({ 'accept-encoding': 'gzip' })
    expect(compressed.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(compressed.rawPayload).toString()).toBe(plain.body)
    expect(compressed.rawPayload.length).toBeLessThan(plain.body.length / 4)
    expect((await ask({ 'if-none-match': String(plain.headers['etag']) })).statusCode).toBe(304)
  })

  test('has every route of the server except those for files and operators', async () => {
    const { paths } = (await scenario.app.inject({ url: '/openapi.json' })).json()
    const documented = Object.entries<object>(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const undocumented = ['/metrics', '/openapi.json', '/icons/:name', '/icons/tokens/:name', '/docs']
    const internal = (route: string) =>
      undocumented.some((path) => route === `GET ${path}` || route.startsWith(`GET ${path}/`))
    // GET implies HEAD (RFC 9110 §9.1).
    const withoutHead = mounted.filter((route) => !route.startsWith('HEAD '))
    const served = withoutHead.filter((route) => !internal(route))
    expect(served.map((route) => route.replaceAll(/:(\w+)/g, '{$1}')).toSorted()).toEqual(
      documented.filter((route) => !route.startsWith('HEAD ')).toSorted(),
    )
    expect(
      mounted
        .filter((route) => route.startsWith('HEAD '))
        .map((route) => route.slice(5))
        .toSorted(),
    ).toEqual(
      mounted
        .filter((route) => route.startsWith('GET '))
        .map((route) => route.slice(4))
        .toSorted(),
    )
    expect(mounted.filter(internal).length).toBeGreaterThan(5)
  })

  test('omits the sandbox in production', async () => {
    const production = createTestApp()
    const { paths } = (await production.app.inject({ url: '/openapi.json' })).json()
    expect(Object.keys(paths).filter((path) => path.startsWith('/sandbox'))).toEqual([])
    await production.app.close()
  })
})

describe('schema enums', () => {
  test('equal those of the domain', () => {
    expect(schema.exchangeStatuses).toEqual(exchangeStatuses)
    expect(schema.statusReasons).toEqual(statusReasons)
    expect(schema.defiNetworks).toEqual(swapNetworks)
    expect(schema.swapStatuses).toEqual(swapStatuses)
    expect(schema.swapReasons).toEqual(swapReasons)
    const accesses = Object.values(schema.routes).map(({ access }) => access)
    expect(
      accesses.filter(
        (access) => access !== 'public' && access !== 'any' && !(scopes as readonly string[]).includes(access),
      ),
    ).toEqual([])
  })
})
