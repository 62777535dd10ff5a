import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { BroadcastResult } from '../../../exchange/ports/chain.ts'
import { assert } from '../../../lib/assert.ts'
import type { BestChain } from './best-chain.ts'
import { inflatedBlock, type MemoryBlock, type PoolTransaction, type Receipt } from './block.ts'
import { branchOf, followBest, type View } from './node-view.ts'
import type { Pool } from './pool.ts'
import { hashOf, readTransaction } from './transaction.ts'

/** What a node does wrong; what is not named works. */
export type NodeFaults = Readonly<{
  /** Blocks that it is behind the best chain. */
  lag?: number
  /** It stays on the blocks that it has now, and goes on with empty ones of its own as often as the others mine. */
  forks?: boolean
  /** Transactions that it knows nothing of when it is asked for them. Its blocks hold them. */
  hides?: (txHash: string) => boolean
  /** It lies: every transfer was this many times as large. */
  inflates?: bigint
  /** It answers nothing. */
  silent?: boolean
  /** What becomes of bytes: refused; lost without an answer; taken without one; taken and not passed on; taken and forgotten. */
  offers?: 'refused' | 'lost' | 'unanswered' | 'withheld' | 'forgotten'
}>

/** What a node says of a transaction: where it lies on its chain, or that it waits for a block. */
export type Found = Readonly<{ block: MemoryBlock; receipt: Receipt }> | 'waiting'

/** One node as it can be asked. Whatever it is asked while it is silent throws NETWORK_UNAVAILABLE. */
export type MemoryNode = Readonly<{
  name: string
  head(): BlockRef
  block(height: number): MemoryBlock | null
  find(txHash: string): Found | null
  balance(address: string, contract: string | null): bigint
  /** The next nonce of an account at the node's head. */
  nonce(address: string): number
  baseFee(): bigint
  submit(raw: string): BroadcastResult
  /** What came into the pool since a mark, and the next mark. */
  arrivals(mark: number): { transactions: readonly PoolTransaction[]; mark: number }
  /** The world mined a block. */
  follow(): void
  setFaults(faults: NodeFaults): void
}>

export type NodeParts = Readonly<{ name: string; network: Network; best: BestChain; pool: Pool }>

export function createMemoryNode({ name, network, best, pool }: NodeParts): MemoryNode {
  let faults: NodeFaults = {}
  let view: View = followBest(best, 0)
  /** Bytes that it took and told nobody, by hash. */
  let withheld = new Map<string, string>()

  /** The view, unless the node answers nothing. */
  function ask(): View {
    if (faults.silent) throw silence(network, name)
    return view
  }

  function told(block: MemoryBlock | null): MemoryBlock | null {
    return block && faults.inflates !== undefined ? inflatedBlock(block, faults.inflates) : block
  }

  function find(txHash: string): Found | null {
    const seen = ask()
    if (faults.hides?.(txHash)) return null
    const block = told(seen.including(txHash))
    const receipt = block?.receipts.get(txHash)
    if (block && receipt) return { block, receipt }
    // What the best chain has and this node's does not is still in this node's pool.
    return pool.has(txHash) || withheld.has(txHash) || best.including(txHash) ? 'waiting' : null
  }

  function submit(raw: string): BroadcastResult {
    ask()
    const { offers } = faults
    if (offers === 'refused') return { kind: 'rejected', reason: `${name} refuses` }
    if (offers === 'lost') throw silence(network, name)
    if (offers === 'withheld' || offers === 'forgotten') {
      if (readTransaction(raw) === null || find(hashOf(raw)) !== null) return pool.submit(raw)
      if (offers === 'withheld') withheld.set(hashOf(raw), raw)
      return { kind: 'accepted' }
    }
    const result = pool.submit(raw)
    if (offers === 'unanswered') throw silence(network, name)
    return result
  }

  function setFaults(next: NodeFaults): void {
    const lag = next.lag ?? 0
    assert(lag >= 0 && !(lag > 0 && next.forks), 'a node lags behind the others or is on a fork')
    if (!next.forks) view = followBest(best, lag)
    else if (!faults.forks) view = branchOf(best, name)
    faults = next
    if (next.offers === 'withheld') return
    for (const raw of withheld.values()) pool.submit(raw)
    withheld = new Map()
  }

  return Object.freeze({
    name,
    head: () => refOf(ask().top()),
    block: (height: number) => told(ask().block(height)),
    find,
    balance: (address: string, contract: string | null) => ask().balance(address, contract),
    nonce: (address: string) => ask().nonce(address),
    baseFee: () => ask().baseFee(),
    submit,
    arrivals(mark: number) {
      ask()
      const fresh = pool.since(mark)
      return { mark: fresh.mark, transactions: fresh.transactions.filter(({ hash }) => !faults.hides?.(hash)) }
    },
    follow: () => view.grow(),
    setFaults,
  })
}

const refOf = ({ height, hash }: BlockRef): BlockRef => ({ height, hash })

function silence(network: Network, name: string): AppError {
  const cause = new Error(`node ${name} gave no answer`)
  return new AppError('NETWORK_UNAVAILABLE', `${network.name} cannot be reached now`, { cause })
}
