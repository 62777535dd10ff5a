import type { Decision } from '../../exchange/domain/lifecycle.ts'
import { type DecisionForecast, forecastDecision, loadHeld } from '../../exchange/operations/forecast-decision.ts'
import type { HeldExecution } from '../../exchange/ports/store/operator.ts'
import { present } from '../../lib/assert.ts'
import type { ActionContext } from './action.ts'
import { formatSigned, isListed, listedCurrency } from './lookup.ts'

/** What a decision pays, with amounts in coins: in previews, in answers, and before the action. */
export type PaymentForecast = Readonly<{
  pays: string | null
  currency: string | null
  to: string | null
  memo: string | null
  fee: string | null
  note: string | null
}>

type Context = Readonly<{ store: Pick<ActionContext['store'], 'steps' | 'payouts' | 'inventory'> }> &
  Readonly<{ deps: Pick<ActionContext['deps'], 'market'> }>

const unknown = { pays: null, currency: null, to: null, memo: null, fee: null }

/** By the rows of the transaction and the current prices. */
export async function forecastPayment(
  { store, deps: { market } }: Context,
  exchangeId: string,
  held: Pick<HeldExecution, 'id' | 'leg' | 'depositId'>,
  decision: Decision,
): Promise<PaymentForecast> {
  if (market === null)
    return {
      ...unknown,
      note: 'The command line of the server has no prices: the admin API (--url) says what it pays.',
    }
  const loaded = present(await loadHeld(store, exchangeId, held), `the held execution ${held.id}`)
  return toPaymentForecast(await forecastDecision({ ...loaded, deps: market, tx: store }, decision))
}

export function toPaymentForecast({ units, assetId, to, feeUnits, notes }: DecisionForecast): PaymentForecast {
  const coins = (amount: bigint | null) =>
    amount === null || assetId === null || !isListed(assetId)
      ? null
      : formatSigned(amount, listedCurrency(assetId).decimals)
  return {
    ...{ pays: coins(units), currency: assetId, to: to?.address ?? null, memo: to?.memo ?? null },
    ...{ fee: coins(feeUnits), note: notes.length === 0 ? null : notes.join(' ') },
  }
}
