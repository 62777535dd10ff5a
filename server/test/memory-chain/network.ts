import { hash } from 'node:crypto'
import { readAddress } from '../../src/adapters/chains/shared/account-address.ts'
import type { Network } from '../../src/core/domain/network.ts'
import type { BlockRef } from '../../src/core/ports/chain.ts'
import { assert, present } from '../../src/lib/assert.ts'
import { createBestChain } from './best-chain.ts'
import type { PoolTransaction } from './block.ts'
import { createMemoryNode, type MemoryNode, type NodeFaults } from './node.ts'
import { createPool } from './pool.ts'

/** What a reorganisation does with a transaction of a replaced block. */
export type OrphanOutcome = 'mined' | 'pending' | 'dropped'

export type ExternalPayment = Readonly<{
  address: string
  units: bigint
  contract?: string | null
  /** Units that arrive: less than `units` for fee-on-transfer tokens and tokens with false events. */
  deliveredUnits?: bigint
}>

/** A simulated chain and its nodes in this process. Deterministic: the same seed and calls give the same blocks. */
export type MemoryNetwork = Readonly<{
  network: Network
  nodes: ReadonlyMap<string, MemoryNode>
  head(): BlockRef
  /** Mines blocks with every executable transaction of the pool. */
  mine(count?: number): BlockRef
  /** Replaces the last `depth` blocks by `blocks` others (default: one more). `orphans` applies to all transactions, or per hash. */
  reorg(
    depth: number,
    options?: { orphans?: OrphanOutcome | ((txHash: string) => OrphanOutcome); blocks?: number },
  ): BlockRef
  /** An external payment; a list of payments is one transaction. It waits in the pool for `mine`. */
  pay(payments: ExternalPayment | readonly ExternalPayment[], options?: { fails?: boolean }): string
  dropMempool(): void
  /** Base fee of the next blocks in wei per gas: transactions that offer less wait. */
  setBaseFee(wei: bigint): void
  /** Replaces all faults of a node. Without faults the node catches up and shares the transactions that it withheld. */
  setFaults(node: string, faults?: NodeFaults): void
  /** Units at the head of the best chain, independent of node faults. */
  balance(address: string, contract?: string | null): bigint
  /** All transfers to an address on the best chain. */
  transfersTo(address: string): readonly { txHash: string; contract: string | null; units: bigint }[]
}>

export type MemoryNetworkOptions = Readonly<{
  network: Network
  seed?: string
  /** Names of the nodes. */
  nodes?: readonly string[]
  /** Time of the first block in seconds since 1970; each later block adds the network's block time. */
  startTime?: number
}>

const BASE_FEE = 1_000_000_000n

export function createMemoryNetwork({
  network,
  seed = 'swapyard',
  nodes: names = ['a', 'b'],
  startTime = 1_700_000_000,
}: MemoryNetworkOptions): MemoryNetwork {
  const chainId = present(network.evm, 'parameters of an account network').chainId
  const best = createBestChain({ seed, startTime, blockTimeMs: network.blockTimeMs, baseFee: BASE_FEE })
  const pool = createPool(best, chainId)
  const nodes = new Map(names.map((name) => [name, createMemoryNode({ name, network, best, pool })]))
  let payments = 0

  function mine(count = 1): BlockRef {
    for (let n = 0; n < count; n++) {
      const block = best.append(pool.selectReady())
      pool.removeMined(block)
      for (const node of nodes.values()) node.onBlockMined()
    }
    return best.head()
  }

  return Object.freeze({
    network,
    nodes,
    head: best.head,
    mine,
    reorg(depth, { orphans = 'pending', blocks = depth + 1 } = {}) {
      assert(depth > 0 && depth <= best.head().height && blocks > 0, 'a reorganisation replaces blocks above the first')
      const outcomeOf = typeof orphans === 'function' ? orphans : () => orphans
      const orphaned = best.rollback(depth)
      const select = (transactions: readonly PoolTransaction[], outcome: OrphanOutcome) =>
        transactions.filter(({ hash: txHash }) => outcomeOf(txHash) === outcome)
      pool.addAll(select(orphaned.flat(), 'pending'))
      for (let n = 0; n < Math.max(blocks, orphaned.length); n++) {
        const remined = select(orphaned[n] ?? [], 'mined')
        pool.addAll(remined)
        // A transaction that cannot run on the new branch, because its funds were dropped, stays in the pool.
        if (n < blocks)
          pool.removeMined(best.append(pool.selectReady(new Set(remined.map(({ hash: txHash }) => txHash)))))
      }
      return best.head()
    },
    pay(payment, { fails = false } = {}) {
      const list = Array.isArray(payment) ? (payment as readonly ExternalPayment[]) : [payment as ExternalPayment]
      const transaction = createExternalTransaction(`${seed} outside ${++payments}`, list, !fails)
      pool.add(transaction)
      return transaction.hash
    },
    dropMempool: pool.clear,
    setBaseFee: best.setBaseFee,
    setFaults: (name, faults = {}) => present(nodes.get(name), `node ${name}`).setFaults(faults),
    balance: (address, contract = null) => best.balance(address, contract),
    transfersTo: (address) => best.transfersTo(address),
  } satisfies MemoryNetwork)
}

/** Every external transaction has a new sender with unlimited funds. */
function createExternalTransaction(name: string, payments: readonly ExternalPayment[], ok: boolean): PoolTransaction {
  assert(payments.length > 0, 'an external transaction has at least one payment')
  const txHash = `0x${hash('sha256', name, 'hex')}`
  const outputs = payments.map(({ address, units, contract = null, deliveredUnits = units }) => {
    const canonical = present(readAddress(address), `the address ${address}`)
    assert(units >= 0n && deliveredUnits >= 0n, 'units are not negative')
    return {
      address: canonical,
      contract: contract === null ? null : present(readAddress(contract), 'a contract'),
      units,
      deliveredUnits,
    }
  })
  const sender = present(readAddress(`0x${hash('sha256', `${name} sender`, 'hex').slice(0, 40)}`), 'a sender')
  return { kind: 'external', hash: txHash, sender, raw: null, payments: outputs, ok }
}
