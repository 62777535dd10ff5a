import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto'

/** Tokens of tracking pages. Every process with the same pepper makes and verifies them without a database query. */
export type TrackingTokens = Readonly<{
  /** The token of an exchange: the same each time, until the pepper changes. */
  of(id: string): string
  /** The id of the exchange; null if we did not issue the token. */
  read(token: string): string | null
}>

/*
 * The token is base64url of: the exchange's id (16 bytes) · MAC (16). The MAC is HMAC-SHA256, truncated to 128 bits
 * (RFC 2104 §5), so a token cannot be guessed from an id.
 */
const ID_BYTES = 16
const MAC_BYTES = 16
const BASE64URL = /^[A-Za-z0-9_-]{43}$/
const PURPOSE = 'swapyard tracking 1'

/** Tokens under the previous pepper stay valid, so that links survive one change of the pepper. */
export function createTrackingTokens(pepper: Uint8Array, previousPepper: Uint8Array | null = null): TrackingTokens {
  const toKey = (secret: Uint8Array) =>
    createSecretKey(new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(0), PURPOSE, 32)))
  const key = toKey(pepper)
  const keys = previousPepper === null ? [key] : [key, toKey(previousPepper)]
  const macOf = (secret: typeof key, id: Uint8Array) =>
    createHmac('sha256', secret).update(id).digest().subarray(0, MAC_BYTES)
  return {
    of: (text) => {
      const id = Buffer.from(text.replaceAll('-', ''), 'hex')
      return Buffer.concat([id, macOf(key, id)]).toString('base64url')
    },
    read: (text) => {
      if (!BASE64URL.test(text)) return null
      const token = Buffer.from(text, 'base64url')
      // Each token has one valid encoding.
      if (token.toString('base64url') !== text) return null
      const id = token.subarray(0, ID_BYTES)
      const isOurs = keys.some((secret) => timingSafeEqual(token.subarray(ID_BYTES), macOf(secret, id)))
      return isOurs ? toUuid(id.toString('hex')) : null
    },
  }
}

const toUuid = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
