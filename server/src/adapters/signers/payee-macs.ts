import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Payee, PayeeMacs } from '../../exchange/ports/payee-macs.ts'

/** Separates this key from other keys that are derived from the pepper. */
const PURPOSE = 'swapyard payees 1'

/**
 * Codes under a key that is derived from the pepper, which API, workers and the operator's commands share. Codes under the
 * previous pepper stay valid, so that it can be changed while exchanges are open.
 */
export function createPayeeMacs(pepper: Uint8Array, previousPepper: Uint8Array | null = null): PayeeMacs {
  const keys = [pepper, ...(previousPepper === null ? [] : [previousPepper])].map((secret) =>
    createSecretKey(new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(0), PURPOSE, 32))),
  )
  const [key] = keys
  if (key === undefined) throw new Error('codes of payees need a pepper')
  const macBy = (secret: typeof key, { kind, fields }: Payee): Buffer =>
    createHmac('sha256', secret)
      .update(JSON.stringify([kind, ...fields]))
      .digest()
  return {
    of: (payee) => macBy(key, payee).toString('base64url'),
    isValid: (payee, mac) => {
      const given = Buffer.from(mac ?? '', 'base64url')
      return keys.some((secret) => {
        const expected = macBy(secret, payee)
        return given.length === expected.length && timingSafeEqual(given, expected)
      })
    },
  }
}
