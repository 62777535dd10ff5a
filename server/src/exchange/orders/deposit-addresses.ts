import { AppError } from '../../core/domain/errors.ts'
import { present } from '../../lib/assert.ts'
import type { Chain, Destination } from '../ports/chain.ts'

/** Indices taken from the database at once. What a process leaves unused when it stops stays unused: they are many. */
const BLOCK = 256
/** With so few left the next block is asked for, so that its keys are derived before they are needed. */
const LEAST = 128

type Stock = { free: number[]; refilling: Promise<void> | null }

/**
 * Gives out fresh deposit destinations: indices come in blocks, so that a create needs no round trip for one, and their
 * keys are derived ahead. Each network has blocks of its own, because keys of successive indices are derived together.
 */
export function createDepositAddresses(
  chains: ReadonlyMap<string, Chain>,
  takeKeyIndexes: (count: number) => Promise<readonly number[]>,
) {
  const stocks = new Map<string, Stock>()

  async function refill(stock: Stock, { addresses }: Chain): Promise<void> {
    stock.refilling ??= takeKeyIndexes(BLOCK).then(
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

  return async function takeDeposit(network: string): Promise<{ destination: Destination; keyIndex: number }> {
    const chain = chains.get(network)
    if (!chain) throw new AppError('NETWORK_UNAVAILABLE', `the network ${network} cannot be reached`)
    const stock = stocks.get(network) ?? { free: [], refilling: null }
    stocks.set(network, stock)
    while (stock.free.length === 0) await refill(stock, chain)
    const keyIndex = present(stock.free.shift(), 'a free index')
    // Whoever needs it and does not get it hears why.
    if (stock.free.length < LEAST) refill(stock, chain).catch(() => undefined)
    return { destination: chain.addresses.deposit(keyIndex), keyIndex }
  }
}
