import { createOperatePayouts, type PayoutAct } from '../../exchange/operations/operate-payouts.ts'
import type { HeldPayout } from '../../exchange/ports/store/operator.ts'
import type { ActionsOf } from './action.ts'
import { type PaymentForecast, toPaymentForecast } from './forecast-payment.ts'
import { isListed, showAmount } from './lookup.ts'

const decide = (decision: PayoutAct): ActionsOf<'payouts-release'>['payouts-release'] => ({
  async run({ store, note }, { payoutId }) {
    const payout = await createOperatePayouts(store)[decision](payoutId, note)
    const { purpose, network } = payout
    return {
      payoutId,
      decision,
      purpose,
      network,
      will: decision === 'release' ? forecastRelease(payout) : forecastDrop(payout),
    }
  },
})

/** By the payout as it was before the release. */
function forecastRelease({ units, assetId, address, memo, attention, isReversed }: HeldPayout): PaymentForecast {
  const notes = [
    ...(isListed(assetId) ? [] : [`The currency is not listed: the payout has ${units} base units.`]),
    ...(isReversed ? ['It was paid before, and a reorganisation reversed that: this pays it a second time.'] : []),
    ...(attention === 'PAYEE' ? ['The payout was changed outside of the program: the signer refuses it.'] : []),
  ]
  return toPaymentForecast({ units, assetId, to: { address, memo }, feeUnits: null, notes })
}

function forecastDrop({ units, assetId, address, memo, purpose, isReversed }: HeldPayout): PaymentForecast {
  const amount = isListed(assetId) ? showAmount(units, assetId) : `${units} base units of ${assetId}`
  const notes = [
    `It pays nothing: ${amount} to ${address}${memo === null ? '' : ` with the memo ${memo}`} will not be sent.`,
    ...(isReversed ? ['The payout counts as paid from another wallet.'] : []),
    ...(purpose === 'withdrawal' && !isReversed ? ['The account that it debited is owed the amount again.'] : []),
    ...(purpose === 'sweep' ? ['Its deposits can be swept again.'] : []),
  ]
  return toPaymentForecast({ units: null, assetId: null, to: null, feeUnits: null, notes })
}

export const payoutActions: ActionsOf<
  | 'payouts-release'
  | 'payouts-drop'
  | 'payouts-conflict'
  | 'payouts-add-funding'
  | 'payouts-release-input'
  | 'fundings-claim'
> = {
  'payouts-release': decide('release'),
  'payouts-drop': decide('drop'),
  'payouts-conflict': {
    async run({ store, note }, { transactionId, spentBy }) {
      await createOperatePayouts(store).setConflictingTransaction(transactionId, spentBy, note)
      return { transactionId, spentBy, next: 'swapyard alarms' }
    },
  },
  'payouts-add-funding': {
    async run({ store, note }, { transactionId, raw }) {
      await createOperatePayouts(store).addFundingTransaction(transactionId, raw.toLowerCase(), note)
      return { transactionId, next: 'swapyard alarms' }
    },
  },
  'payouts-release-input': {
    async run({ store, note }, { network, outpoint }) {
      const surplus = await createOperatePayouts(store).releaseInput(network, outpoint, note)
      if (surplus === null) return { network, outpoint }
      const { depositId, assetId, units } = surplus
      const amount = isListed(assetId) ? showAmount(units, assetId) : `${units} base units of ${assetId}`
      const next = `swapyard fundings claim ${depositId}, or swapyard unclaimed pay-out ${depositId} ADDRESS`
      return { network, outpoint, unclaimed: { depositId, amount, next } }
    },
  },
  'fundings-claim': {
    run: ({ store, note }, { depositId }) => createOperatePayouts(store).claim(depositId, note),
  },
}
