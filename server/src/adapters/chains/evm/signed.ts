import type { TransactionReply } from './replies.ts'

/**
 * Types signed by their sender: legacy, EIP-2930, -1559, -4844, -7702, and Celo's 0x7b to 0x7d. Rollups create the others;
 * their sender may be the alias of a contract on another chain, which cannot receive refunds.
 */
const signedTypes: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 0x7b, 0x7c, 0x7d])
/** Sender of Polygon's state sync transactions, which have type 0. */
const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000'

export function isSigned(tx: TransactionReply): boolean {
  return signedTypes.has(tx.type) && tx.from !== ZERO_ADDRESS
}
