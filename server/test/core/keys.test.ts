import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { createDatabase } from '../../../test/support/database.ts'
import { PATIENCE } from '../../../test/support/patience.ts'
import { until } from '../../../test/support/until.ts'
import { type Database, openDatabase } from '../../src/adapters/postgres/core/database.ts'
import { migrate } from '../../src/adapters/postgres/core/migrate.ts'
import { createPartnerStore } from '../../src/adapters/postgres/core/partners.ts'
import { parseApiKey } from '../../src/core/domain/api-key.ts'
import { AppError } from '../../src/core/domain/errors.ts'
import type { Caller } from '../../src/core/domain/partner.ts'
import { createAuthenticate } from '../../src/core/services/authenticate.ts'
import { makeApiKey } from '../../src/core/services/partner-keys.ts'

const PEPPER = Buffer.from('a pepper of the tests')
const HOUR_MS = 3_600_000

let database: Database
let drop: () => Promise<void>

beforeAll(async () => {
  const made = await createDatabase(inject('databaseUrl'))
  drop = made.drop
  database = openDatabase(made.url, { max: 4, waitMs: 10_000 })
  await migrate(database)
})
afterAll(async () => {
  await database.close()
  await drop()
})

let made = 0
/** A partner with one key, and a fresh authentication whose clock the test moves. */
async function newPartner(
  options: { ip?: string[]; throttled?: boolean; pepper?: Buffer; sandboxKeys?: string[] } = {},
) {
  const store = createPartnerStore(database)
  const name = `partner-${++made}`
  await store.add({ name, feeBps: 5, openExchangesMax: 10, rateLimitPerMinute: 100, strict: false })
  const key = makeApiKey('live', PEPPER)
  await store.keys.add(name, {
    keyId: key.keyId,
    hmac: key.hmac,
    scopes: ['exchange:read'],
    ipAllowList: options.ip ?? [],
    createdBy: 'test',
  })
  const clock = { now: Date.now() }
  const asked: Promise<unknown>[] = []
  let held = Promise.resolve()
  let isAway = false
  const { authenticate, forget } = createAuthenticate({
    partners: {
      ...store,
      findKey: (keyId) => {
        const found = isAway
          ? Promise.reject(new Error('away'))
          : store.findKey(keyId).then((one) => held.then(() => one))
        asked.push(found)
        return found
      },
    },
    pepper: options.pepper ?? PEPPER,
    sandboxKeys: options.sandboxKeys ?? [],
    throttled: options.throttled ?? false,
    now: () => clock.now,
  })
  const attempt = async (text: string | undefined, ip = '10.0.0.1'): Promise<Caller | string> => {
    try {
      return await authenticate(text, ip)
    } catch (error) {
      if (error instanceof AppError) return error.code
      throw error
    }
  }
  /** What was read without anybody waiting for it is in. */
  const read = async () => {
    await Promise.allSettled(asked)
    await setImmediate()
  }
  /** Answers of the database take until the returned function is called. */
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    held = promise
    return resolve
  }
  const takeDatabaseAway = () => {
    isAway = true
  }
  return { store, name, key, clock, authenticate, forget, attempt, asked, read, hold, takeDatabaseAway }
}

/** A well-formed key with a right checksum that was never issued. */
function forge(text: string): string {
  const head = `${text.slice(0, -8)}${text.at(-8) === 'a' ? 'b' : 'a'}`
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let rest = crc32(head)
  let checksum = ''
  for (let n = 0; n < 6; n++) {
    checksum = alphabet[rest % 62] + checksum
    rest = Math.floor(rest / 62)
  }
  return `${head}_${checksum}`
}

describe('the form of a key', () => {
  test('is published for secret scanners, holds 256 random bits and a checksum', () => {
    const { text } = makeApiKey('live', PEPPER)
    expect(text).toMatch(/^sy_live_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/)
    expect(makeApiKey('test', PEPPER).text).toMatch(/^sy_test_/)
    expect(parseApiKey(text, crc32)?.keyId).toBe(text.slice(8, 16))
    expect(parseApiKey(forge(text), crc32)).not.toBeNull()
  })

  test('every single typing error is noticed without asking the database', () => {
    const { text } = makeApiKey('live', PEPPER)
    for (let n = 0; n < text.length; n++) {
      const typo = text.slice(0, n) + (text[n] === 'x' ? 'y' : 'x') + text.slice(n + 1)
      expect(parseApiKey(typo, crc32), `position ${n}`).toBeNull()
    }
  })
})

describe('a key', () => {
  test('names its partner and what it may; the next call is answered from memory', async () => {
    const { key, attempt, authenticate, name } = await newPartner()
    expect(await attempt(key.text)).toMatchObject({ keyId: key.keyId, partner: { name, feeBps: 5, suspended: false } })
    const again = authenticate(key.text, '10.0.0.1')
    expect(again).not.toBeInstanceOf(Promise)
    expect((again as Caller).scopes).toEqual(new Set(['exchange:read']))
  })

  test('unknown id and wrong secret get the same answer', async () => {
    const { key, attempt, authenticate } = await newPartner()
    expect(await attempt(undefined)).toBe('API_KEY_MISSING')
    expect(await attempt('')).toBe('API_KEY_MISSING')
    const wrong = [
      forge(key.text),
      makeApiKey('live', PEPPER).text,
      key.text.slice(0, -1),
      'sandbox',
      `${key.text} `,
      'x'.repeat(100_000),
    ]
    for (const text of wrong) expect(await attempt(text)).toBe('API_KEY_INVALID')
    const messages = await Promise.all(
      wrong.map(async (text) => (async () => authenticate(text, '10.0.0.1'))().catch((error: Error) => error.message)),
    )
    expect(new Set(messages).size).toBe(1)
  })

  test('is worth nothing under another pepper, and its secret is not in the database', async () => {
    const { key, attempt } = await newPartner({ pepper: Buffer.from('another pepper') })
    expect(await attempt(key.text)).toBe('API_KEY_INVALID')
    const rows = await database.query<{ dump: string }>(
      'select s::text || k::text as dump from key_secrets s join api_keys k on k.id = s.key_id where k.id = $1',
      [key.keyId],
    )
    expect(rows[0]?.dump).toBeTruthy()
    expect(rows[0]?.dump).not.toContain(key.text.split('_')[3])
  })

  test('the plain keys of the sandbox exist where they are named, and nowhere else', async () => {
    const { attempt } = await newPartner({ sandboxKeys: ['sandbox-of-test'] })
    expect(await attempt('sandbox-of-test')).toBe('API_KEY_INVALID')
    expect(await attempt('sandbox')).toBe('API_KEY_INVALID')
  })

  test('that is revoked ends, for others within 5 s, here at once', async () => {
    const { store, key, attempt, clock, forget } = await newPartner()
    expect(await attempt(key.text)).toMatchObject({ keyId: key.keyId })
    expect(await store.keys.revoke(key.keyId)).toBe(true)
    expect(await store.keys.revoke(key.keyId)).toBe(false)
    expect(await attempt(key.text)).toMatchObject({ keyId: key.keyId })
    clock.now += 5_001
    expect(await attempt(key.text)).toBe('API_KEY_INVALID')
    forget()
    expect(await attempt(key.text)).toBe('API_KEY_INVALID')
  })

  test('in use stays cached: it is refreshed in the background', async () => {
    const { key, attempt, clock, authenticate, asked, read } = await newPartner()
    await attempt(key.text)
    // Longer than the minute of `last_used_at`.
    for (let second = 0; second < 70; second++) {
      clock.now += 1_000
      expect(authenticate(key.text, '10.0.0.1'), `second ${second}`).toMatchObject({ keyId: key.keyId })
      await read()
    }
    expect(asked.length).toBeGreaterThan(20)
    expect(asked.length).toBeLessThan(30)
  })

  test('that is revoked while it is in use ends with the next refresh', async () => {
    const { store, key, attempt, clock, authenticate, read } = await newPartner()
    await attempt(key.text)
    await store.keys.revoke(key.keyId)
    clock.now += 3_000
    expect(authenticate(key.text, '10.0.0.1')).toMatchObject({ keyId: key.keyId })
    await read()
    expect(await attempt(key.text)).toBe('API_KEY_INVALID')
  })

  test('in use counts for its 5 s where the database does not answer, which is not asked by every request', async () => {
    const { key, attempt, clock, authenticate, asked, read, hold, takeDatabaseAway } = await newPartner()
    await attempt(key.text)
    const release = hold()
    clock.now += 3_000
    for (let n = 0; n < 100; n++) expect(authenticate(key.text, '10.0.0.1')).toMatchObject({ keyId: key.keyId })
    expect(asked).toHaveLength(2)
    release()
    await read()
    takeDatabaseAway()
    clock.now += 3_000
    for (let n = 0; n < 100; n++) {
      expect(authenticate(key.text, '10.0.0.1')).toMatchObject({ keyId: key.keyId })
      await read()
    }
    expect(asked).toHaveLength(3)
    clock.now += 2_100
    await expect(attempt(key.text)).rejects.toThrow('away')
  })

  test('that many ask with at once is read once', async () => {
    const { key, attempt, asked } = await newPartner()
    const all = await Promise.all(Array.from({ length: 50 }, () => attempt(key.text)))
    for (const one of all) expect(one).toMatchObject({ keyId: key.keyId })
    expect(asked).toHaveLength(1)
  })

  test('what was asked before a change is not kept after it', async () => {
    const { store, key, attempt, forget, asked, hold } = await newPartner()
    const release = hold()
    const before = attempt(key.text)
    await vi.waitUntil(() => asked.length === 1, PATIENCE)
    await store.keys.revoke(key.keyId)
    forget()
    release()
    await before
    expect(await attempt(key.text)).toBe('API_KEY_INVALID')
  })

  test('of a suspended partner still says who calls', async () => {
    const { store, name, key, attempt } = await newPartner()
    await store.setSuspended(name, true)
    expect(await attempt(key.text)).toMatchObject({ partner: { suspended: true } })
  })

  test('is touched to the minute', async () => {
    const { store, name, key, attempt } = await newPartner()
    await attempt(key.text)
    const findUse = async () => (await store.list()).find((partner) => partner.name === name)?.keys[0]?.lastUsedAt
    const used = await until('the use is recorded', findUse)
    expect(used.getUTCSeconds()).toBe(0)
  })
})

describe('rotation', () => {
  test('both secrets are good during the overlap, and the old one is not after it', async () => {
    const { store, key, attempt, clock, forget } = await newPartner()
    const next = makeApiKey('live', PEPPER, key.keyId)
    expect(next.keyId).toBe(key.keyId)
    expect(await store.keys.rotate(key.keyId, next.hmac, HOUR_MS)).toBe(true)
    expect(await attempt(key.text)).toMatchObject({ keyId: key.keyId })
    expect(await attempt(next.text)).toMatchObject({ keyId: key.keyId })
    forget()
    clock.now += HOUR_MS + 60_000
    expect(await attempt(key.text)).toBe('API_KEY_INVALID')
    expect(await attempt(next.text)).toMatchObject({ keyId: key.keyId })
  })

  test('an overlap that ends while the old secret is in memory ends it there too', async () => {
    const { store, key, attempt, clock } = await newPartner()
    await store.keys.rotate(key.keyId, makeApiKey('live', PEPPER, key.keyId).hmac, 3_000)
    expect(await attempt(key.text)).toMatchObject({ keyId: key.keyId })
    clock.now += 4_000
    expect(await attempt(key.text)).toBe('API_KEY_INVALID')
  })

  test('there are never three: the oldest is removed, and a longer overlap restores none', async () => {
    const { store, key, attempt } = await newPartner()
    const second = makeApiKey('live', PEPPER, key.keyId)
    const third = makeApiKey('live', PEPPER, key.keyId)
    await store.keys.rotate(key.keyId, second.hmac, HOUR_MS)
    await store.keys.rotate(key.keyId, third.hmac, 100 * HOUR_MS)
    expect(await attempt(key.text)).toBe('API_KEY_INVALID')
    expect(await attempt(second.text)).toMatchObject({ keyId: key.keyId })
    expect(await attempt(third.text)).toMatchObject({ keyId: key.keyId })
    await expect(
      database.query('insert into key_secrets (key_id, hmac) values ($1, $2)', [key.keyId, Buffer.alloc(32)]),
    ).rejects.toThrow('two live secrets')
  })

  test('may expire, and a new secret has the lifetime given then', async () => {
    const { store, name, attempt, clock, forget } = await newPartner()
    const [first, next] = [makeApiKey('live', PEPPER), makeApiKey('live', PEPPER)]
    const key = { keyId: first.keyId, hmac: first.hmac, scopes: ['exchange:read'] as const, ipAllowList: [] }
    await store.keys.add(name, { ...key, createdBy: 'test', lifetimeMs: 2 * HOUR_MS })
    const listed = async () => (await store.list()).find((partner) => partner.name === name)?.keys
    expect(await attempt(first.text)).toMatchObject({ keyId: first.keyId })
    const endsInMs =
      ((await listed())?.find(({ keyId }) => keyId === first.keyId)?.expiresAt?.getTime() ?? 0) - clock.now
    expect(Math.abs(endsInMs - 2 * HOUR_MS)).toBeLessThan(60_000)
    forget()
    // An overlap restores no secret and extends none.
    const second = makeApiKey('live', PEPPER, first.keyId)
    await store.keys.rotate(first.keyId, second.hmac, 9 * HOUR_MS, 5 * HOUR_MS)
    clock.now += 3 * HOUR_MS
    expect(await attempt(first.text)).toBe('API_KEY_INVALID')
    expect(await attempt(second.text)).toMatchObject({ keyId: first.keyId })
    clock.now += 3 * HOUR_MS
    expect(await attempt(second.text)).toBe('API_KEY_INVALID')
    await store.keys.add(name, { ...key, keyId: next.keyId, hmac: next.hmac, createdBy: 'test' })
    expect((await listed())?.find(({ keyId }) => keyId === next.keyId)?.expiresAt).toBeNull()
  })

  test('without an overlap ends the old secret at once, and revoked keys have none', async () => {
    const { store, key, attempt } = await newPartner()
    const next = makeApiKey('live', PEPPER, key.keyId)
    await store.keys.rotate(key.keyId, next.hmac, 0)
    expect(await attempt(key.text)).toBe('API_KEY_INVALID')
    await store.keys.revoke(key.keyId)
    expect(await store.keys.rotate(key.keyId, key.hmac, 0)).toBe(false)
  })
})

describe('the list of addresses of a key', () => {
  test.each<[string[], string, boolean]>([
    [['192.0.2.0/24'], '192.0.2.255', true],
    [['192.0.2.0/24'], '192.0.3.0', false],
    [['192.0.2.7/32'], '::ffff:192.0.2.7', true],
    [['2001:db8::/32'], '2001:db8:ffff::1', true],
    [['2001:db8::/32'], '2001:db9::1', false],
    [['2001:db8::/32', '192.0.2.0/24'], '192.0.2.1', true],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['192.0.2.0/24'], 'unknown', false],
    [[], 'unknown', true],
  ])('%j and %s: %s', async (ip, address, allowed) => {
    const { key, attempt } = await newPartner({ ip })
    for (const _coldThenWarm of [1, 2]) {
      expect(await attempt(key.text, address)).toEqual(
        allowed ? expect.objectContaining({ keyId: key.keyId }) : 'IP_NOT_ALLOWED',
      )
    }
  })

  test('says nothing to who does not have the secret', async () => {
    const { key, attempt } = await newPartner({ ip: ['192.0.2.0/24'] })
    expect(await attempt(forge(key.text), '10.0.0.1')).toBe('API_KEY_INVALID')
  })
})

describe('wrong keys', () => {
  test('are slowed down by address, of whatever form, and right ones elsewhere are not', async () => {
    const { key, attempt, clock } = await newPartner({ throttled: true })
    const answers: unknown[] = []
    for (let n = 0; n < 30; n++)
      answers.push(await attempt(n % 2 ? 'nonsense' : makeApiKey('live', PEPPER).text, '203.0.113.5'))
    expect(answers.filter((answer) => answer === 'API_KEY_INVALID')).toHaveLength(20)
    expect(answers.filter((answer) => answer === 'RATE_LIMIT_EXCEEDED')).toHaveLength(10)
    expect(await attempt(key.text, '203.0.113.6')).toMatchObject({ keyId: key.keyId })
    clock.now += 2_000
    expect(await attempt('nonsense', '203.0.113.5')).toBe('API_KEY_INVALID')
  })

  test('the same wrong key from memory counts as well', async () => {
    const { key, attempt } = await newPartner({ throttled: true })
    const wrong = forge(key.text)
    const answers: unknown[] = []
    for (let n = 0; n < 25; n++) answers.push(await attempt(wrong, '203.0.113.7'))
    expect(answers.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 'API_KEY_INVALID'))
    expect(answers.at(-1)).toBe('RATE_LIMIT_EXCEEDED')
  })

  test('are not counted where limits are off', async () => {
    const { attempt } = await newPartner({ throttled: false })
    for (let n = 0; n < 50; n++) expect(await attempt('nonsense')).toBe('API_KEY_INVALID')
  })
})
