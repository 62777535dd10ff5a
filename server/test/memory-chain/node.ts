import { AppError } from '../../src/core/domain/errors.ts'
import type { Network } from '../../src/core/domain/network.ts'
import type { BlockRef } from '../../src/core/ports/chain.ts'
import type { BroadcastResult } from '../../src/exchange/ports/chain.ts'
import { assert } from '../../src/lib/assert.ts'
import type { BestChain } from './best-chain.ts'
import { inflateBlock, type MemoryBlock, type PoolTransaction, type Receipt } from './block.ts'
import { followBest, forkFrom, type View } from './node-view.ts'
import type { Pool } from './pool.ts'
import { hashOf, readTransaction } from './transaction.ts'

/** The faults of a node; an absent field works correctly. */
export type NodeFaults = Readonly<{
  /** Blocks behind the best chain. */
  lag?: number
  /** Keeps its current blocks and adds an empty block of its own whenever the others mine. */
  isForked?: boolean
  /** Transactions that lookups by hash do not find, although its blocks contain them. */
  isHidden?: (txHash: string) => boolean
  /** Reports the units of every transfer multiplied by this. */
  inflationFactor?: bigint
  /** Answers no call. */
  isSilent?: boolean
  /**
   * A broadcast: `refused`; `lost` (no answer, not stored); `unanswered` (no answer, stored); `withheld` (accepted, not
   * relayed until the fault ends); `forgotten` (accepted, not stored).
   */
  broadcast?: 'refused' | 'lost' | 'unanswered' | 'withheld' | 'forgotten'
}>

/** A node's answer about a transaction: its block and receipt, or that it is pending. */
export type TransactionStatus = Readonly<{ block: MemoryBlock; receipt: Receipt }> | 'waiting'

/** The calls of one node. Each throws NETWORK_UNAVAILABLE while the node is silent. */
export type MemoryNode = Readonly<{
  name: string
  head(): BlockRef
  block(height: number): MemoryBlock | null
  find(txHash: string): TransactionStatus | null
  balance(address: string, contract: string | null): bigint
  /** The next nonce of an account at the node's head. */
  nonce(address: string): number
  baseFee(): bigint
  submit(raw: string): BroadcastResult
  /** The pool's arrivals since a mark, and the next mark. */
  arrivals(mark: number): { transactions: readonly PoolTransaction[]; mark: number }
  onBlockMined(): void
  setFaults(faults: NodeFaults): void
}>

export type MemoryNodeOptions = Readonly<{ name: string; network: Network; best: BestChain; pool: Pool }>

export function createMemoryNode({ name, network, best, pool }: MemoryNodeOptions): MemoryNode {
  let faults: NodeFaults = {}
  let view: View = followBest(best, 0)
  /** Accepted transactions that the node has not relayed, by hash. */
  let withheld = new Map<string, string>()

  function requireView(): View {
    if (faults.isSilent) throw noAnswer(network, name)
    return view
  }

  function applyInflation(block: MemoryBlock | null): MemoryBlock | null {
    return block && faults.inflationFactor !== undefined ? inflateBlock(block, faults.inflationFactor) : block
  }

  function find(txHash: string): TransactionStatus | null {
    const current = requireView()
    if (faults.isHidden?.(txHash)) return null
    const block = applyInflation(current.blockOf(txHash))
    const receipt = block?.receipts.get(txHash)
    if (block && receipt) return { block, receipt }
    // A transaction in the best chain but not on this node's branch is pending here.
    return pool.has(txHash) || withheld.has(txHash) || best.blockOf(txHash) ? 'waiting' : null
  }

  function submit(raw: string): BroadcastResult {
    requireView()
    const { broadcast } = faults
    if (broadcast === 'refused') return { kind: 'rejected', reason: `${name} refuses` }
    if (broadcast === 'lost') throw noAnswer(network, name)
    if (broadcast === 'withheld' || broadcast === 'forgotten') {
      if (readTransaction(raw) === null || find(hashOf(raw)) !== null) return pool.submit(raw)
      if (broadcast === 'withheld') withheld.set(hashOf(raw), raw)
      return { kind: 'accepted' }
    }
    const result = pool.submit(raw)
    if (broadcast === 'unanswered') throw noAnswer(network, name)
    return result
  }

  function setFaults(next: NodeFaults): void {
    const lag = next.lag ?? 0
    assert(lag >= 0 && !(lag > 0 && next.isForked), 'a node lags behind the others or is on a fork')
    if (!next.isForked) view = followBest(best, lag)
    else if (!faults.isForked) view = forkFrom(best, name)
    faults = next
    if (next.broadcast === 'withheld') return
    for (const raw of withheld.values()) pool.submit(raw)
    withheld = new Map()
  }

  return Object.freeze({
    name,
    head: () => refOf(requireView().top()),
    block: (height: number) => applyInflation(requireView().block(height)),
    find,
    balance: (address: string, contract: string | null) => requireView().balance(address, contract),
    nonce: (address: string) => requireView().nonce(address),
    baseFee: () => requireView().baseFee(),
    submit,
    arrivals(mark: number) {
      requireView()
      const arrivals = pool.since(mark)
      return { mark: arrivals.mark, transactions: arrivals.transactions.filter(({ hash }) => !faults.isHidden?.(hash)) }
    },
    onBlockMined: () => view.extend(),
    setFaults,
  })
}

const refOf = ({ height, hash }: BlockRef): BlockRef => ({ height, hash })

function noAnswer(network: Network, name: string): AppError {
  const cause = new Error(`node ${name} gave no answer`)
  return new AppError('NETWORK_UNAVAILABLE', `${network.name} cannot be reached now`, { cause })
}
