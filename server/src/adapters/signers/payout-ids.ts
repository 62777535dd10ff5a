import { createHmac, hkdfSync } from 'node:crypto'

/** Separates this key from other keys that are derived from the same seed. */
const PURPOSE = 'swapyard payout ids'

/** Makes ids with a key that is derived from the seed, so a keystore restored from its words makes the same ids. */
export function createPayoutIds(seed: Uint8Array): (text: string) => string {
  const key = new Uint8Array(hkdfSync('sha256', seed, new Uint8Array(0), PURPOSE, 32))
  return (text) => toUuid(createHmac('sha256', key).update(text).digest('hex'))
}

/** UUID version 8 of RFC 9562, for vendor-specific ids. */
function toUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
