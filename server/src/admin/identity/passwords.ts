import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { refused } from '../../core/services/audit-note.ts'
import { createGuessQueue, type Guesser } from './guess-queue.ts'

const LENGTH_MIN = 12
const LENGTH_MAX = 200
const DISTINCT_MIN = 5

/**
 * scrypt of RFC 7914: 32 MiB and about a third of a second of one core for a guess (OWASP's N = 2^15, r = 8, p = 3). Node's
 * `crypto.argon2` is not in every version that the program runs on.
 */
export const COST: PasswordCost = { N: 2 ** 15, r: 8, p: 3 }
const BYTES = 32
const MEMORY_BYTES = 64 * 1024 * 1024
const PARALLEL_MAX = 16

export type PasswordCost = Readonly<{ N: number; r: number; p: number }>

const queue = createGuessQueue()

/** Holds a place in the queue of guesses during the work, before it is counted. */
export const admitGuess = queue.admit

const compute = (password: string, salt: Buffer, cost: PasswordCost): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const options = { ...cost, maxmem: MEMORY_BYTES }
    scrypt(password.normalize('NFKC'), salt, BYTES, options, (error, key) => (error ? reject(error) : resolve(key)))
  })

const OWN: Guesser = { isKnown: true, signal: null }

/** `scrypt$N$r$p$salt$key`. Of an operator with a session or an invitation. */
export async function hashPassword(password: string, cost: PasswordCost = COST): Promise<string> {
  const salt = randomBytes(16)
  const key = await admitGuess(OWN, () => queue.compute(OWN, () => compute(password, salt, cost)))
  const { N, r, p } = cost
  return ['scrypt', N, r, p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/**
 * With the cost that is stored with the hash, so that a later version can raise it for new passwords. Takes as long for an
 * operator without a password. Call it within `admitGuess`. Throws if the stored cost is missing, or above `MEMORY_BYTES` or
 * `PARALLEL_MAX`.
 */
export async function isPassword(password: string, stored: string | null, guesser: Guesser): Promise<boolean> {
  const [, N = '', r = '', p = '', salt = '', key = ''] = (stored ?? '').split('$')
  const cost: PasswordCost =
    stored === null ? COST : { N: Number.parseInt(N, 10), r: Number.parseInt(r, 10), p: Number.parseInt(p, 10) }
  if (!(cost.p <= PARALLEL_MAX)) throw new Error('the cost of a stored password is missing or too high')
  const derived = await queue.compute(guesser, () => compute(password, Buffer.from(salt, 'base64url'), cost))
  const expected = Buffer.from(key, 'base64url')
  return expected.length === derived.length && timingSafeEqual(expected, derived)
}

export function requireStrongPassword(password: string, login: string): void {
  const characters = [...password.normalize('NFKC')]
  if (characters.length < LENGTH_MIN || characters.length > LENGTH_MAX)
    throw refused(`a password has ${LENGTH_MIN} to ${LENGTH_MAX} characters`)
  if (new Set(characters).size < DISTINCT_MIN)
    throw refused(`a password has at least ${DISTINCT_MIN} different characters`)
  const [name = login] = login.split('@', 1)
  if (password.toLowerCase().includes(name.toLowerCase()) && name.length >= 3)
    throw refused('a password must not contain the login')
}
