/*
 * `sy_live_<8 id>_<43 secret>_<6 checksum>`, base62. The id finds the key; the secret (256 random bits) proves it; the
 * checksum (CRC-32 of everything before it) detects a typo without a database query. Pattern for secret scanners:
 * sy_(live|test)_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}
 * A publishable key begins with `pk_`: pages of browsers contain it, so its secret is none.
 */
const PATTERN = /^(sy|pk)_(live|test)_([0-9A-Za-z]{8})_([0-9A-Za-z]{43})_([0-9A-Za-z]{6})$/
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export type KeyKind = 'live' | 'test'
export type ApiKey = Readonly<{ kind: KeyKind; keyId: string; secret: string; isPublishable?: boolean }>

/** The parts of a key, or null if its form or checksum is wrong. */
export function parseApiKey(text: string, crc32: (text: string) => number): ApiKey | null {
  const match = PATTERN.exec(text)
  if (!match) return null
  const [, prefix, kind, keyId = '', secret = '', checksum] = match
  if (checksumOf(text.slice(0, -7), crc32) !== checksum) return null
  return { kind: kind === 'live' ? 'live' : 'test', keyId, secret, isPublishable: prefix === 'pk' }
}

/** The text of a key. `id` is an existing id or 6 random bytes; `random` is 32 random bytes for the secret. */
export function formatApiKey(
  kind: KeyKind,
  id: string | Uint8Array,
  random: Uint8Array,
  crc32: (text: string) => number,
  prefix: 'sy' | 'pk' = 'sy',
): { keyId: string; secret: string; text: string } {
  const keyId = typeof id === 'string' ? id : toBase62(id, 8)
  const secret = toBase62(random, 43)
  const head = `${prefix}_${kind}_${keyId}_${secret}`
  return { keyId, secret, text: `${head}_${checksumOf(head, crc32)}` }
}

const checksumOf = (text: string, crc32: (text: string) => number): string => encode(BigInt(crc32(text)), 6)

/** The last `length` digits. 43 base-62 digits hold 256 bits. */
function toBase62(bytes: Uint8Array, length: number): string {
  let value = 0n
  for (const byte of bytes) value = (value << 8n) | BigInt(byte)
  return encode(value, length)
}

function encode(value: bigint, length: number): string {
  let rest = value
  let text = ''
  for (let n = 0; n < length; n++) {
    text = (ALPHABET[Number(rest % 62n)] ?? '0') + text
    rest /= 62n
  }
  return text
}
