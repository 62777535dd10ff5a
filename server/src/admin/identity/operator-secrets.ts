import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts secrets of operators for the database: AES-256-GCM under keys derived from the peppers, the newest first. */
export type OperatorSecrets = Readonly<{
  seal(secret: Uint8Array): Buffer
  /** Null if no pepper fits, or the text was changed. */
  open(sealed: Uint8Array): Buffer | null
}>

export function createOperatorSecrets(peppers: readonly Uint8Array[]): OperatorSecrets {
  const keys = peppers.map((pepper) => Buffer.from(hkdfSync('sha256', pepper, '', 'operator secrets', 32)))
  return {
    seal(secret) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', keys[0] ?? '', nonce)
      return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()])
    },
    open(sealed) {
      for (const key of keys) {
        try {
          const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES))
          decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
          return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
        } catch {
          // Encrypted under another pepper.
        }
      }
      return null
    },
  }
}
