import type { BroadcastResult } from '../../ports/chain.ts'
import { type BestChain, TRANSFER_GAS } from './best-chain.ts'
import type { MemoryBlock, PoolTransaction } from './block.ts'
import { hashOf, readTransaction } from './transaction.ts'

export type Pool = ReturnType<typeof createPool>
type Signed = Extract<PoolTransaction, { kind: 'signed' }>

/** What a replacement must offer more, of both prices (geth `--txpool.pricebump`). */
const BUMP_PERCENT = 110n
/** Arrivals that are kept for those who look for sightings. */
const ARRIVALS_MAX = 10_000

/** Transactions that wait for a block, in the order in which they came. One per account and nonce. */
export function createPool(best: BestChain, chainId: number) {
  const waiting = new Map<string, PoolTransaction>()
  const slots = new Map<string, Map<number, Signed>>()
  let arrivals: PoolTransaction[] = []
  let arrived = 0

  function add(transaction: PoolTransaction): void {
    if (transaction.kind === 'signed') {
      const lane = slots.get(transaction.sender) ?? new Map<number, Signed>()
      const old = lane.get(transaction.body.nonce)
      if (old) waiting.delete(old.hash)
      lane.set(transaction.body.nonce, transaction)
      slots.set(transaction.sender, lane)
    }
    waiting.set(transaction.hash, transaction)
    arrivals.push(transaction)
    arrived++
    if (arrivals.length > 2 * ARRIVALS_MAX) arrivals = arrivals.slice(-ARRIVALS_MAX)
  }

  function remove(transaction: PoolTransaction): void {
    waiting.delete(transaction.hash)
    if (transaction.kind !== 'signed') return
    const lane = slots.get(transaction.sender)
    if (lane?.get(transaction.body.nonce)?.hash === transaction.hash) lane.delete(transaction.body.nonce)
    if (lane?.size === 0) slots.delete(transaction.sender)
  }

  /** What a block takes now, of all or of these: per account without gaps, while the price is met and the coin is there. */
  function ready(only: ReadonlySet<string> | null = null): readonly PoolTransaction[] {
    const isMeant = (txHash: string) => only === null || only.has(txHash)
    const taken: PoolTransaction[] = [...waiting.values()].filter(
      ({ kind, hash }) => kind === 'outside' && isMeant(hash),
    )
    for (const [sender, lane] of slots) {
      let left = best.balance(sender, null)
      for (let nonce = best.nonce(sender); ; nonce++) {
        const next = lane.get(nonce)
        if (!next || !isMeant(next.hash) || next.body.maxFeePerGas < best.baseFee() || costOf(next) > left) break
        left -= costOf(next)
        taken.push(next)
      }
    }
    return taken
  }

  function forget({ receipts }: MemoryBlock): void {
    for (const { transaction } of receipts.values()) {
      remove(transaction)
      // Whatever else wanted this nonce can never come again on this branch.
      const rival =
        transaction.kind === 'signed' ? slots.get(transaction.sender)?.get(transaction.body.nonce) : undefined
      if (rival) remove(rival)
    }
  }

  /** As a node takes or refuses bytes: signature, chain, nonce, price of a replacement, and the coin to pay for it. */
  function submit(raw: string): BroadcastResult {
    const txHash = hashOf(raw)
    if (waiting.has(txHash) || best.including(txHash)) return { kind: 'known' }
    const read = readTransaction(raw)
    if (read === null) return rejected('invalid transaction')
    const transaction: Signed = { kind: 'signed', hash: txHash, sender: read.sender, raw, body: read.body }
    const { body } = read
    if (body.chainId !== chainId) return rejected('invalid chain id')
    if (body.nonce < best.nonce(read.sender)) return rejected('nonce too low')
    if (body.maxPriorityFeePerGas > body.maxFeePerGas) return rejected('tip above fee cap')
    if (body.gasLimit < TRANSFER_GAS.coin) return rejected('intrinsic gas too low')
    if (costOf(transaction) > best.balance(read.sender, null)) return rejected('insufficient funds')
    const old = slots.get(read.sender)?.get(body.nonce)
    if (old && !outbids(body, old.body)) return rejected('replacement transaction underpriced')
    add(transaction)
    return { kind: 'accepted' }
  }

  return {
    add,
    ready,
    forget,
    submit,
    has: (txHash: string) => waiting.has(txHash),
    putBack(transactions: readonly PoolTransaction[]) {
      for (const transaction of transactions) add(transaction)
    },
    clear() {
      waiting.clear()
      slots.clear()
    },
    /** What arrived since a mark, and the next mark. */
    since(mark: number): { transactions: readonly PoolTransaction[]; mark: number } {
      const fresh = arrived - mark
      return { transactions: fresh > 0 ? arrivals.slice(-fresh) : [], mark: arrived }
    },
  }
}

const rejected = (reason: string): BroadcastResult => ({ kind: 'rejected', reason })

/** The most that it can take from the account in coin. */
function costOf({ body }: Signed): bigint {
  return body.gasLimit * body.maxFeePerGas + (body.contract === null ? body.units : 0n)
}

function outbids(next: Signed['body'], old: Signed['body']): boolean {
  const isMore = (a: bigint, b: bigint) => a * 100n >= b * BUMP_PERCENT && a > b
  return (
    isMore(next.maxFeePerGas, old.maxFeePerGas) &&
    (old.maxPriorityFeePerGas === 0n || isMore(next.maxPriorityFeePerGas, old.maxPriorityFeePerGas))
  )
}
