import { createHmac, createSecretKey, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { toSignificant } from '../../core/domain/amount.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { RateTerms } from '../domain/rate-quote.ts'

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
 * The token is base64url of: version (1) · expiry in ms (6) · nonce (16) · binding (16) · length of fromUnits (1) ·
 * fromUnits (1 to 33) · toUnits (1 to 33) · MAC (16). The binding is a digest of partner, pair and flow, which the caller
 * repeats. The MAC is HMAC-SHA256, cut to 128 bits (RFC 2104 §5).
 */
const VERSION = 3
const NONCE_AT = 7
const NONCE_BYTES = 16
const BINDING_AT = NONCE_AT + NONCE_BYTES
const BINDING_BYTES = 16
const AMOUNTS_AT = BINDING_AT + BINDING_BYTES
/** An amount of 78 decimal digits has 33 bytes. */
const AMOUNT_BYTES_MAX = 33
const MAC_BYTES = 16
const BYTES_MIN = AMOUNTS_AT + 3 + MAC_BYTES
const BYTES_MAX = AMOUNTS_AT + 1 + 2 * AMOUNT_BYTES_MAX + MAC_BYTES
const BASE64URL = /^[A-Za-z0-9_-]{1,256}$/
const PURPOSE = 'swapyard rate id 3'

export function createRateIds(pepper: Uint8Array): RateIds {
  // Imported once: `createHmac` with the bytes takes 20 µs instead of 3.
  const key = createSecretKey(new Uint8Array(hkdfSync('sha256', pepper, new Uint8Array(0), PURPOSE, 32)))
  const macOf = (message: Uint8Array): Buffer =>
    createHmac('sha256', key).update(message).digest().subarray(0, MAC_BYTES)
  return {
    issue: (offer) => {
      const expiry = Buffer.alloc(NONCE_AT - 1)
      expiry.writeUIntBE(offer.expiresAt.getTime(), 0, expiry.length)
      const fromUnits = toBytes(claimed(offer))
      const message = Buffer.concat([
        Buffer.of(VERSION),
        expiry,
        randomBytes(NONCE_BYTES),
        bindingOf(offer),
        Buffer.of(fromUnits.length),
        fromUnits,
        toBytes(offer.toUnits),
      ])
      return Buffer.concat([message, macOf(message)]).toString('base64url')
    },
    read: (text, claim) => {
      const token = decode(text)
      if (token === null || !timingSafeEqual(token.subarray(-MAC_BYTES), macOf(token.subarray(0, -MAC_BYTES)))) {
        throw new AppError('RATE_ID_INVALID', 'rateId was not issued by this service', { field: 'rateId' })
      }
      const toUnitsAt = AMOUNTS_AT + 1 + token.readUInt8(AMOUNTS_AT)
      const isSame = timingSafeEqual(token.subarray(BINDING_AT, AMOUNTS_AT), bindingOf(claim))
      if (!isSame || toUnits(token, AMOUNTS_AT + 1, toUnitsAt) !== claimed(claim)) {
        throw new AppError('RATE_ID_MISMATCH', 'rateId was issued for other terms', { field: 'rateId' })
      }
      const { partnerId, fromAssetId, toAssetId, flow, fromUnits } = claim
      return {
        nonce: token.toString('base64url', NONCE_AT, BINDING_AT),
        partnerId,
        fromAssetId,
        toAssetId,
        flow,
        fromUnits,
        toUnits: toUnits(token, toUnitsAt, token.length - MAC_BYTES),
        expiresAt: new Date(token.readUIntBE(1, 6)),
      }
    },
  }
}

/** The bytes of a token in its only valid encoding, or null. */
function decode(text: string): Buffer | null {
  if (!BASE64URL.test(text)) return null
  const token = Buffer.from(text, 'base64url')
  const plausible = token.length >= BYTES_MIN && token.length <= BYTES_MAX && token[0] === VERSION
  return plausible && token.toString('base64url') === text ? token : null
}

/** The amount as quotes state it, to 15 digits: who asked with more may create with either. */
const claimed = ({ fromUnits }: Pick<RateClaim, 'fromUnits'>): bigint => toSignificant(fromUnits, 'down')

/** Digest of partner, pair and flow. */
function bindingOf({ partnerId, fromAssetId, toAssetId, flow }: Omit<RateClaim, 'fromUnits'>): Buffer {
  // The lengths keep the parts apart: no two claims have the same text.
  const lengths = `${partnerId.length} ${fromAssetId.length} ${toAssetId.length} ${flow.length}`
  const digest = hash('sha256', `${lengths} ${partnerId}${fromAssetId}${toAssetId}${flow}`, 'buffer')
  return digest.subarray(0, BINDING_BYTES)
}

/** Big-endian, without leading zero bytes; zero is one byte. */
function toBytes(units: bigint): Buffer {
  const digits = units.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

const toUnits = (token: Buffer, start: number, end: number): bigint => BigInt(`0x${token.toString('hex', start, end)}`)
