import { hash, hkdfSync, randomFillSync, timingSafeEqual } from 'node:crypto'
import { toSignificant } from '../../core/domain/amount.ts'
import { AppError } from '../../core/domain/errors.ts'
import { createByFour } from '../../lib/by-four.ts'
import { createMac, type Mac } from '../../lib/mac.ts'
import type { Flow } from '../domain/exchange.ts'
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
const MESSAGE_BYTES_MAX = AMOUNTS_AT + 1 + 2 * AMOUNT_BYTES_MAX
const BYTES_MAX = MESSAGE_BYTES_MAX + MAC_BYTES
const BASE64URL = /^[A-Za-z0-9_-]{1,256}$/
const PURPOSE = 'swapyard rate id 3'
/** Random bytes are drawn for this many nonces at once: one call each costs more than the MAC. */
const NONCES_DRAWN = 2_048
/** Partners × directions × flows whose digests are kept. */
const BINDINGS_MAX = 20_000

export function createRateIds(pepper: Uint8Array): RateIds {
  const key = new Uint8Array(hkdfSync('sha256', pepper, new Uint8Array(0), PURPOSE, 32))
  const mac = createMac('sha256', key, MESSAGE_BYTES_MAX, MAC_BYTES)
  const drawNonce = createNonces()
  const bindingOf = createBindings()
  return {
    // Written where the MAC reads it, and read from there: every buffer costs more than a hash.
    issue: (offer) => {
      const token = mac.message
      const fromUnits = toHex(claimed(offer))
      const amounts = fromUnits + toHex(offer.toUnits)
      const macAt = AMOUNTS_AT + 1 + amounts.length / 2
      token[0] = VERSION
      token.writeUIntBE(offer.expiresAt.getTime(), 1, 6)
      drawNonce(token, NONCE_AT)
      bindingOf(offer).copy(token, BINDING_AT)
      token[AMOUNTS_AT] = fromUnits.length / 2
      token.write(amounts, AMOUNTS_AT + 1, 'hex')
      token.write(mac.of(macAt), macAt, MAC_BYTES, 'latin1') // The rest is cut off.
      return token.toString('base64url', 0, macAt + MAC_BYTES)
    },
    read: (text, claim) => {
      const token = decode(text)
      if (token === null || !isEqual(token.subarray(-MAC_BYTES), macOf(mac, token))) {
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

/** The amount as quotes state it, to 15 digits: who asked with more may create with either. */
const claimed = ({ fromUnits }: Pick<RateClaim, 'fromUnits'>): bigint => toSignificant(fromUnits, 'down')

/** Digests of partner, pair and flow, each made once. */
function createBindings(): (claim: Omit<RateClaim, 'fromUnits'>) => Buffer {
  const known = createByFour<string, string, string, Flow, Buffer>(BINDINGS_MAX)
  return ({ partnerId, fromAssetId, toAssetId, flow }) => {
    const kept = known.get(partnerId, fromAssetId, toAssetId, flow)
    if (kept !== undefined) return kept
    // The lengths keep the parts apart: no two claims have the same text.
    const lengths = `${partnerId.length} ${fromAssetId.length} ${toAssetId.length} ${flow.length}`
    const digest = hash('sha256', `${lengths} ${partnerId}${fromAssetId}${toAssetId}${flow}`, 'buffer')
    const binding = digest.subarray(0, BINDING_BYTES)
    known.set(partnerId, fromAssetId, toAssetId, flow, binding)
    return binding
  }
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

const toUnits = (token: Buffer, start: number, end: number): bigint => BigInt(`0x${token.toString('hex', start, end)}`)

/** Writes a fresh nonce at an offset. */
function createNonces(): (target: Buffer, offset: number) => void {
  const drawn = Buffer.alloc(NONCE_BYTES * NONCES_DRAWN)
  let used = drawn.length
  return (target, offset) => {
    if (used === drawn.length) {
      randomFillSync(drawn)
      used = 0
    }
    drawn.copy(target, offset, used, used + NONCE_BYTES)
    used += NONCE_BYTES
  }
}
