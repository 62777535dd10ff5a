import type { AssetId } from '../../core/domain/asset.ts'
import type { Decision } from '../../exchange/domain/lifecycle.ts'
import { createOperateExchanges } from '../../exchange/operations/operate-exchanges.ts'
import type { SpentDeposit } from '../../exchange/ports/store/operator.ts'
import type { ActionsOf } from './action.ts'
import { checkDestination } from './destinations.ts'
import { forecastPayment } from './forecast-payment.ts'
import { isListed, showAmount } from './lookup.ts'

export const decisionMeanings: Readonly<Record<Decision, string>> = {
  release: 'resumes it where it was held: a payout is paid, a refund is sent back',
  refund: 'sends the deposit back',
  convert: 'converts a deposit that was to be refunded',
  fail: 'closes it; the deposit stays until its owner claims it',
}

const PAYS_NOTHING = 'It pays nothing now: no refund of this exchange waits for an address.'

/** What a decision waits for while the coins of a vanished deposit are spent; null = it does not. */
function describeWait(spent: SpentDeposit | null, decision: Decision): string | null {
  if (spent === null) return null
  const { account, assetId, missing } = spent
  const amount = isListed(assetId) ? showAmount(missing, assetId) : `${missing} base units of ${assetId}`
  const next =
    account === 'asset:wallet'
      ? 'send them to the hot wallet (swapyard keystore addresses)'
      : 'a sweep took them, and deposits of that asset which are credited later count'
  const then =
    decision === 'fail'
      ? 'Then it is closed as failed, without another decision.'
      : 'Then it is held again: decide again, or wait until the deposit is back on its chain.'
  return `The deposit left its chain after its coins were spent. Until ${account} has ${amount} more, nothing is carried out: ${next}. ${then}`
}

const decide = (decision: Decision): ActionsOf<'exchanges-release'>['exchanges-release'] => ({
  async run({ store, note, deps }, { exchangeId, deposit }) {
    const held = await createOperateExchanges(store).decide(exchangeId, decision, deposit ?? null, note)
    const will = await forecastPayment({ store, deps }, exchangeId, held, decision)
    const waitsFor = describeWait(await store.operator.findSpentDeposit(held.depositId), decision)
    return {
      exchangeId,
      decision,
      deposit: held.depositId,
      txHash: held.txHash,
      will,
      ...(waitsFor ? { waitsFor } : {}),
    }
  },
})

export const exchangeActions: ActionsOf<`exchanges-${Decision}` | 'exchanges-set-refund'> = {
  'exchanges-release': decide('release'),
  'exchanges-refund': decide('refund'),
  'exchanges-convert': decide('convert'),
  'exchanges-fail': decide('fail'),
  'exchanges-set-refund': {
    async run(context, { exchangeId, address, memo }) {
      const check = async (assetId: AssetId) => {
        const { assetId: _, ...destination } = await checkDestination(context, assetId, address, memo)
        return destination
      }
      const set = await createOperateExchanges(context.store).setRefund(exchangeId, check, context.note)
      const refunds: object[] = []
      for (const held of set.waiting) {
        const will = await forecastPayment(context, exchangeId, held, 'release')
        refunds.push({ deposit: held.depositId, txHash: held.txHash, ...will })
      }
      const next = refunds.length === 0 ? { note: PAYS_NOTHING } : {}
      return { exchangeId, refundAddress: set.address, refundMemo: set.memo, refunds, ...next }
    },
  },
}
