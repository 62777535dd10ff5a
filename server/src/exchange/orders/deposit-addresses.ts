import { AppError } from '../../core/domain/errors.ts'
import { present } from '../../lib/assert.ts'
import type { Chain, Destination } from '../ports/chain.ts'

/** Derivation indexes per database call. Indexes that a stopping process leaves unused stay unused. */
const BLOCK_SIZE = 256
/** Below this many free indexes, the next block is requested, so that its keys are derived before they are needed. */
const REFILL_BELOW = 128

type Stock = { free: number[]; refilling: Promise<void> | null }

/**
 * Allocates deposit destinations. Indexes are reserved in blocks, so that a create needs no round trip, and their keys are
 * derived ahead. Each network has its own blocks, because keys of successive indexes are derived together.
 */
export function createDepositAddresses(
  chains: ReadonlyMap<string, Chain>,
  reserveKeyIndexes: (count: number) => Promise<readonly number[]>,
) {
  const stocks = new Map<string, Stock>()

  async function refill(stock: Stock, { addresses }: Chain): Promise<void> {
    stock.refilling ??= reserveKeyIndexes(BLOCK_SIZE).then(
      (indexes) => {
        addresses.precompute?.(indexes)
        stock.free = [...stock.free, ...indexes]
        stock.refilling = null
      },
      (error: unknown) => {
        stock.refilling = null
        throw error
      },
    )
    await stock.refilling
  }

  return async function allocateDeposit(network: string): Promise<{ destination: Destination; keyIndex: number }> {
    const chain = chains.get(network)
    if (!chain) throw new AppError('NETWORK_UNAVAILABLE', `the network ${network} does not answer: retry later`)
    const stock = stocks.get(network) ?? { free: [], refilling: null }
    stocks.set(network, stock)
    while (stock.free.length === 0) await refill(stock, chain)
    const keyIndex = present(stock.free.shift(), 'a free index')
    // A failure is reported by the next call that finds no free index.
    if (stock.free.length < REFILL_BELOW) refill(stock, chain).catch(() => undefined)
    return { destination: chain.addresses.deposit(keyIndex), keyIndex }
  }
}
