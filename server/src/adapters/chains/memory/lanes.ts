import type { BestChain } from './best-chain.ts'
import type { PoolTransaction } from './block.ts'

export type Signed = Extract<PoolTransaction, { kind: 'signed' }>

/** Signed transactions by account and nonce: one each. */
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
    /** Per account without gaps, while the price is met and the coin is there. */
    ready(best: BestChain, isMeant: (txHash: string) => boolean): readonly Signed[] {
      const taken: Signed[] = []
      for (const [sender, lane] of lanes) {
        let left = best.balance(sender, null)
        for (let nonce = best.nonce(sender); ; nonce++) {
          const next = lane.get(nonce)
          if (!next || !isMeant(next.hash) || next.body.maxFeePerGas < best.baseFee() || costOf(next) > left) break
          left -= costOf(next)
          taken.push(next)
        }
      }
      return taken
    },
  }
}

/** The most that it can take from the account in coin. */
export function costOf({ body }: Pick<Signed, 'body'>): bigint {
  return body.gasLimit * body.maxFeePerGas + (body.contract === null ? body.units : 0n)
}
