import { base58 } from '@scure/base'
import type { Account } from './nodes.ts'
import { systemProgram, token2022Program, tokenProgram } from './program-address.ts'

/* Who can spend, close or change an account, by its data. */

export const tokenPrograms: ReadonlySet<string> = new Set([tokenProgram, token2022Program])

const TOKEN_ACCOUNT_BYTES = 165
const OWNER_AT = 32
const DELEGATE_AT = 72
const STATE_AT = 108
const INITIALIZED = 1
const CLOSER_AT = 129

/** Who can spend a token account; null for any other account. */
export function tokenOwnerOf({ owner, data }: Account): string | null {
  if (!tokenPrograms.has(owner) || data.length < TOKEN_ACCOUNT_BYTES) return null
  return base58.encode(data.subarray(OWNER_AT, OWNER_AT + 32))
}

/** Whether a token account is the user's alone: owned, not frozen, without a delegate, and without another one who may close it. */
export const isOnlyOf = (user: string, account: Account): boolean =>
  tokenOwnerOf(account) === user &&
  account.data.readUInt32LE(DELEGATE_AT) === 0 &&
  account.data[STATE_AT] === INITIALIZED &&
  account.data.readUInt32LE(CLOSER_AT) === 0

/**
 * Programs whose accounts state in their data who may withdraw from them or change them. The system program's accounts with data are
 * durable nonces. A program itself is an account of a loader without an authority in it.
 */
const authorityPrograms: ReadonlySet<string> = new Set([
  systemProgram,
  'Stake11111111111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
])

/** Whether the user's signature suffices to spend, withdraw or change an account: a token account, a stake, a vote, a nonce, a program. */
export const isControlledBy = (user: string, account: Account): boolean =>
  tokenOwnerOf(account) === user ||
  (authorityPrograms.has(account.owner) && account.data.includes(Buffer.from(base58.decode(user))))
