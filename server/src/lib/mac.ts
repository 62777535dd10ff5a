import { hash } from 'node:crypto'
import { assert, present } from './assert.ts'

/** Block and digest in bytes (FIPS 180-4). */
const sizes = { sha256: { block: 64, digest: 32 }, sha512: { block: 128, digest: 64 } } as const

/** `of` = HMAC (RFC 2104 §2) of the first `length` bytes of `message`, as text of one character a byte. */
export type Mac = Readonly<{ message: Buffer; of(length: number): string }>

/**
 * By two one-shot digests: a tenth of the time that `createHmac` takes. Messages are written into a buffer that stays, and
 * digests passed as text, because a Buffer costs more than its hash. `room` = bytes of the longest message; what the caller
 * writes behind it, up to `behind`, is not hashed. A test holds it to `createHmac` and to RFC 4231.
 */
export function createMac(algorithm: keyof typeof sizes, key: Uint8Array, room: number, behind = 0): Mac {
  const { block, digest } = sizes[algorithm]
  assert(key.length <= block, 'a key is no longer than a block')
  const inner = Buffer.alloc(block + room + behind, 0x36)
  const outer = Buffer.alloc(block + digest, 0x5c)
  for (const [index, byte] of key.entries()) {
    inner[index] = 0x36 ^ byte
    outer[index] = 0x5c ^ byte
  }
  const hashed = Array.from({ length: room + 1 }, (_, length) => inner.subarray(0, block + length))
  return {
    message: inner.subarray(block),
    of: (length) => {
      outer.write(hash(algorithm, present(hashed[length], 'a message of that length'), 'binary'), block, 'latin1')
      return hash(algorithm, outer, 'binary')
    },
  }
}
