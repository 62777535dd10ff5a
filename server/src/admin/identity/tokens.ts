import { createHash, createHmac, randomBytes } from 'node:crypto'

/** Tokens of sessions and invitations: 256 random bits. Only their SHA-256 is stored. */
export const createToken = (): string => randomBytes(32).toString('base64url')

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/** The token that a page sends with each POST. It follows from the session's own, which a page cannot read. */
export const csrfTokenOf = (token: string): string => createHmac('sha256', token).update('csrf').digest('base64url')
