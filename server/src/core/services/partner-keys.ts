import { createHmac, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { formatApiKey, type KeyKind } from '../domain/api-key.ts'

/** Creates a key, or a new secret of an existing one. The text is shown once and its HMAC is stored. 256 random bits need no slow hash. */
export function makeApiKey(
  kind: KeyKind,
  pepper: Uint8Array,
  ofKey?: string,
  prefix: 'sy' | 'pk' = 'sy',
): { keyId: string; text: string; hmac: Buffer } {
  const { keyId, secret, text } = formatApiKey(kind, ofKey ?? randomBytes(6), randomBytes(32), crc32, prefix)
  return { keyId, text, hmac: hashSecret(secret, pepper) }
}

export function hashSecret(secret: string, pepper: Uint8Array): Buffer {
  return createHmac('sha256', pepper).update(`api key ${secret}`).digest()
}
