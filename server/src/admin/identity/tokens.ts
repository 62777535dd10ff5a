import { createHash, createHmac, randomBytes } from 'node:crypto'

/** Tokens of sessions: 256 random bits. Only their SHA-256 is stored. */
export const createToken = (): string => randomBytes(32).toString('base64url')

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/** The token that a page sends with each POST. It follows from the session's own, which a page cannot read. */
export const csrfTokenOf = (token: string): string => createHmac('sha256', token).update('csrf').digest('base64url')

/** Half of the token of an invitation: 128 random bits. In hex, so that it never looks like an option of a command. */
export const createHalf = (): string => randomBytes(16).toString('hex')

/** The token of an invitation as one text. */
export const joinHalves = (one: string, other: string): string => `${one}.${other}`

/** Both halves, in any order and with anything between them; null if there are not two different ones. */
export function splitHalves(token: string): readonly [string, string] | null {
  const [, one = '', other = ''] =
    /^([0-9a-f]{32})([0-9a-f]{32})$/.exec(token.toLowerCase().replace(/[^0-9a-z]/g, '')) ?? []
  return one === other ? null : [one, other]
}

/** From the hashes of both halves, because the first one is not kept until the second one exists. */
export const hashOfHalves = (one: Buffer, other: Buffer): Buffer =>
  createHash('sha256')
    .update(Buffer.concat([one, other].toSorted(Buffer.compare)))
    .digest()
