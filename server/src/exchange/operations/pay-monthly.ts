import type { AssetId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { Screening } from '../../core/ports/screening.ts'
import type { MonthlyPayout } from '../ports/store/monthly-payouts.ts'
import { type ConvertBalancesDeps, convertBalances } from './convert-balances.ts'
import { payOut } from './operate-balances.ts'

export type PayMonthlyDeps = ConvertBalancesDeps &
  Readonly<{
    networkOf(assetId: AssetId): string
    screening: Screening
    /** Whether the address is a deposit or wallet address of ours, on any network. */
    isOwnAddress(address: string): Promise<boolean>
  }>

const ACTOR = 'monthly payouts'

/** Time between two turns in production. */
export const MONTHLY_TURN_MS = 600_000

/**
 * Converts what is paid in another currency, then pays balances of partners once a month, as the operator's pay-out does. The
 * intent is committed first and fixes the amount; its payout is keyed by the month, so it is queued once, however often this is
 * repeated after a crash. Until then the intent follows the partner's recipient and waits while the partner is suspended.
 */
export function createPayMonthly(deps: PayMonthlyDeps): () => Promise<void> {
  const { store } = deps
  return async () => {
    const refusedSubjects: string[] = []
    const alarm = async (of: Pick<MonthlyPayout, 'partner' | 'assetId' | 'month'>, facts: Record<string, string>) => {
      const subject = `${of.partner} ${of.assetId}`
      refusedSubjects.push(subject)
      await store.alarms.raise(`monthly-payout:${subject}`, 'the monthly payout of a partner cannot be queued', {
        month: of.month,
        ...facts,
      })
    }
    for (const due of await store.monthlyPayouts.listUnconverted()) {
      const refusal = await unlessRefused(() => convertBalances(deps, due))
      if (refusal !== null) await alarm(due, { reason: refusal })
    }
    await store.monthlyPayouts.plan()
    for (const intent of await store.monthlyPayouts.listUnpaid()) {
      const refusal = await pay(deps, intent)
      if (refusal !== null)
        await alarm(intent, { units: intent.units.toString(), address: intent.address, reason: refusal })
    }
    await store.alarms.clearOthers('monthly-payout:', refusedSubjects)
  }
}

/** Why the conversion waits; null = done. Any other failure is thrown, and repeated. */
async function unlessRefused(work: () => Promise<void>): Promise<string | null> {
  try {
    await work()
    return null
  } catch (error) {
    if (error instanceof AppError && error.kind !== 'bug') return error.message
    throw error
  }
}

/** Why it is refused; null = queued, or left to the next turn. Any other failure is thrown, and repeated. */
async function pay(deps: PayMonthlyDeps, intent: MonthlyPayout): Promise<string | null> {
  const { store, networkOf } = deps
  const { partnerId, partner, month, assetId, units, address, memo } = intent
  const request = { assetId, network: networkOf(assetId), units, destination: { address, memo } }
  try {
    await check(deps, request.network, address)
    return await store.transaction(async (tx) => {
      const state = await tx.monthlyPayouts.lock(intent)
      if (state === 'suspended') return `partner ${partner} is suspended: resume it, or end its monthly payout`
      // Another worker has paid it, or the next turn reads it with its new recipient.
      if (state === 'paid' || state === 'changed') return null
      const note = { actor: ACTOR, reason: `monthly payout of ${month}` }
      const paid = await payOut(tx, { id: partnerId, name: partner }, request, `monthly ${month} ${assetId}`, note)
      await tx.monthlyPayouts.setPaid(intent, paid.payoutId)
      return null
    })
  } catch (error) {
    if (error instanceof AppError && !error.retryable && error.code !== 'INTERNAL') return error.message
    throw error
  }
}

/** The recipient was checked when it was set; the deny list and our addresses may have grown. */
async function check({ screening, isOwnAddress }: PayMonthlyDeps, network: string, address: string): Promise<void> {
  if (await isOwnAddress(address)) throw new AppError('ADDRESS_IS_OURS', `${address} is an address of this service`)
  if ((await screening.screen({ network, address, direction: 'recipient' })) !== 'allow')
    throw new AppError('RESTRICTED', `${address} cannot be served`)
}
