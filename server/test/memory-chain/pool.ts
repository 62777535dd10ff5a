import type { BroadcastResult } from '../../src/exchange/ports/chain.ts'
import type { BestChain } from './best-chain.ts'
import type { MemoryBlock, PoolTransaction } from './block.ts'
import { costOf, createLanes, type Signed } from './lanes.ts'
import { TRANSFER_GAS } from './state.ts'
import { hashOf, readTransaction } from './transaction.ts'

export type Pool = ReturnType<typeof createPool>

/** A replacement must raise both fee fields to this percentage (geth `--txpool.pricebump`). */
const BUMP_PERCENT = 110n
/** Latest arrivals that `since` can return. */
const ARRIVALS_MAX = 10_000

/** Pending transactions in order of arrival; one per account and nonce. */
export function createPool(best: BestChain, chainId: number) {
  const waiting = new Map<string, PoolTransaction>()
  const lanes = createLanes()
  let arrivals: PoolTransaction[] = []
  let addedCount = 0

  function add(transaction: PoolTransaction): void {
    if (transaction.kind === 'signed') {
      const old = lanes.at(transaction.sender, transaction.body.nonce)
      if (old) waiting.delete(old.hash)
      lanes.put(transaction)
    }
    waiting.set(transaction.hash, transaction)
    arrivals.push(transaction)
    addedCount++
    if (arrivals.length > 2 * ARRIVALS_MAX) arrivals = arrivals.slice(-ARRIVALS_MAX)
  }

  function remove(transaction: PoolTransaction): void {
    waiting.delete(transaction.hash)
    if (transaction.kind === 'signed') lanes.remove(transaction)
  }

  function removeMined({ receipts }: MemoryBlock): void {
    for (const { transaction } of receipts.values()) {
      remove(transaction)
      // A conflicting transaction with the same nonce can no longer confirm on this branch.
      const conflicting = transaction.kind === 'signed' ? lanes.at(transaction.sender, transaction.body.nonce) : null
      if (conflicting) remove(conflicting)
    }
  }

  function submit(raw: string): BroadcastResult {
    const txHash = hashOf(raw)
    if (waiting.has(txHash) || best.blockOf(txHash)) return { kind: 'known' }
    const read = readTransaction(raw)
    if (read === null) return { kind: 'rejected', reason: 'invalid transaction' }
    const transaction: Signed = { kind: 'signed', hash: txHash, sender: read.sender, raw, body: read.body }
    const reason = refusal(best, chainId, transaction, lanes.at(read.sender, read.body.nonce))
    if (reason !== null) return { kind: 'rejected', reason }
    add(transaction)
    return { kind: 'accepted' }
  }

  return {
    add,
    removeMined,
    submit,
    /** The transactions that the next block can execute, of all or of the given hashes. */
    selectReady(only: ReadonlySet<string> | null = null): readonly PoolTransaction[] {
      const isEligible = (txHash: string) => only === null || only.has(txHash)
      const external = [...waiting.values()].filter(({ kind, hash }) => kind === 'external' && isEligible(hash))
      return [...external, ...lanes.selectReady(best, isEligible)]
    },
    has: (txHash: string) => waiting.has(txHash),
    addAll(transactions: readonly PoolTransaction[]) {
      for (const transaction of transactions) add(transaction)
    },
    clear() {
      waiting.clear()
      lanes.clear()
    },
    /** The arrivals since a mark, and the next mark. */
    since(mark: number): { transactions: readonly PoolTransaction[]; mark: number } {
      const count = addedCount - mark
      return { transactions: count > 0 ? arrivals.slice(-count) : [], mark: addedCount }
    },
  }
}

/** Why a node rejects the transaction, in geth's words; null if it accepts. */
function refusal(best: BestChain, chainId: number, transaction: Signed, old: Signed | null): string | null {
  const { body, sender } = transaction
  if (body.chainId !== chainId) return 'invalid chain id'
  if (body.nonce < best.nonce(sender)) return 'nonce too low'
  if (body.maxPriorityFeePerGas > body.maxFeePerGas) return 'tip above fee cap'
  if (body.gasLimit < TRANSFER_GAS.native) return 'intrinsic gas too low'
  if (costOf(transaction) > best.balance(sender, null)) return 'insufficient funds'
  return old && !outbids(body, old.body) ? 'replacement transaction underpriced' : null
}

function outbids(next: Signed['body'], old: Signed['body']): boolean {
  const isMore = (a: bigint, b: bigint) => a * 100n >= b * BUMP_PERCENT && a > b
  const tips = [next.maxPriorityFeePerGas, old.maxPriorityFeePerGas] as const
  return isMore(next.maxFeePerGas, old.maxFeePerGas) && (tips[1] === 0n || isMore(...tips))
}
