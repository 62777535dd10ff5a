import { readAccounts, type SolanaNode } from './nodes.ts'
import { token2022Program, wrappedSol } from './program-address.ts'

/** Lamports of a byte. Every account counts 128 bytes more than its data. */
const BYTE_LAMPORTS = 6_960n
const ACCOUNT_BYTES = 128

/** The least balance of an account with so many bytes of data. A transaction that leaves less, and more than nothing, fails. */
export const rentExemption = (bytes: number): bigint => BigInt(ACCOUNT_BYTES + bytes) * BYTE_LAMPORTS

/** Of a token account: 165 bytes, and in the second program 182 with the extensions of a fee's mint. */
export const rentOfToken = (program: string): bigint => rentExemption(program === token2022Program ? 182 : 165)

/** Token accounts are created with their least balance by the user; only a payment of lamports may leave less. */
export async function isPayable(node: SolanaNode, address: string, token: string, units: bigint): Promise<boolean> {
  if (token !== wrappedSol) return true
  const [account] = (await readAccounts(node, [address])).accounts
  return (account?.lamports ?? 0n) + units >= rentExemption(account?.data.length ?? 0)
}
