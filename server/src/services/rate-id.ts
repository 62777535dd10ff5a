import { hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { toSignificant } from '../domain/amount.ts'
import { AppError } from '../domain/errors.ts'
import type { RateTerms } from '../domain/rate-quote.ts'
import { assert } from '../lib/assert.ts'

/** What a quote promises, before it has its nonce. */
export type RateOffer = Omit<RateTerms, 'nonce'>
/** What the caller asks for, and from which partner the call comes. */
export type RateClaim = Pick<RateTerms, 'partnerId' | 'fromAssetId' | 'toAssetId' | 'flow' | 'fromUnits'>

/** Makes and reads rateIds: tokens that any process with the same pepper can verify, without a database. */
export type RateIds = Readonly<{
  issue(offer: RateOffer): string
  /**
   * The terms that were promised. Throws RATE_ID_INVALID for what we did not make, and RATE_ID_MISMATCH for another
   * partner's or other terms, without saying which. Expiry and single use are the create transaction's to check.
   */
  read(token: string, claim: RateClaim): RateTerms
}>

/*
 * The token is base64url of: version (1) · expiry in ms (6) · nonce (16) · binding (16) · toUnits (1 to 33) · MAC (16).
 * The binding is a digest of partner, pair, flow and amount, which the caller repeats; only what the caller cannot know
 * is in the token itself. The MAC is HMAC-SHA256, cut to 128 bits (RFC 2104 §5).
 */
const VERSION = 1
const NONCE_AT = 7
const NONCE_BYTES = 16
const BINDING_AT = NONCE_AT + NONCE_BYTES
const BINDING_BYTES = 16
const TO_UNITS_AT = BINDING_AT + BINDING_BYTES
const MAC_BYTES = 16
const BYTES_MIN = TO_UNITS_AT + 1 + MAC_BYTES
/** An amount of 78 decimal digits has 33 bytes. */
const BYTES_MAX = TO_UNITS_AT + 33 + MAC_BYTES
const BASE64URL = /^[A-Za-z0-9_-]{1,256}$/
/** Of SHA-256. */
const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
const MESSAGE_BYTES_MAX = BYTES_MAX - MAC_BYTES
const PURPOSE = 'swapyard rate id 1'
/** Random bytes are drawn for this many nonces at once: one call each costs more than the MAC. */
const NONCES_DRAWN = 256

export function createRateIds(pepper: Uint8Array): RateIds {
  const macOf = createMac(Buffer.from(hkdfSync('sha256', pepper, new Uint8Array(0), PURPOSE, 32)))
  const drawNonce = createNonces()
  return {
    issue: (offer) => {
      const toUnits = toHex(offer.toUnits)
      const token = Buffer.alloc(TO_UNITS_AT + toUnits.length / 2 + MAC_BYTES)
      token.writeUInt8(VERSION, 0)
      token.writeUIntBE(offer.expiresAt.getTime(), 1, 6)
      drawNonce(token, NONCE_AT)
      token.write(bindingOf(offer), BINDING_AT, BINDING_BYTES, 'latin1')
      token.write(toUnits, TO_UNITS_AT, 'hex')
      token.write(macOf(token, token.length - MAC_BYTES), token.length - MAC_BYTES, MAC_BYTES, 'latin1')
      return token.toString('base64url')
    },
    read: (text, claim) => {
      const token = decode(text)
      if (token === null || !isEqual(token.subarray(-MAC_BYTES), macOf(token, token.length - MAC_BYTES))) {
        throw new AppError('RATE_ID_INVALID', 'rateId was not issued by this service', { field: 'rateId' })
      }
      if (!isEqual(token.subarray(BINDING_AT, TO_UNITS_AT), bindingOf(claim))) {
        throw new AppError('RATE_ID_MISMATCH', 'rateId was issued for other terms', { field: 'rateId' })
      }
      const { partnerId, fromAssetId, toAssetId, flow, fromUnits } = claim
      const nonce = token.toString('base64url', NONCE_AT, BINDING_AT)
      const toUnits = BigInt(`0x${token.toString('hex', TO_UNITS_AT, token.length - MAC_BYTES)}`)
      const expiresAt = new Date(token.readUIntBE(1, 6))
      return { nonce, partnerId, fromAssetId, toAssetId, flow, fromUnits, toUnits, expiresAt }
    },
  }
}

/** The bytes of a token in its one spelling, or null. */
function decode(text: string): Buffer | null {
  if (!BASE64URL.test(text)) return null
  const token = Buffer.from(text, 'base64url')
  const plausible = token.length >= BYTES_MIN && token.length <= BYTES_MAX && token[0] === VERSION
  return plausible && token.toString('base64url') === text ? token : null
}

/**
 * HMAC-SHA256 (RFC 2104 §2) of the first `length` bytes of a message, by two one-shot digests: a tenth of the time that
 * `createHmac` takes, which is most of what a quote costs. Digests are passed as text of one character a byte,
 * because a Buffer costs more than its hash. A test holds it to `createHmac` and to RFC 4231.
 */
export function createMac(key: Buffer): (message: Buffer, length: number) => string {
  assert(key.length <= BLOCK_BYTES, 'a key is no longer than a block of SHA-256')
  const inner = Buffer.alloc(BLOCK_BYTES + MESSAGE_BYTES_MAX, 0x36)
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, 0x5c)
  for (const [index, byte] of key.entries()) {
    inner[index] = 0x36 ^ byte
    outer[index] = 0x5c ^ byte
  }
  return (message, length) => {
    assert(length <= MESSAGE_BYTES_MAX, 'a message is no longer than the longest token')
    message.copy(inner, BLOCK_BYTES, 0, length)
    outer.write(hash('sha256', inner.subarray(0, BLOCK_BYTES + length), 'binary'), BLOCK_BYTES, 'latin1')
    return hash('sha256', outer, 'binary').slice(0, MAC_BYTES)
  }
}

/** Bound to the amount as quotes state it, to 15 digits: who asked with more may create with either. */
function bindingOf({ partnerId, fromAssetId, toAssetId, flow, fromUnits }: RateClaim): string {
  const amount = toSignificant(fromUnits, 'down').toString()
  // JSON keeps the parts apart: no two claims have the same text.
  const text = JSON.stringify([partnerId, fromAssetId, toAssetId, flow, amount])
  return hash('sha256', text, 'binary').slice(0, BINDING_BYTES)
}

/** In constant time. */
function isEqual(bytes: Buffer, latin1: string): boolean {
  return timingSafeEqual(bytes, Buffer.from(latin1, 'latin1'))
}

/** Whole bytes. */
function toHex(units: bigint): string {
  const digits = units.toString(16)
  return digits.length % 2 === 0 ? digits : `0${digits}`
}

/** Writes a fresh nonce at an offset. */
function createNonces(): (target: Buffer, offset: number) => void {
  let drawn = Buffer.alloc(0)
  let used = 0
  return (target, offset) => {
    if (used === drawn.length) {
      drawn = randomBytes(NONCE_BYTES * NONCES_DRAWN)
      used = 0
    }
    drawn.copy(target, offset, used, used + NONCE_BYTES)
    used += NONCE_BYTES
  }
}
