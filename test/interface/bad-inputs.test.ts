import { connect } from 'node:net'
import { type RouteDefinition, routes } from '@swapyard/schema'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeApiKey } from '../../server/src/core/services/partner-keys.ts'
import { createRateIds } from '../../server/src/exchange/quotes/rate-id.ts'
import { bitcoinAddresses } from '../../server/test/conformance/vectors.ts'
import { inTheApp, inUnserved } from '../../server/test/core/http/bad-input-case.ts'
import { createDestinations, createTerms } from '../../server/test/core/http/bad-inputs-create.ts'
import { framing } from '../../server/test/core/http/bad-inputs-framing.ts'
import { rateInputs } from '../../server/test/core/http/bad-inputs-rate.ts'
import { reads } from '../../server/test/core/http/bad-inputs-reads.ts'
import { operatorInputs } from '../../server/test/core/http/bad-inputs-swaps.ts'
import { createBody } from '../support/create-body.ts'
import { findNode } from '../support/nodes.ts'
import { type Answer, type Json, pepper, type Scenario, startScenario } from '../support/scenario.ts'
import { createFaultyPrices } from './faulty-prices.ts'
import { addPartner } from './partners.ts'
import { createTableReader, type TableContents } from './tables.ts'
import { unservedInputs } from './unserved-inputs.ts'

const EXCHANGE = '/v1/cross-chain/exchange'
/** EIP-55's first example, as written in the EIP. */
const checksummed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
/** A P2PKH testnet address from Bitcoin's documentation. */
const testnetKeyHash = 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'

const prices = createFaultyPrices()
const testedIds: string[] = []
let scenario: Scenario
let readContents: () => Promise<TableContents>

beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'ltc', 'eth'], prices })
  // Stop the workers, because blocks write rows, too.
  await scenario.stopWorkers()
  readContents = await createTableReader(scenario.app.database)
})
afterAll(() => scenario.stop())
beforeEach(() => {
  prices.falsify = (units) => units
  prices.ageMs = 0
})

/** Defines the test of a row in the table of bad inputs, against the real app. */
function testRow(id: string, name: string, run: () => Promise<void>): void {
  testedIds.push(id)
  test(`${id} ${name}`, run)
}

const order = { ...createBody, address: checksummed }
const toBitcoin = {
  ...order,
  fromCurrency: 'eth',
  fromNetwork: 'eth',
  fromAmount: '0.1',
  toCurrency: 'btc',
  toNetwork: 'btc',
  address: testnetKeyHash,
}
const create = (body: object, headers?: Record<string, string>) => scenario.call('POST', EXCHANGE, body, headers)

/** Expects a rejection with this status, code and field, and no changed rows. */
async function expectRejection(
  send: () => Promise<Answer>,
  status: number,
  code: string,
  field?: string,
): Promise<void> {
  const before = await readContents()
  const answer = await send()
  expect([answer.status, answer.body.code], JSON.stringify(answer.body)).toEqual([status, code])
  if (field !== undefined) expect(answer.body.errors.map((problem: Json) => problem.field)).toEqual([field])
  expect(await readContents()).toEqual(before)
}

const authenticatedRequests: readonly (readonly [string, string, object?])[] = [
  ['GET', '/v1/cross-chain/available-currencies'],
  [
    'GET',
    '/v1/cross-chain/rate?fromCurrency=btc&fromNetwork=btc&toCurrency=eth&toNetwork=eth&amount=0.01&flow=standard',
  ],
  ['GET', `${EXCHANGE}/status?id=x`],
  ['GET', `${EXCHANGE}/status/standard?id=x`],
  ['GET', `${EXCHANGE}/list`],
  ['POST', EXCHANGE, order],
]

async function expectKeyRejected(apiKey: string): Promise<void> {
  for (const [method, path, body] of authenticatedRequests) {
    await expectRejection(() => scenario.call(method, path, body, { 'x-api-key': apiKey }), 401, 'API_KEY_INVALID')
  }
}

describe('keys', () => {
  testRow('B003', 'rejects a key with a typo', async () => {
    const { key } = await addPartner(scenario, 'B003')
    const last = key.text.at(-1)
    await expectKeyRejected(key.text.slice(0, -1) + (last === 'a' ? 'b' : 'a'))
    expect((await create(order, { 'x-api-key': key.text })).status).toBe(201)
  })

  testRow('B004', 'returns the same response for a known id with a wrong secret as for an unknown id', async () => {
    const { key } = await addPartner(scenario, 'B004')
    await expectKeyRejected(makeApiKey('live', pepper, key.keyId).text)
    await expectKeyRejected(makeApiKey('live', pepper).text)
    const bodies = await Promise.all(
      [key.keyId, undefined].map(async (id) => {
        const { body } = await create(order, { 'x-api-key': makeApiKey('live', pepper, id).text })
        return { ...body, requestId: '' }
      }),
    )
    expect(bodies[0]).toEqual(bodies[1])
  })

  testRow('B005', 'rejects a key after its rotation, its expiry or its revocation', async () => {
    const { store, key } = await addPartner(scenario, 'B005')
    const { keyId } = key
    const next = makeApiKey('live', pepper, keyId)
    const last = makeApiKey('live', pepper, keyId)
    const readStatus = async (text: string) =>
      (await scenario.call('GET', `${EXCHANGE}/list`, undefined, { 'x-api-key': text })).status
    const expectEnd = async (text: string) => {
      await scenario.until('the key is refused', async () => (await readStatus(text)) === 401, 6_000)
      await expectKeyRejected(text)
    }
    expect(await readStatus(key.text)).toBe(200)
    await store.keys.rotate(keyId, next.hmac, 0, 2_000)
    await expectEnd(key.text)
    await expectEnd(next.text)
    await store.keys.rotate(keyId, last.hmac, 0)
    expect(await readStatus(last.text)).toBe(200)
    await store.keys.revoke(keyId)
    await expectEnd(last.text)
  })
})

describe('rates', () => {
  const requestQuote = () => scenario.call('GET', authenticatedRequests[1]?.[1] ?? '')
  const waitForNewPrices = async () => {
    const expected = prices.reads + 2
    await scenario.until('prices were read again', async () => prices.reads >= expected)
  }

  testRow('B050', 'does not quote from old prices', async () => {
    prices.ageMs = 31_000
    await scenario.until('the prices are old', async () => (await requestQuote()).status === 503)
    const { body, headers } = await requestQuote()
    expect(body.code).toBe('RATES_UNAVAILABLE')
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    await expectRejection(() => create(order), 503, 'RATES_UNAVAILABLE')
    await scenario.until(
      'the feed is unavailable',
      async () => (await fetch(`${scenario.url}/v1/rates`)).status === 503,
    )
    prices.ageMs = 0
    await scenario.until('the prices are new', async () => (await requestQuote()).status === 200)
  })

  testRow('B051', 'one false source changes no quote', async () => {
    await scenario.until('there is a quote', async () => (await requestQuote()).status === 200)
    const { body: expected } = await requestQuote()
    for (const falsify of [() => 0n, (units: bigint) => units * 10n ** 9n, (units: bigint) => -units]) {
      prices.falsify = falsify
      await waitForNewPrices()
      const { status, body } = await requestQuote()
      expect(status).toBe(200)
      // The network fee is live, and other tests change it.
      expect(body.toAmount / expected.toAmount).toBeCloseTo(1, 2)
      expect(body.min / expected.min).toBeCloseTo(1, 0)
    }
  })
})

describe('a rateId', () => {
  testRow('B063', 'is valid until its expiry by the database’s clock', async () => {
    const [partner] = await scenario.app.database.query<{ id: string }>(
      "select id from partners where name = 'sandbox'",
    )
    const { body } = await scenario.call('GET', authenticatedRequests[1]?.[1] ?? '')
    const toUnits = BigInt(Math.round(body.toAmount * 1e9)) * 10n ** 9n
    const issueRateId = async (ms: number) => {
      const [clock] = await scenario.app.database.query<{ now: Date }>('select clock_timestamp() as now')
      return createRateIds(pepper).issue({
        partnerId: partner?.id ?? '',
        fromAssetId: 'btc@btc',
        toAssetId: 'eth@eth',
        flow: 'standard',
        fromUnits: 1_000_000n,
        toUnits,
        expiresAt: new Date((clock?.now.getTime() ?? 0) + ms),
      })
    }
    const expiredRateId = await issueRateId(-1)
    await expectRejection(() => create({ ...order, rateId: expiredRateId }), 410, 'RATE_ID_EXPIRED')
    expect((await create({ ...order, rateId: await issueRateId(5_000) })).status).toBe(201)
  })
})

describe('addresses', () => {
  const expectInvalid = (body: object, address: string, code = 'INVALID_ADDRESS') =>
    expectRejection(() => create({ ...body, address }), 400, code, 'address')

  testRow('B070', 'rejects a wrong EIP-55 checksum and accepts addresses in one case', async () => {
    await expectInvalid(order, checksummed.replace('BeA', 'beA'))
    for (const address of [checksummed.toLowerCase(), `0x${checksummed.slice(2).toUpperCase()}`]) {
      const { status, body } = await create({ ...order, address })
      expect([status, body.request.recipientAddress]).toEqual([201, checksummed])
    }
  })

  testRow('B071', 'rejects addresses without an owner: zero, a precompile, the token contract', async () => {
    const zeros = '0'.repeat(39)
    await expectInvalid(order, `0x${zeros}0`)
    await expectInvalid(order, `0x${zeros}1`)
    const { usdt = '' } = findNode('eth').tokens
    await expectInvalid({ ...order, toCurrency: 'usdt' }, usdt)
    await expectInvalid(order, usdt)
  })

  testRow('B072', 'rejects addresses of another network of the same family', async () => {
    await expectInvalid(toBitcoin, 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')
    await expectInvalid(toBitcoin, 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx')
    await expectInvalid(toBitcoin, '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2')
    await expectInvalid(toBitcoin, '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy')
  })

  testRow('B073', 'rejects mixed case and the wrong one of the two checksums', async () => {
    const { invalidAddresses, encodings } = bitcoinAddresses('bcrt')
    for (const address of invalidAddresses) await expectInvalid(toBitcoin, address)
    for (const [address, canonical] of encodings) {
      const { status, body } = await create({ ...toBitcoin, address })
      expect([status, body.request.recipientAddress]).toEqual([201, canonical])
    }
  })

  testRow('B074', 'rejects a wrong checksum that matches the published regular expression', async () => {
    const { body } = await scenario.call('GET', '/v1/cross-chain/available-currencies')
    const { regexAddress } = body.find((entry: Json) => entry.ticker === 'btc' && entry.network === 'btc')
    const broken = `${testnetKeyHash.slice(0, -1)}m`
    expect(broken).toMatch(new RegExp(regexAddress))
    await expectInvalid(toBitcoin, broken)
    expect((await create(toBitcoin)).status).toBe(201)
  })

  testRow('B075', 'rejects addresses of another chain with a similar format', async () => {
    const { address } = await scenario.wallet('ltc')
    await expectInvalid(toBitcoin, address)
    // The script hash of Litecoin's main network.
    await expectInvalid(toBitcoin, 'MQMcJhpWHYVeQArcZR3sBgyPZxxRtnH441')
  })

  testRow('B079', 'rejects our own addresses as recipient and as refund address', async () => {
    const { body } = await create(toBitcoin)
    const ownAddresses = [body.request.depositAddress, scenario.app.chains.get('eth')?.addresses.hot() ?? '']
    for (const address of ownAddresses) {
      await expectInvalid(order, address, 'ADDRESS_IS_OURS')
      const refund = { ...toBitcoin, refundAddress: address }
      await expectRejection(() => create(refund), 400, 'ADDRESS_IS_OURS', 'refundAddress')
    }
    await expectInvalid(toBitcoin, scenario.app.chains.get('btc')?.addresses.hot() ?? '', 'ADDRESS_IS_OURS')
  })

  test.each(['xmr', 'sol', 'sui', 'xrp', 'xlm'])(
    'rejects %s as an unavailable pair, because its network is not served here',
    async (id) => {
      await expectRejection(() => create({ ...order, toCurrency: id, toNetwork: id }), 422, 'PAIR_UNAVAILABLE')
    },
  )
})

describe('creates', () => {
  testRow(
    'B096',
    'return the same exchange if the client disconnects and repeats the request with its idempotency key',
    async () => {
      const { port, hostname } = new URL(scenario.url)
      const text = JSON.stringify(order)
      const headers = { 'idempotency-key': 'B096' }
      const countKeys = async () => {
        const [row] = await scenario.app.database.query<{ keys: string }>(
          "select count(*) as keys from idempotency_keys where key = 'B096'",
        )
        return row?.keys
      }
      await new Promise<void>((resolve, reject) => {
        const socket = connect(Number.parseInt(port, 10), hostname, () => {
          const lines = [
            `POST ${EXCHANGE} HTTP/1.1`,
            'Host: x',
            'x-api-key: sandbox',
            'idempotency-key: B096',
            'content-type: application/json',
            `content-length: ${Buffer.byteLength(text)}`,
          ]
          socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`, () => {
            socket.destroy()
            resolve()
          })
        })
        socket.on('error', reject)
      })
      const first = await create(order, headers)
      const second = await create(order, headers)
      expect([first.status, second.status]).toEqual([201, 201])
      expect(second.body).toEqual(first.body)
      expect(await countKeys()).toBe('1')
      const [exchanges] = await scenario.app.database.query<{ made: string }>(
        'select count(*) as made from exchanges where id = $1',
        [first.body.id],
      )
      expect(exchanges?.made).toBe('1')
    },
  )

  testRow('B097', 'are rejected above the partner’s limit of open exchanges', async () => {
    const { key } = await addPartner(scenario, 'B097', 3)
    const headers = { 'x-api-key': key.text }
    for (let made = 0; made < 3; made++) expect((await create(order, headers)).status).toBe(201)
    const send = () => create(order, headers)
    await expectRejection(send, 429, 'RATE_LIMIT_EXCEEDED')
    expect(Number((await send()).headers.get('retry-after'))).toBeGreaterThan(0)
  })

  testRow('B098', 'are rejected while one of their networks is paused', async () => {
    const { pauses } = scenario.app.store
    await pauses.pause('network:btc', 'maintenance', 'test')
    const send = () => create(order)
    await scenario.until('the app reads the pause', async () => (await send()).status === 503)
    await expectRejection(send, 503, 'NETWORK_PAUSED')
    await expectRejection(() => create(toBitcoin), 503, 'NETWORK_PAUSED')
    await pauses.resume('network:btc')
    await scenario.until('the app reads the end of the pause', async () => (await send()).status === 201)
  })
})

describe('reads', () => {
  testRow('B107', 'return the same response for unknown ids and ids of another partner', async () => {
    const { body: foreign } = await create(order, { 'x-api-key': 'sandbox-b' })
    const ids = [foreign.id, ...Array.from({ length: 500 }, () => crypto.randomUUID())]
    const answers = await Promise.all(ids.map((id) => scenario.call('GET', `${EXCHANGE}/status?id=${id}`)))
    const distinct = new Set(answers.map(({ status, body }) => JSON.stringify({ status, ...body, requestId: '' })))
    expect([...distinct]).toHaveLength(1)
    expect(answers[0]?.body.code).toBe('EXCHANGE_NOT_FOUND')
  })

  testRow('B114', 'return only their own exchanges to two partners on shared connections', async () => {
    const [first, second] = [await addPartner(scenario, 'B114 one'), await addPartner(scenario, 'B114 other')]
    const createdIds = await Promise.all(
      [first, second].map(async ({ key }) => (await create(order, { 'x-api-key': key.text })).body.id),
    )
    const lists = Array.from({ length: 100 }, async (_, at) => {
      const headers = { 'x-api-key': (at % 2 === 0 ? first : second).key.text }
      const { body } = await scenario.call('GET', `${EXCHANGE}/list`, undefined, headers)
      return body.data.map(({ id }: Json) => id)
    })
    for (const [at, ids] of (await Promise.all(lists)).entries()) expect(ids).toEqual([createdIds[at % 2]])
  })
})

describe('inputs for chains without an adapter', () => {
  for (const [id, [name, run]] of Object.entries(unservedInputs))
    testRow(id, name, () => run({ create, expectRejection }))
})

/** A page of another origin sends the browser's cookies, but no header of its own choice without permission. */
test('requests of a page of another origin are rejected', async () => {
  const headers = { origin: 'https://example.org', cookie: 'session=sandbox', 'x-api-key': '' }
  const posts = Object.values<RouteDefinition>(routes).filter(({ method }) => method === 'POST')
  expect(posts.length).toBeGreaterThan(5)
  for (const route of posts) {
    const { path } = route
    await expectRejection(() => scenario.call('POST', path, order, headers), 401, 'API_KEY_MISSING')
    await expectRejection(
      () => scenario.call('POST', `${path}?session=sandbox`, order, headers),
      401,
      'API_KEY_MISSING',
    )
    const permission = await fetch(`${scenario.url}${path}`, {
      method: 'OPTIONS',
      headers: {
        origin: headers.origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-api-key',
      },
    })
    // Pages with a publishable key may quote and create: they send a key of their own, and never a cookie.
    const isForPages = route.isPublishable === true
    expect([path, permission.headers.get('access-control-allow-origin')]).toEqual([path, isForPages ? '*' : null])
    expect(permission.headers.get('access-control-allow-credentials')).toBeNull()
  }
  const note = { reason: 'javascript:alert(1)' }
  for (const path of ['/console', '/console/exchanges/1/refund?session=x', '/operator', '/admin/login'])
    await expectRejection(() => scenario.call('POST', path, note, headers), 404, 'ROUTE_NOT_FOUND')
})

test('tests every row of the HTTP table that needs the whole app', () => {
  const rows = [...framing, ...rateInputs, ...createTerms, ...createDestinations, ...reads, ...operatorInputs]
  const expected = rows.filter((entry) => 'elsewhere' in entry && [inTheApp, inUnserved].includes(entry.elsewhere))
  expect(testedIds.toSorted()).toEqual(expected.map(({ id }) => id).toSorted())
})
