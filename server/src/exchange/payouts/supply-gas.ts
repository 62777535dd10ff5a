import { nativeId } from '../../core/domain/asset.ts'
import { timeOrderedId } from '../../lib/id.ts'
import type { Chain } from '../ports/chain.ts'
import type { Store } from '../ports/store/store.ts'
import { readFirstNonce } from './first-nonce.ts'
import { noExchange } from './payment.ts'

/** Gas supplies of an address in a day: the first, and more if the fee rose since. */
const SUPPLIES_MAX = 3

/** Supplies what an address lacks to pay for its own sweep, one supply at a time. */
export async function supplyGas(store: Store, chain: Chain, address: string, units: bigint): Promise<void> {
  const network = chain.network.id
  const firstNonce = await readFirstNonce(store, chain, address)
  await store.transaction(async (tx) => {
    // Locks the lane of the address, so that a concurrent run finds the supply that this one plans.
    await tx.transactions.lockLane(network, address, firstNonce)
    const supplies = await tx.wallets.countGasSupplies(network, address)
    if (supplies.pending > 0 || supplies.total >= SUPPLIES_MAX) return
    await tx.payouts.insert({
      id: timeOrderedId(),
      ...noExchange,
      purpose: 'gas',
      network,
      assetId: nativeId(chain.network),
      from: 'hot',
      address,
      units,
    })
    await tx.wake([{ kind: 'dispatch', id: network }])
  })
}
