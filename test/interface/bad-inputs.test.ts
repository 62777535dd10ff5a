import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeApiKey } from '../../server/src/core/services/partner-keys.ts'
import { createRateIds } from '../../server/src/exchange/quotes/rate-id.ts'
import { bitcoinAddresses } from '../../server/test/conformance/vectors.ts'
import { inTheApp } from '../../server/test/core/http/bad-input-case.ts'
import { createDestinations, createTerms } from '../../server/test/core/http/bad-inputs-create.ts'
import { framing } from '../../server/test/core/http/bad-inputs-framing.ts'
import { rateInputs } from '../../server/test/core/http/bad-inputs-rate.ts'
import { reads } from '../../server/test/core/http/bad-inputs-reads.ts'
import { nodeOf } from '../support/nodes.ts'
import { type Answer, type Json, pepper, type Scenario, startScenario } from '../support/scenario.ts'
import { createFaultyPrices } from './faulty-prices.ts'
import { addPartner } from './partners.ts'
import { type Contents, createTableReader } from './tables.ts'

const EXCHANGE = '/v1/cross-chain/exchange'
/** EIP-55's first example, as written in the EIP. */
const checksummed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
/** The P2PKH address of test networks that Bitcoin's own documents use. */
const testnetKeyHash = 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'

const prices = createFaultyPrices()
const tested: string[] = []
let scenario: Scenario
let contents: () => Promise<Contents>

beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'ltc', 'eth'], prices })
  // Blocks would write rows beside those that requests write.
  await scenario.stopWorkers()
  contents = await createTableReader(scenario)
})
afterAll(() => scenario.stop())
beforeEach(() => {
  prices.lie = (units) => units
  prices.ageMs = 0
})

/** A row of the corpus, over the real app. */
function row(id: string, name: string, run: () => Promise<void>): void {
  tested.push(id)
  test(`${id} ${name}`, run)
}

const order = {
  fromCurrency: 'btc',
  fromNetwork: 'btc',
  toCurrency: 'eth',
  toNetwork: 'eth',
  fromAmount: '0.01',
  flow: 'standard',
  address: checksummed,
}
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

/** A refusal in the right words, which leaves nothing behind. */
async function refused(ask: () => Promise<Answer>, status: number, code: string, field?: string): Promise<void> {
  const before = await contents()
  const answer = await ask()
  expect([answer.status, answer.body.code], JSON.stringify(answer.body)).toEqual([status, code])
  if (field !== undefined) expect(answer.body.errors.map((problem: Json) => problem.field)).toEqual([field])
  expect(await contents()).toEqual(before)
}

const keyed: readonly (readonly [string, string, object?])[] = [
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

async function refusedEverywhere(apiKey: string): Promise<void> {
  for (const [method, path, body] of keyed) {
    await refused(() => scenario.call(method, path, body, { 'x-api-key': apiKey }), 401, 'API_KEY_INVALID')
  }
}

describe('keys', () => {
  row('B003', 'a key with a typo is unknown', async () => {
    const { key } = await addPartner(scenario, 'B003')
    const last = key.text.at(-1)
    await refusedEverywhere(key.text.slice(0, -1) + (last === 'a' ? 'b' : 'a'))
    expect((await create(order, { 'x-api-key': key.text })).status).toBe(201)
  })

  row('B004', 'a right id with a wrong secret gets the same answer as an unknown id', async () => {
    const { key } = await addPartner(scenario, 'B004')
    await refusedEverywhere(makeApiKey('live', pepper, key.keyId).text)
    await refusedEverywhere(makeApiKey('live', pepper).text)
    const bodies = await Promise.all(
      [key.keyId, undefined].map(async (id) => {
        const { body } = await create(order, { 'x-api-key': makeApiKey('live', pepper, id).text })
        return { ...body, requestId: '' }
      }),
    )
    expect(bodies[0]).toEqual(bodies[1])
  })

  row('B005', 'a key ends that is rotated out, comes to its end, or is revoked', async () => {
    const { store, key } = await addPartner(scenario, 'B005')
    const { keyId } = key
    const next = makeApiKey('live', pepper, keyId)
    const last = makeApiKey('live', pepper, keyId)
    const status = async (text: string) =>
      (await scenario.call('GET', `${EXCHANGE}/list`, undefined, { 'x-api-key': text })).status
    const ends = async (text: string) => {
      await scenario.until('the key is refused', async () => (await status(text)) === 401, 6_000)
      await refusedEverywhere(text)
    }
    expect(await status(key.text)).toBe(200)
    await store.keys.rotate(keyId, next.hmac, 0, 2_000)
    await ends(key.text)
    await ends(next.text)
    await store.keys.rotate(keyId, last.hmac, 0)
    expect(await status(last.text)).toBe(200)
    await store.keys.revoke(keyId)
    await ends(last.text)
  })
})

describe('rates', () => {
  const quote = () => scenario.call('GET', keyed[1]?.[1] ?? '')
  const readAgain = async () => {
    const expected = prices.reads + 2
    await scenario.until('prices were read again', async () => prices.reads >= expected)
  }

  row('B050', 'nothing is quoted from old prices', async () => {
    prices.ageMs = 31_000
    await scenario.until('the prices are old', async () => (await quote()).status === 503)
    const { body, headers } = await quote()
    expect(body.code).toBe('RATES_UNAVAILABLE')
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    await refused(() => create(order), 503, 'RATES_UNAVAILABLE')
    await scenario.until(
      'the feed is unavailable',
      async () => (await fetch(`${scenario.url}/v1/rates`)).status === 503,
    )
    prices.ageMs = 0
    await scenario.until('the prices are new', async () => (await quote()).status === 200)
  })

  row('B051', 'one source that lies changes no quote', async () => {
    await scenario.until('there is a quote', async () => (await quote()).status === 200)
    const { body: honest } = await quote()
    for (const lie of [() => 0n, (units: bigint) => units * 10n ** 9n, (units: bigint) => -units]) {
      prices.lie = lie
      await readAgain()
      const { status, body } = await quote()
      expect(status).toBe(200)
      // The network's fee is the live one, which others move meanwhile.
      expect(body.toAmount / honest.toAmount).toBeCloseTo(1, 2)
      expect(body.min / honest.min).toBeCloseTo(1, 0)
    }
  })
})

describe('a rateId', () => {
  row('B063', 'is good until its last moment by the database’s clock, and not after', async () => {
    const [partner] = await scenario.app.database.query<{ id: string }>(
      "select id from partners where name = 'sandbox'",
    )
    const { body } = await scenario.call('GET', keyed[1]?.[1] ?? '')
    const toUnits = BigInt(Math.round(body.toAmount * 1e9)) * 10n ** 9n
    const until = async (ms: number) => {
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
    const late = await until(-1)
    await refused(() => create({ ...order, rateId: late }), 410, 'RATE_ID_EXPIRED')
    expect((await create({ ...order, rateId: await until(5_000) })).status).toBe(201)
  })
})

describe('addresses', () => {
  const invalid = (body: object, address: string, code = 'INVALID_ADDRESS') =>
    refused(() => create({ ...body, address }), 400, code, 'address')

  row('B070', 'one wrong letter of EIP-55 is refused, one case throughout is not', async () => {
    await invalid(order, checksummed.replace('BeA', 'beA'))
    for (const address of [checksummed.toLowerCase(), `0x${checksummed.slice(2).toUpperCase()}`]) {
      const { status, body } = await create({ ...order, address })
      expect([status, body.request.recipientAddress]).toEqual([201, checksummed])
    }
  })

  row('B071', 'addresses without an owner are refused: zero, a precompile, the token itself', async () => {
    const zeros = '0'.repeat(39)
    await invalid(order, `0x${zeros}0`)
    await invalid(order, `0x${zeros}1`)
    const { usdt = '' } = nodeOf('eth').tokens
    await invalid({ ...order, toCurrency: 'usdt' }, usdt)
    await invalid(order, usdt)
  })

  row('B072', 'addresses of another network of the same family are none', async () => {
    await invalid(toBitcoin, 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')
    await invalid(toBitcoin, 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx')
    await invalid(toBitcoin, '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2')
    await invalid(toBitcoin, '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy')
  })

  row('B073', 'mixed case, and the wrong one of the two checksums', async () => {
    const { invalidAddresses, encodings } = bitcoinAddresses('bcrt')
    for (const address of invalidAddresses) await invalid(toBitcoin, address)
    for (const [address, canonical] of encodings) {
      const { status, body } = await create({ ...toBitcoin, address })
      expect([status, body.request.recipientAddress]).toEqual([201, canonical])
    }
  })

  row('B074', 'the regular expression is a hint, the checksum decides', async () => {
    const { body } = await scenario.call('GET', '/v1/cross-chain/available-currencies')
    const { regexAddress } = body.find((one: Json) => one.ticker === 'btc' && one.network === 'btc')
    const broken = `${testnetKeyHash.slice(0, -1)}m`
    expect(broken).toMatch(new RegExp(regexAddress))
    await invalid(toBitcoin, broken)
    expect((await create(toBitcoin)).status).toBe(201)
  })

  row('B075', 'of another chain that looks alike', async () => {
    const { address } = await scenario.wallet('ltc')
    await invalid(toBitcoin, address)
    // The script hash of Litecoin's main network.
    await invalid(toBitcoin, 'MQMcJhpWHYVeQArcZR3sBgyPZxxRtnH441')
  })

  row('B079', 'our own are neither recipient nor refund', async () => {
    const { body } = await create(toBitcoin)
    const ours = [body.request.depositAddress, scenario.app.chains.get('eth')?.addresses.hot() ?? '']
    for (const address of ours) {
      await invalid(order, address, 'ADDRESS_IS_OURS')
      const refund = { ...toBitcoin, refundAddress: address }
      await refused(() => create(refund), 400, 'ADDRESS_IS_OURS', 'refundAddress')
    }
    await invalid(toBitcoin, scenario.app.chains.get('btc')?.addresses.hot() ?? '', 'ADDRESS_IS_OURS')
  })

  test.each(['xmr', 'sol', 'sui', 'xrp', 'xlm'])(
    'of %s are not asked for: its family is not served yet',
    async (id) => {
      await refused(() => create({ ...order, toCurrency: id, toNetwork: id }), 422, 'PAIR_UNAVAILABLE')
    },
  )
})

describe('creates', () => {
  row('B096', 'whose client went away are there, once, for who asks again with the key', async () => {
    const { port, hostname } = new URL(scenario.url)
    const text = JSON.stringify(order)
    const headers = { 'idempotency-key': 'B096' }
    const countKeys = async () => {
      const [found] = await scenario.app.database.query<{ keys: string }>(
        "select count(*) as keys from idempotency_keys where key = 'B096'",
      )
      return found?.keys
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
  })

  row('B097', 'stop at the most that a partner may have open', async () => {
    const { key } = await addPartner(scenario, 'B097', 3)
    const headers = { 'x-api-key': key.text }
    for (let made = 0; made < 3; made++) expect((await create(order, headers)).status).toBe(201)
    const ask = () => create(order, headers)
    await refused(ask, 429, 'RATE_LIMIT_EXCEEDED')
    expect(Number((await ask()).headers.get('retry-after'))).toBeGreaterThan(0)
  })

  row('B098', 'are refused while a network of theirs is held', async () => {
    const { pauses } = scenario.app.store
    await pauses.pause('network:btc', 'maintenance', 'test')
    const ask = () => create(order)
    await scenario.until('the pause is known', async () => (await ask()).status === 503)
    await refused(ask, 503, 'NETWORK_PAUSED')
    await refused(() => create(toBitcoin), 503, 'NETWORK_PAUSED')
    await pauses.resume('network:btc')
    await scenario.until('it is over', async () => (await ask()).status === 201)
  })
})

describe('reads', () => {
  row('B107', 'guessed ids are all unknown, in the same words as those of another partner', async () => {
    const { body: theirs } = await create(order, { 'x-api-key': 'sandbox-b' })
    const ids = [theirs.id, ...Array.from({ length: 500 }, () => crypto.randomUUID())]
    const answers = await Promise.all(ids.map((id) => scenario.call('GET', `${EXCHANGE}/status?id=${id}`)))
    const distinct = new Set(answers.map(({ status, body }) => JSON.stringify({ status, ...body, requestId: '' })))
    expect([...distinct]).toHaveLength(1)
    expect(answers[0]?.body.code).toBe('EXCHANGE_NOT_FOUND')
  })

  row('B114', 'two partners in turn over the same connections see their own', async () => {
    const [one, other] = [await addPartner(scenario, 'B114 one'), await addPartner(scenario, 'B114 other')]
    const made = await Promise.all(
      [one, other].map(async ({ key }) => (await create(order, { 'x-api-key': key.text })).body.id),
    )
    const lists = Array.from({ length: 100 }, async (_, at) => {
      const headers = { 'x-api-key': (at % 2 === 0 ? one : other).key.text }
      const { body } = await scenario.call('GET', `${EXCHANGE}/list`, undefined, headers)
      return body.data.map(({ id }: Json) => id)
    })
    for (const [at, ids] of (await Promise.all(lists)).entries()) expect(ids).toEqual([made[at % 2]])
  })
})

test('every row that the HTTP table leaves to the app is here', () => {
  const rows = [...framing, ...rateInputs, ...createTerms, ...createDestinations, ...reads]
  const left = rows.filter((one) => 'elsewhere' in one && one.elsewhere === inTheApp)
  expect(tested.toSorted()).toEqual(left.map(({ id }) => id).toSorted())
})
