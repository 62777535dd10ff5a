import { timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { callerNetwork, isWithin } from '../../lib/ip-address.ts'
import { createTtlCache, type TtlCache } from '../../lib/ttl-cache.ts'
import { type ApiKey, parseApiKey } from '../domain/api-key.ts'
import { AppError } from '../domain/errors.ts'
import type { Caller } from '../domain/partner.ts'
import type { PartnerStore, StoredKey } from '../ports/store/partners.ts'
import { hashSecret } from './partner-keys.ts'

export type AuthenticateDeps = Readonly<{
  partners: Pick<PartnerStore, 'findKey' | 'touchKey'>
  pepper: Uint8Array
  /** The sandbox's published keys. */
  sandboxKeys: readonly string[]
  /** False in production: a key that is named a test key must not move real money. */
  acceptsTestKeys: boolean
  /** Whether wrong keys are throttled by address. */
  throttled: boolean
  now(): number
}>

export type Authenticate = Readonly<{
  authenticate(key: string | undefined, ip: string): Caller | Promise<Caller>
  /** Drops cached keys after a change of a partner or key. */
  forget(): void
}>

/** Maximum age of a cached key, in ms: a change takes effect everywhere by then. */
const CACHE_MS = 5_000
/** A valid key in use is refreshed in the background from this age on, in ms; requests keep using the cached one. */
const REFRESH_MS = 2_500
/** Pause of background refreshes after a failure, in ms. */
const PAUSE_MS = 500
const CACHED_MAX = 10_000
/** Wrong keys that an address may try in a row, and how fast the allowance refills. */
const WRONG_BURST = 20
const WRONG_PER_SECOND = 1
const ADDRESSES_MAX = 50_000
/** `last_used_at` has a resolution of one minute. */
const TOUCH_MS = 60_000

type Bucket = { tokens: number; at: number }
/** `caller`: the same object for every request until the key is refreshed. */
type Known = Readonly<{ found: Readonly<{ stored: StoredKey; caller: Caller }> | null; hash: Buffer; readAt: number }>

/** Finds the caller of a key. Unknown id and wrong secret get the same answer; a cached key is answered synchronously. */
export function createAuthenticate(deps: AuthenticateDeps): Authenticate {
  const keys = createKeys(deps)
  const touched = createTtlCache<string, true>({ max: CACHED_MAX, ttlMs: TOUCH_MS, now: deps.now })
  const wrong = createTtlCache<string, Bucket>({ max: ADDRESSES_MAX, ttlMs: 10 * 60_000, now: deps.now })

  function accept(key: string, { found, hash }: Known, ip: string): Caller {
    if (found === null || !matches(found.stored, hash, deps.now())) throw refuse(ip)
    if (!isAllowed(found.stored.ipAllowList, ip))
      throw new AppError('IP_NOT_ALLOWED', 'this key is not used from this address')
    touch(key, found.caller.keyId)
    return found.caller
  }

  function touch(key: string, keyId: string): void {
    if (touched.get(key)) return
    touched.set(key, true)
    // A failure loses the time of last use, not the request.
    deps.partners.touchKey(keyId).catch(() => undefined)
  }

  function refuse(ip: string, reason = 'the API key is not valid'): AppError {
    if (deps.throttled) {
      checkSpent(wrong, callerNetwork(ip), deps.now())
      spend(wrong, callerNetwork(ip), deps.now())
    }
    return new AppError('API_KEY_INVALID', reason)
  }

  return {
    forget: keys.forget,
    authenticate: (key, ip) => {
      if (key === undefined || key.trim() === '')
        throw new AppError('API_KEY_MISSING', 'the header x-api-key is missing')
      const cached = keys.known(key)
      if (cached) return accept(key, cached, ip)
      // Before any hash or query, so that guessing is slowed down.
      if (deps.throttled) checkSpent(wrong, callerNetwork(ip), deps.now())
      const parsed = keys.parse(key)
      if (parsed === null) throw refuse(ip)
      if (parsed.kind === 'test' && !deps.acceptsTestKeys) throw refuse(ip, 'a test key works in the sandbox only')
      return keys.read(key, parsed).then((one) => accept(key, one, ip))
    },
  }
}

type Keys = Readonly<{
  parse(key: string): ApiKey | null
  known(key: string): Known | undefined
  /** Reads the database. */
  read(key: string, parsed: ApiKey): Promise<Known>
  forget(): void
}>

/** Caches the database's rows of keys in use. */
function createKeys({ partners, pepper, sandboxKeys, now }: AuthenticateDeps): Keys {
  const known = createTtlCache<string, Known>({ max: CACHED_MAX, ttlMs: CACHE_MS, now })
  /** One query per key at a time, shared by all waiting requests. A query that began before a change is not cached. */
  let asked = new Map<string, Promise<Known>>()

  const parse = (key: string) =>
    sandboxKeys.includes(key) ? { kind: 'test' as const, keyId: key, secret: key } : parseApiKey(key, crc32)

  const look = async ({ keyId, secret, isPublishable }: ApiKey): Promise<Known> => {
    const hash = hashSecret(secret, pepper)
    const readAt = now()
    const stored = await partners.findKey(keyId)
    // A text with the other prefix is no key of ours.
    const isSame = stored !== null && (isPublishable ?? stored.origins !== null) === (stored.origins !== null)
    return { found: isSame ? { stored, caller: callerOf(stored) } : null, hash, readAt }
  }

  const read = (key: string, parsed: ApiKey): Promise<Known> => {
    const questions = asked
    const waiting = questions.get(key)
    if (waiting !== undefined) return waiting
    const answer = look(parsed)
    questions.set(key, answer)
    const keep = (one: Known) => {
      if (questions === asked) known.set(key, one)
    }
    answer.then(keep, () => undefined).finally(() => questions.delete(key))
    return answer
  }

  let pausedUntil = 0
  const refresh = (key: string) => {
    const parsed = now() < pausedUntil ? null : parse(key)
    // The cached key expires; the next request then reports the failure.
    const onFailure = () => {
      pausedUntil = now() + PAUSE_MS
    }
    if (parsed !== null) read(key, parsed).catch(onFailure)
  }

  return {
    parse,
    known: (key) => {
      const one = known.get(key)
      if (one?.found && now() - one.readAt > REFRESH_MS) refresh(key)
      return one
    },
    read,
    forget: () => {
      asked = new Map()
      known.clear()
    },
  }
}

/** Compares every live secret, each in constant time. */
function matches({ secrets }: StoredKey, hash: Buffer, now: number): boolean {
  let found = false
  for (const { hmac, expiresAt } of secrets) {
    const equal = timingSafeEqual(hmac, hash)
    if (equal && (expiresAt === null || expiresAt.getTime() > now)) found = true
  }
  return found
}

const callerOf = ({ partner, keyId, scopes, origins }: StoredKey): Caller => ({
  ...{ partner, keyId, scopes },
  ...(origins === null ? {} : { origins }),
})

/** An empty list allows every address. */
function isAllowed(list: readonly string[], ip: string): boolean {
  return list.length === 0 || isWithin(ip, list)
}

function refilled(bucket: Bucket | undefined, now: number): Bucket {
  if (!bucket) return { tokens: WRONG_BURST, at: now }
  return { tokens: Math.min(WRONG_BURST, bucket.tokens + ((now - bucket.at) / 1000) * WRONG_PER_SECOND), at: now }
}

function spend(wrong: TtlCache<string, Bucket>, ip: string, now: number): void {
  const bucket = refilled(wrong.get(ip), now)
  wrong.set(ip, { ...bucket, tokens: bucket.tokens - 1 })
}

function checkSpent(wrong: TtlCache<string, Bucket>, ip: string, now: number): void {
  const { tokens } = refilled(wrong.get(ip), now)
  if (tokens >= 1) return
  throw new AppError('RATE_LIMIT_EXCEEDED', 'too many wrong API keys from this address', {
    retryAfterSeconds: Math.ceil((1 - tokens) / WRONG_PER_SECOND),
  })
}
