import { readAccounts, type SolanaNode } from './nodes.ts'
import { associatedToken, token2022Program, wrappedSol } from './program-address.ts'

/** Lamports of a byte. Every account counts 128 bytes more than its data. */
const BYTE_LAMPORTS = 6_960n
const ACCOUNT_BYTES = 128

/** The least balance of an account with so many bytes of data. A transaction that leaves less, and more than nothing, fails. */
export const rentExemption = (bytes: number): bigint => BigInt(ACCOUNT_BYTES + bytes) * BYTE_LAMPORTS

/** Of a token account: 165 bytes, and in the second program 182 with the extensions of a fee's mint. */
export const rentOfToken = (program: string): bigint => rentExemption(program === token2022Program ? 182 : 165)

type Payment = Readonly<{ token: string; units: bigint; opensAccount: boolean }>

/**
 * A payment of lamports must leave the least balance. One of a token needs the associated account: opening it costs the user its rent, and
 * whose account it is can close it, take the rent, and let the next user open it again.
 */
export async function isPayable(
  node: SolanaNode,
  address: string,
  { token, units, opensAccount }: Payment,
): Promise<boolean> {
  if (token !== wrappedSol) return opensAccount || hasAccount(node, address, token)
  const [account] = (await readAccounts(node, [address])).accounts
  return (account?.lamports ?? 0n) + units >= rentExemption(account?.data.length ?? 0)
}

async function hasAccount(node: SolanaNode, address: string, token: string): Promise<boolean> {
  const [mint] = (await readAccounts(node, [token])).accounts
  if (!mint) return false
  const [account] = (await readAccounts(node, [associatedToken(address, token, mint.owner)])).accounts
  // Lamports that somebody sent there are no account of the token.
  return account?.owner === mint.owner
}
