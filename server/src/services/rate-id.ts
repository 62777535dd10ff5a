import { hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { toSignificant } from '../domain/amount.ts'
import { AppError } from '../domain/errors.ts'
import type { RateTerms } from '../domain/rate-quote.ts'
import { createMac, type Mac } from '../lib/mac.ts'

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
const VERSION = 2
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
const MESSAGE_BYTES_MAX = BYTES_MAX - MAC_BYTES
const PURPOSE = 'swapyard rate id 2'
/** Random bytes are drawn for this many nonces at once: one call each costs more than the MAC. */
const NONCES_DRAWN = 256

export function createRateIds(pepper: Uint8Array): RateIds {
  const key = new Uint8Array(hkdfSync('sha256', pepper, new Uint8Array(0), PURPOSE, 32))
  const mac = createMac('sha256', key, MESSAGE_BYTES_MAX, MAC_BYTES)
  const drawNonce = createNonces()
  return {
    // Written where the MAC reads it, and read from there: every buffer costs more than a hash.
    issue: (offer) => {
      const token = mac.message
      const toUnits = toHex(offer.toUnits)
      const macAt = TO_UNITS_AT + toUnits.length / 2
      token[0] = VERSION
      token.writeUIntBE(offer.expiresAt.getTime(), 1, 6)
      drawNonce(token, NONCE_AT)
      token.write(bindingOf(offer), BINDING_AT, BINDING_BYTES, 'latin1')
      token.write(toUnits, TO_UNITS_AT, 'hex')
      token.write(mac.of(macAt), macAt, MAC_BYTES, 'latin1') // The rest is cut off.
      return token.toString('base64url', 0, macAt + MAC_BYTES)
    },
    read: (text, claim) => {
      const token = decode(text)
      if (token === null || !isEqual(token.subarray(-MAC_BYTES), macOf(mac, token))) {
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

/** Of a whole token, as it should be. */
function macOf(mac: Mac, token: Buffer): string {
  const length = token.length - MAC_BYTES
  token.copy(mac.message, 0, 0, length)
  return mac.of(length).slice(0, MAC_BYTES)
}

/** Bound to the amount as quotes state it, to 15 digits: who asked with more may create with either. */
function bindingOf({ partnerId, fromAssetId, toAssetId, flow, fromUnits }: RateClaim): string {
  const amount = toSignificant(fromUnits, 'down')
  // The lengths keep the parts apart: no two claims have the same text.
  const lengths = `${partnerId.length} ${fromAssetId.length} ${toAssetId.length} ${flow.length}`
  return hash('sha256', `${lengths} ${partnerId}${fromAssetId}${toAssetId}${flow}${amount}`, 'binary').slice(
    0,
    BINDING_BYTES,
  )
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
