import { createHash, randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'

/** Codes of authenticator apps (RFC 6238: SHA-1, six digits, 30 seconds), and recovery codes. */
const PERIOD_SECONDS = 30
const SECRET_BYTES = 20
/** Steps by which the clock of a phone may differ. */
const WINDOW = 1
const RECOVERY_CODES = 10

const totpOf = (secret: Uint8Array, label = ''): TOTP =>
  new TOTP({ issuer: 'Swapyard', label, period: PERIOD_SECONDS, secret: new Secret({ buffer: toBuffer(secret) }) })

const toBuffer = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer as ArrayBuffer

export const createTotpSecret = (): Buffer => randomBytes(SECRET_BYTES)

export const totpUri = (secret: Uint8Array, login: string): string => totpOf(secret, login).toString()

/** The time step of the code; null if it is wrong. */
export function stepOfCode(secret: Uint8Array, code: string, nowMs: number): number | null {
  const digits = code.replace(/\s/g, '')
  if (!/^\d{6}$/.test(digits)) return null
  const delta = totpOf(secret).validate({ token: digits, timestamp: nowMs, window: WINDOW })
  return delta === null ? null : Math.floor(nowMs / 1000 / PERIOD_SECONDS) + delta
}

/** 100 random bits each, in base32 without ambiguous characters. */
export function createRecoveryCodes(): readonly string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const text = new Secret({ buffer: toBuffer(randomBytes(13)) }).base32.slice(0, 20)
    return (text.match(/.{5}/g) ?? []).join('-')
  })
}

export const hashRecoveryCode = (code: string): Buffer =>
  createHash('sha256')
    .update(code.toUpperCase().replace(/[^A-Z2-7]/g, ''))
    .digest()
