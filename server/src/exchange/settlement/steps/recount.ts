import { depositRecountEntry } from '../../../core/domain/ledger/entries.ts'
import type { Deposit } from '../../ports/store/execution.ts'
import type { StoreTx } from '../../ports/store/store.ts'
import type { Act } from './context.ts'

/** Units of the loss that was booked for the given credit of a deposit; null = none was booked. */
export async function findLoss(tx: StoreTx, { id }: Pick<Deposit, 'id'>, credits: number): Promise<bigint | null> {
  return (await tx.ledger.entry(`deposit:${id}:loss:${credits}`))?.postings[0]?.units ?? null
}

/**
 * Owes the exchange what a deposit brought when it returned after a loss. While its payout was signed, the difference to the
 * lost units stayed in suspense, because the payout does not change.
 */
export async function recount({ tx, context, execution: { deposit } }: Act): Promise<void> {
  for (let credits = deposit.credits; credits > 1; credits--) {
    const recovered = (await tx.ledger.entry(`deposit:${deposit.id}:recovery:${credits}`))?.postings[0]
    const lostUnits = await findLoss(tx, deposit, credits - 1)
    // Anything else was credited to the exchange itself.
    if (recovered === undefined || lostUnits === null) return
    const { assetId, units } = recovered
    if (units === lostUnits) continue
    const exchangeId = context.exchange.id
    await tx.ledger.post(
      depositRecountEntry({ depositId: deposit.id, credits, exchangeId, assetId, units: units - lostUnits }),
    )
    await tx.alarms.clear(`reorg:${deposit.id}`)
  }
}
