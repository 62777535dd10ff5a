import type { BestChain } from './best-chain.ts'
import type { PoolTransaction } from './block.ts'

export type Signed = Extract<PoolTransaction, { kind: 'signed' }>

/** Signed transactions by account and nonce; one per nonce. */
export function createLanes() {
  const lanes = new Map<string, Map<number, Signed>>()
  const at = (sender: string, nonce: number): Signed | null => lanes.get(sender)?.get(nonce) ?? null

  return {
    at,
    put(transaction: Signed): void {
      const lane = lanes.get(transaction.sender) ?? new Map<number, Signed>()
      lane.set(transaction.body.nonce, transaction)
      lanes.set(transaction.sender, lane)
    },
    remove({ hash, sender, body }: Signed): void {
      if (at(sender, body.nonce)?.hash !== hash) return
      const lane = lanes.get(sender)
      lane?.delete(body.nonce)
      if (lane?.size === 0) lanes.delete(sender)
    },
    clear: () => lanes.clear(),
    /** Per account, consecutive nonces as long as the fee covers the base fee and the balance covers the cost. */
    selectReady(best: BestChain, isEligible: (txHash: string) => boolean): readonly Signed[] {
      const selected: Signed[] = []
      for (const [sender, lane] of lanes) {
        let balance = best.balance(sender, null)
        for (let nonce = best.nonce(sender); ; nonce++) {
          const next = lane.get(nonce)
          if (!next || !isEligible(next.hash) || next.body.maxFeePerGas < best.baseFee() || costOf(next) > balance)
            break
          balance -= costOf(next)
          selected.push(next)
        }
      }
      return selected
    },
  }
}

/** The most native currency that the transaction can take from the account. */
export function costOf({ body }: Pick<Signed, 'body'>): bigint {
  return body.gasLimit * body.maxFeePerGas + (body.contract === null ? body.units : 0n)
}
