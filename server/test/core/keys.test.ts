import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { createDatabase } from '../../../test/support/database.ts'
import { PATIENCE } from '../../../test/support/patience.ts'
import { until } from '../../../test/support/until.ts'
import { createAdminLists } from '../../src/adapters/postgres/admin/lists.ts'
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
  const created = await createDatabase(inject('databaseUrl'))
  drop = created.drop
  database = openDatabase(created.url, { max: 4, waitMs: 10_000 })
  await migrate(database)
})
afterAll(async () => {
  await database.close()
  await drop()
})

type ListedKey = Readonly<{ keyId: string; expiresAt: Date | null; lastUsedAt: Date | null }>

async function listKeysOf(name: string): Promise<readonly ListedKey[]> {
  const { data } = await createAdminLists(database).partners(name, { cursor: null, limit: 500 })
  return (data.find((partner) => partner['name'] === name)?.['keys'] ?? []) as readonly ListedKey[]
}

let partnerCount = 0
/** Adds a partner with one key, and creates an authentication service with a clock that the test advances. */
async function createPartner(
  options: { ip?: string[]; throttled?: boolean; pepper?: Buffer; sandboxKeys?: string[] } = {},
) {
  const store = createPartnerStore(database)
  const name = `partner-${++partnerCount}`
  await store.add({
    name,
    feeBps: 5,
    openExchangesMax: 10,
    rateLimitPerMinute: 100,
    strict: false,
    refundToSender: false,
  })
  const key = makeApiKey('live', PEPPER)
  await store.keys.add(name, {
    keyId: key.keyId,
    hmac: key.hmac,
    scopes: ['exchange:read'],
    ipAllowList: options.ip ?? [],
    createdBy: 'test',
  })
  const clock = { now: Date.now() }
  const lookups: Promise<unknown>[] = []
  let unblocked = Promise.resolve()
  let isDatabaseDown = false
  const { authenticate, forget } = createAuthenticate({
    partners: {
      ...store,
      findKey: (keyId) => {
        const lookup = isDatabaseDown
          ? Promise.reject(new Error('away'))
          : store.findKey(keyId).then((one) => unblocked.then(() => one))
        lookups.push(lookup)
        return lookup
      },
    },
    pepper: options.pepper ?? PEPPER,
    sandboxKeys: options.sandboxKeys ?? [],
    acceptsTestKeys: false,
    throttled: options.throttled ?? false,
    now: () => clock.now,
  })
  const tryAuthenticate = async (text: string | undefined, ip = '10.0.0.1'): Promise<Caller | string> => {
    try {
      return await authenticate(text, ip)
    } catch (error) {
      if (error instanceof AppError) return error.code
      throw error
    }
  }
  /** Waits for all lookups, background refreshes included. */
  const settleLookups = async () => {
    await Promise.allSettled(lookups)
    await setImmediate()
  }
  /** Blocks the answers of the database until the returned function is called. */
  const blockLookups = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    unblocked = promise
    return resolve
  }
  const failLookups = () => {
    isDatabaseDown = true
  }
  return {
    store,
    name,
    key,
    clock,
    authenticate,
    forget,
    tryAuthenticate,
    lookups,
    settleLookups,
    blockLookups,
    failLookups,
  }
}

/** Creates a well-formed key with a valid checksum that was never issued. */
function forgeKey(text: string): string {
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

describe('key format', () => {
  test('has a prefix for secret scanners, 256 random bits and a checksum', () => {
    const { text } = makeApiKey('live', PEPPER)
    expect(text).toMatch(/^sy_live_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/)
    expect(makeApiKey('test', PEPPER).text).toMatch(/^sy_test_/)
    expect(parseApiKey(text, crc32)?.keyId).toBe(text.slice(8, 16))
    expect(parseApiKey(forgeKey(text), crc32)).not.toBeNull()
  })

  test('detects a wrong character in any position by the checksum', () => {
    const { text } = makeApiKey('live', PEPPER)
    for (let n = 0; n < text.length; n++) {
      const typo = text.slice(0, n) + (text[n] === 'x' ? 'y' : 'x') + text.slice(n + 1)
      expect(parseApiKey(typo, crc32), `position ${n}`).toBeNull()
    }
  })
})

describe('authentication', () => {
  test('returns the partner and the scopes, and answers the next call from memory', async () => {
    const { key, tryAuthenticate, authenticate, name } = await createPartner()
    expect(await tryAuthenticate(key.text)).toMatchObject({
      keyId: key.keyId,
      partner: { name, feeBps: 5, suspended: false },
    })
    const again = authenticate(key.text, '10.0.0.1')
    expect(again).not.toBeInstanceOf(Promise)
    expect((again as Caller).scopes).toEqual(new Set(['exchange:read']))
  })

  test('gives the same answer to an unknown id and a wrong secret', async () => {
    const { key, tryAuthenticate, authenticate } = await createPartner()
    expect(await tryAuthenticate(undefined)).toBe('API_KEY_MISSING')
    expect(await tryAuthenticate('')).toBe('API_KEY_MISSING')
    const wrong = [
      forgeKey(key.text),
      makeApiKey('live', PEPPER).text,
      key.text.slice(0, -1),
      'sandbox',
      `${key.text} `,
      'x'.repeat(100_000),
    ]
    for (const text of wrong) expect(await tryAuthenticate(text)).toBe('API_KEY_INVALID')
    const messages = await Promise.all(
      wrong.map(async (text) => (async () => authenticate(text, '10.0.0.1'))().catch((error: Error) => error.message)),
    )
    expect(new Set(messages).size).toBe(1)
  })

  test('rejects a key under another pepper, and stores no secret in the database', async () => {
    const { key, tryAuthenticate } = await createPartner({ pepper: Buffer.from('another pepper') })
    expect(await tryAuthenticate(key.text)).toBe('API_KEY_INVALID')
    const rows = await database.query<{ dump: string }>(
      'select s::text || k::text as dump from key_secrets s join api_keys k on k.id = s.key_id where k.id = $1',
      [key.keyId],
    )
    expect(rows[0]?.dump).toBeTruthy()
    expect(rows[0]?.dump).not.toContain(key.text.split('_')[3])
  })

  test('rejects a sandbox key that is not configured or not in the database', async () => {
    const { tryAuthenticate } = await createPartner({ sandboxKeys: ['sandbox-of-test'] })
    expect(await tryAuthenticate('sandbox-of-test')).toBe('API_KEY_INVALID')
    expect(await tryAuthenticate('sandbox')).toBe('API_KEY_INVALID')
  })

  test('rejects a revoked key within 5 s, and at once in the process that revoked it', async () => {
    const { store, key, tryAuthenticate, clock, forget } = await createPartner()
    expect(await tryAuthenticate(key.text)).toMatchObject({ keyId: key.keyId })
    expect(await store.keys.revoke(key.keyId)).toBe(true)
    expect(await store.keys.revoke(key.keyId)).toBe(false)
    expect(await tryAuthenticate(key.text)).toMatchObject({ keyId: key.keyId })
    clock.now += 5_001
    expect(await tryAuthenticate(key.text)).toBe('API_KEY_INVALID')
    forget()
    expect(await tryAuthenticate(key.text)).toBe('API_KEY_INVALID')
  })

  test('refreshes a key in use in the background', async () => {
    const { key, tryAuthenticate, clock, authenticate, lookups, settleLookups } = await createPartner()
    await tryAuthenticate(key.text)
    // More than one minute, the precision of `last_used_at`.
    for (let second = 0; second < 70; second++) {
      clock.now += 1_000
      expect(authenticate(key.text, '10.0.0.1'), `second ${second}`).toMatchObject({ keyId: key.keyId })
      await settleLookups()
    }
    expect(lookups.length).toBeGreaterThan(20)
    expect(lookups.length).toBeLessThan(30)
  })

  test('rejects a revoked key in use after the next refresh', async () => {
    const { store, key, tryAuthenticate, clock, authenticate, settleLookups } = await createPartner()
    await tryAuthenticate(key.text)
    await store.keys.revoke(key.keyId)
    clock.now += 3_000
    expect(authenticate(key.text, '10.0.0.1')).toMatchObject({ keyId: key.keyId })
    await settleLookups()
    expect(await tryAuthenticate(key.text)).toBe('API_KEY_INVALID')
  })

  test('accepts a cached key for 5 s if the database does not answer, without a query per request', async () => {
    const { key, tryAuthenticate, clock, authenticate, lookups, settleLookups, blockLookups, failLookups } =
      await createPartner()
    await tryAuthenticate(key.text)
    const release = blockLookups()
    clock.now += 3_000
    for (let n = 0; n < 100; n++) expect(authenticate(key.text, '10.0.0.1')).toMatchObject({ keyId: key.keyId })
    expect(lookups).toHaveLength(2)
    release()
    await settleLookups()
    failLookups()
    clock.now += 3_000
    for (let n = 0; n < 100; n++) {
      expect(authenticate(key.text, '10.0.0.1')).toMatchObject({ keyId: key.keyId })
      await settleLookups()
    }
    expect(lookups).toHaveLength(3)
    clock.now += 2_100
    await expect(tryAuthenticate(key.text)).rejects.toThrow('away')
  })

  test('reads a key once for concurrent requests', async () => {
    const { key, tryAuthenticate, lookups } = await createPartner()
    const all = await Promise.all(Array.from({ length: 50 }, () => tryAuthenticate(key.text)))
    for (const one of all) expect(one).toMatchObject({ keyId: key.keyId })
    expect(lookups).toHaveLength(1)
  })

  test('does not cache a lookup that began before a change', async () => {
    const { store, key, tryAuthenticate, forget, lookups, blockLookups } = await createPartner()
    const release = blockLookups()
    const before = tryAuthenticate(key.text)
    await vi.waitUntil(() => lookups.length === 1, PATIENCE)
    await store.keys.revoke(key.keyId)
    forget()
    release()
    await before
    expect(await tryAuthenticate(key.text)).toBe('API_KEY_INVALID')
  })

  test('identifies a suspended partner', async () => {
    const { store, name, key, tryAuthenticate } = await createPartner()
    await store.setSuspended(name, true)
    expect(await tryAuthenticate(key.text)).toMatchObject({ partner: { suspended: true } })
  })

  test('records the last use with a precision of one minute', async () => {
    const { name, key, tryAuthenticate } = await createPartner()
    await tryAuthenticate(key.text)
    const findLastUse = async () => (await listKeysOf(name))[0]?.lastUsedAt
    const lastUse = await until('the last use is recorded', findLastUse)
    expect(lastUse.getUTCSeconds()).toBe(0)
  })
})

describe('rotation', () => {
  test('accepts both secrets during the overlap, and only the new one afterwards', async () => {
    const { store, key, tryAuthenticate, clock, forget } = await createPartner()
    const next = makeApiKey('live', PEPPER, key.keyId)
    expect(next.keyId).toBe(key.keyId)
    expect(await store.keys.rotate(key.keyId, next.hmac, HOUR_MS)).toBe(true)
    expect(await tryAuthenticate(key.text)).toMatchObject({ keyId: key.keyId })
    expect(await tryAuthenticate(next.text)).toMatchObject({ keyId: key.keyId })
    forget()
    clock.now += HOUR_MS + 60_000
    expect(await tryAuthenticate(key.text)).toBe('API_KEY_INVALID')
    expect(await tryAuthenticate(next.text)).toMatchObject({ keyId: key.keyId })
  })

  test('rejects the cached old secret when the overlap ends', async () => {
    const { store, key, tryAuthenticate, clock } = await createPartner()
    await store.keys.rotate(key.keyId, makeApiKey('live', PEPPER, key.keyId).hmac, 3_000)
    expect(await tryAuthenticate(key.text)).toMatchObject({ keyId: key.keyId })
    clock.now += 4_000
    expect(await tryAuthenticate(key.text)).toBe('API_KEY_INVALID')
  })

  test('keeps at most two secrets: it removes the oldest, and a longer overlap restores none', async () => {
    const { store, key, tryAuthenticate } = await createPartner()
    const second = makeApiKey('live', PEPPER, key.keyId)
    const third = makeApiKey('live', PEPPER, key.keyId)
    await store.keys.rotate(key.keyId, second.hmac, HOUR_MS)
    await store.keys.rotate(key.keyId, third.hmac, 100 * HOUR_MS)
    expect(await tryAuthenticate(key.text)).toBe('API_KEY_INVALID')
    expect(await tryAuthenticate(second.text)).toMatchObject({ keyId: key.keyId })
    expect(await tryAuthenticate(third.text)).toMatchObject({ keyId: key.keyId })
    await expect(
      database.query('insert into key_secrets (key_id, hmac) values ($1, $2)', [key.keyId, Buffer.alloc(32)]),
    ).rejects.toThrow('two live secrets')
  })

  test('expires a secret after its lifetime, and a rotated secret after the new lifetime', async () => {
    const { store, name, tryAuthenticate, clock, forget } = await createPartner()
    const [first, next] = [makeApiKey('live', PEPPER), makeApiKey('live', PEPPER)]
    const key = { keyId: first.keyId, hmac: first.hmac, scopes: ['exchange:read'] as const, ipAllowList: [] }
    await store.keys.add(name, { ...key, createdBy: 'test', lifetimeMs: 2 * HOUR_MS })
    expect(await tryAuthenticate(first.text)).toMatchObject({ keyId: first.keyId })
    const findEnd = async (id: string) => (await listKeysOf(name)).find(({ keyId }) => keyId === id)?.expiresAt
    const endsInMs = ((await findEnd(first.keyId))?.getTime() ?? 0) - clock.now
    expect(Math.abs(endsInMs - 2 * HOUR_MS)).toBeLessThan(60_000)
    forget()
    // An overlap restores no secret and extends none.
    const second = makeApiKey('live', PEPPER, first.keyId)
    await store.keys.rotate(first.keyId, second.hmac, 9 * HOUR_MS, 5 * HOUR_MS)
    clock.now += 3 * HOUR_MS
    expect(await tryAuthenticate(first.text)).toBe('API_KEY_INVALID')
    expect(await tryAuthenticate(second.text)).toMatchObject({ keyId: first.keyId })
    clock.now += 3 * HOUR_MS
    expect(await tryAuthenticate(second.text)).toBe('API_KEY_INVALID')
    await store.keys.add(name, { ...key, keyId: next.keyId, hmac: next.hmac, createdBy: 'test' })
    expect(await findEnd(next.keyId)).toBeNull()
  })

  test('rejects the old secret at once if there is no overlap, and does not rotate a revoked key', async () => {
    const { store, key, tryAuthenticate } = await createPartner()
    const next = makeApiKey('live', PEPPER, key.keyId)
    await store.keys.rotate(key.keyId, next.hmac, 0)
    expect(await tryAuthenticate(key.text)).toBe('API_KEY_INVALID')
    await store.keys.revoke(key.keyId)
    expect(await store.keys.rotate(key.keyId, key.hmac, 0)).toBe(false)
  })
})

describe('IP allow list', () => {
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
  ])('%j allows %s: %s', async (ip, address, allowed) => {
    const { key, tryAuthenticate } = await createPartner({ ip })
    for (const _uncachedThenCached of [1, 2]) {
      expect(await tryAuthenticate(key.text, address)).toEqual(
        allowed ? expect.objectContaining({ keyId: key.keyId }) : 'IP_NOT_ALLOWED',
      )
    }
  })

  test('rejects a wrong secret before it checks the address', async () => {
    const { key, tryAuthenticate } = await createPartner({ ip: ['192.0.2.0/24'] })
    expect(await tryAuthenticate(forgeKey(key.text), '10.0.0.1')).toBe('API_KEY_INVALID')
  })
})

describe('throttle of wrong keys', () => {
  test('limits malformed and unknown keys per address, and accepts valid keys from other addresses', async () => {
    const { key, tryAuthenticate, clock } = await createPartner({ throttled: true })
    const answers: unknown[] = []
    for (let n = 0; n < 30; n++)
      answers.push(await tryAuthenticate(n % 2 ? 'nonsense' : makeApiKey('live', PEPPER).text, '203.0.113.5'))
    expect(answers.filter((answer) => answer === 'API_KEY_INVALID')).toHaveLength(20)
    expect(answers.filter((answer) => answer === 'RATE_LIMIT_EXCEEDED')).toHaveLength(10)
    expect(await tryAuthenticate(key.text, '203.0.113.6')).toMatchObject({ keyId: key.keyId })
    clock.now += 2_000
    expect(await tryAuthenticate('nonsense', '203.0.113.5')).toBe('API_KEY_INVALID')
  })

  test('counts a wrong key that is answered from memory', async () => {
    const { key, tryAuthenticate } = await createPartner({ throttled: true })
    const wrong = forgeKey(key.text)
    const answers: unknown[] = []
    for (let n = 0; n < 25; n++) answers.push(await tryAuthenticate(wrong, '203.0.113.7'))
    expect(answers.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 'API_KEY_INVALID'))
    expect(answers.at(-1)).toBe('RATE_LIMIT_EXCEEDED')
  })

  test('does not count wrong keys if limits are off', async () => {
    const { tryAuthenticate } = await createPartner({ throttled: false })
    for (let n = 0; n < 50; n++) expect(await tryAuthenticate('nonsense')).toBe('API_KEY_INVALID')
  })
})
