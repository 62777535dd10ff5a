import type { Chain } from '../ports/chain.ts'
import type { Stores } from '../ports/store/store.ts'

/**
 * The nonce at which an address begins that has signed nothing in this database: a keystore may have been used with another one.
 * What is not mined does not count: a restored database may have lost it, and a transaction with its nonce is then invalidated.
 */
export async function readFirstNonce(
  { transactions }: Pick<Stores, 'transactions'>,
  { network, reader }: Chain,
  wallet: string,
): Promise<number> {
  if (reader.minedNonce === undefined || (await transactions.hasLane(network.id, wallet))) return 0
  return reader.minedNonce(wallet)
}
