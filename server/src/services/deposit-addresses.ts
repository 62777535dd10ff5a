import { AppError } from '../domain/errors.ts'
import { present } from '../lib/assert.ts'
import type { Chain, Destination } from '../ports/chain.ts'

/** Indices taken from the database at once. What a process leaves unused when it stops stays unused: they are many. */
const BLOCK = 256

/** Gives out fresh deposit destinations: indices come in blocks, so that a create needs no round trip for one. */
export function createDepositAddresses(
  chains: ReadonlyMap<string, Chain>,
  takeKeyIndexes: (count: number) => Promise<readonly number[]>,
) {
  let free: number[] = []
  let refilling: Promise<void> | null = null

  async function refill(): Promise<void> {
    refilling ??= takeKeyIndexes(BLOCK).then(
      (indexes) => {
        free = [...free, ...indexes]
        refilling = null
      },
      (error: unknown) => {
        refilling = null
        throw error
      },
    )
    await refilling
  }

  return async function takeDeposit(network: string): Promise<{ destination: Destination; keyIndex: number }> {
    const chain = chains.get(network)
    if (!chain) throw new AppError('NETWORK_UNAVAILABLE', `the network ${network} cannot be reached`)
    while (free.length === 0) await refill()
    const keyIndex = present(free.shift(), 'a free index')
    return { destination: chain.addresses.deposit(keyIndex), keyIndex }
  }
}
