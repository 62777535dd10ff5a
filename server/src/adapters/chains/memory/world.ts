import { hash } from 'node:crypto'
import type { Network } from '../../../core/domain/network.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import { assert, present } from '../../../lib/assert.ts'
import { readAddress } from '../shared/account-address.ts'
import { createBestChain } from './best-chain.ts'
import type { PoolTransaction } from './block.ts'
import { createMemoryNode, type MemoryNode, type NodeFaults } from './node.ts'
import { createPool } from './pool.ts'

/** What becomes of the transactions of the blocks that a reorg replaces. */
export type Kept = 'mined' | 'pending' | 'dropped'

export type OutsidePayment = Readonly<{
  address: string
  units: bigint
  contract?: string | null
  /** Less than `units` for tokens that take a fee in transit, or lie. */
  delivered?: bigint
}>

/** A chain that exists in this process alone, with its nodes. Nothing in it knows a clock or chance: it is its seed and its calls. */
export type MemoryWorld = Readonly<{
  network: Network
  nodes: ReadonlyMap<string, MemoryNode>
  head(): BlockRef
  /** Blocks that take what can be taken from the pool. */
  mine(count?: number): BlockRef
  /** Replaces the last `depth` blocks by `blocks` others (one more than they were). `keep` per transaction, or for all. */
  reorg(depth: number, options?: { keep?: Kept | ((txHash: string) => Kept); blocks?: number }): BlockRef
  /** A payment by somebody outside; several pays are one transaction. It waits in the pool for `mine`. */
  pay(payments: OutsidePayment | readonly OutsidePayment[], options?: { fails?: boolean }): string
  dropMempool(): void
  /** Wei per gas that a block asks for now: transactions that offer less wait. */
  setBaseFee(wei: bigint): void
  /** Replaces all faults of a node. Without any it catches up, and tells the others what it kept for itself. */
  setFaults(node: string, faults?: NodeFaults): void
  /** Units at the head of the best chain, whatever the nodes say. */
  balance(address: string, contract?: string | null): bigint
  /** Every address' incoming units on the best chain, by transaction: what tests count. */
  paidTo(address: string): readonly { txHash: string; contract: string | null; units: bigint }[]
}>

export type MemoryWorldOptions = Readonly<{
  network: Network
  seed?: string
  /** Names of the nodes that can be asked. */
  nodes?: readonly string[]
  /** Seconds since 1970 of the first block; each further one comes a block time later. */
  startTime?: number
}>

const BASE_FEE = 1_000_000_000n

export function createMemoryWorld({
  network,
  seed = 'swapyard',
  nodes: names = ['a', 'b'],
  startTime = 1_700_000_000,
}: MemoryWorldOptions): MemoryWorld {
  const chainId = present(network.evm, 'parameters of an account network').chainId
  const best = createBestChain({ seed, startTime, blockTimeMs: network.blockTimeMs, baseFee: BASE_FEE })
  const pool = createPool(best, chainId)
  const nodes = new Map(names.map((name) => [name, createMemoryNode({ name, network, best, pool })]))
  let payments = 0

  function mine(count = 1): BlockRef {
    for (let n = 0; n < count; n++) {
      const block = best.append(pool.ready())
      pool.forget(block)
      for (const node of nodes.values()) node.follow()
    }
    return best.head()
  }

  return Object.freeze({
    network,
    nodes,
    head: best.head,
    mine,
    reorg(depth, { keep = 'pending', blocks = depth + 1 } = {}) {
      assert(depth > 0 && depth <= best.head().height && blocks > 0, 'a reorg replaces blocks above the first')
      const fate = typeof keep === 'function' ? keep : () => keep
      const orphaned = best.takeBack(depth)
      const of = (transactions: readonly PoolTransaction[], kept: Kept) =>
        transactions.filter(({ hash: txHash }) => fate(txHash) === kept)
      pool.putBack(of(orphaned.flat(), 'pending'))
      for (let n = 0; n < Math.max(blocks, orphaned.length); n++) {
        const again = of(orphaned[n] ?? [], 'mined')
        pool.putBack(again)
        // What cannot run on the new branch, because what it needs was dropped, goes on waiting.
        if (n < blocks) pool.forget(best.append(pool.ready(new Set(again.map(({ hash: txHash }) => txHash)))))
      }
      return best.head()
    },
    pay(given, { fails = false } = {}) {
      const list = Array.isArray(given) ? (given as readonly OutsidePayment[]) : [given as OutsidePayment]
      const transaction = outside(`${seed} outside ${++payments}`, list, !fails)
      pool.add(transaction)
      return transaction.hash
    },
    dropMempool: pool.clear,
    setBaseFee: best.setBaseFee,
    setFaults: (name, faults = {}) => present(nodes.get(name), `node ${name}`).setFaults(faults),
    balance: (address, contract = null) => best.balance(address, contract),
    paidTo: (address) => best.paidTo(address),
  } satisfies MemoryWorld)
}

/** Whoever pays from outside is somebody new each time, and has what he pays. */
function outside(name: string, payments: readonly OutsidePayment[], ok: boolean): PoolTransaction {
  assert(payments.length > 0, 'a payment pays somebody')
  const txHash = `0x${hash('sha256', name, 'hex')}`
  const pays = payments.map(({ address, units, contract = null, delivered = units }) => {
    const canonical = present(readAddress(address), `the address ${address}`)
    assert(units >= 0n && delivered >= 0n, 'units are not negative')
    return {
      address: canonical,
      contract: contract === null ? null : present(readAddress(contract), 'a contract'),
      units,
      delivered,
    }
  })
  const sender = present(readAddress(`0x${hash('sha256', `${name} sender`, 'hex').slice(0, 40)}`), 'a sender')
  return { kind: 'outside', hash: txHash, sender, raw: null, pays, ok }
}
