import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import type { WebhookSecrets } from '../../events/ports/partner-http.ts'
import { present } from '../../lib/assert.ts'

/** Separates this key from other keys that are derived from the pepper. */
const PURPOSE = 'swapyard webhook secrets 1'
const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * AES-256-GCM with a key that is derived from the pepper; the owner is authenticated, so that a sealed secret cannot be moved
 * to another row. What was sealed under the previous pepper can still be opened.
 */
export function createWebhookSecrets(pepper: Uint8Array, previousPepper: Uint8Array | null = null): WebhookSecrets {
  const keys = [pepper, ...(previousPepper === null ? [] : [previousPepper])].map((secret) =>
    createSecretKey(new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(0), PURPOSE, 32))),
  )
  const key = present(keys[0], 'the key of sealed secrets')
  return {
    seal: (owner, secret) => {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(owner))
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), text])
    },
    open: (owner, sealed) => {
      for (const one of keys) {
        const secret = tryOpen(one, owner, sealed)
        if (secret !== null) return secret
      }
      throw new Error('a sealed secret cannot be opened: it was sealed under another pepper')
    },
  }
}

function tryOpen(key: KeyObject, owner: string, sealed: Buffer): string | null {
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(owner)).setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}
