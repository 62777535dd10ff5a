import { createHmac, hkdfSync } from 'node:crypto'

/** What the key is for: the same seed gives other keys for other purposes. */
const PURPOSE = 'swapyard payout ids'

/** Ids by a key that follows from the seed, so that whoever restores the keystore from its words has it again. */
export function createPayoutIds(seed: Uint8Array): (text: string) => string {
  const key = new Uint8Array(hkdfSync('sha256', seed, new Uint8Array(0), PURPOSE, 32))
  return (text) => toUuid(createHmac('sha256', key).update(text).digest('hex'))
}

/** RFC 9562 version 8: an id of our own making. */
function toUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
