import type { AssetId } from '../../core/domain/asset.ts'
import type { Decision } from '../../exchange/domain/lifecycle.ts'
import { createOperateExchanges } from '../../exchange/operations/operate-exchanges.ts'
import type { ActionsOf } from './action.ts'
import { checkDestination } from './destinations.ts'
import { foreseeWill } from './foresee-will.ts'

export const decisionMeanings: Readonly<Record<Decision, string>> = {
  release: 'resumes it where it was held: a payout is paid, a refund is sent back',
  refund: 'sends the deposit back',
  convert: 'converts a deposit that was to be refunded',
  fail: 'closes it; the deposit stays until its owner claims it',
}

const PAYS_NOTHING = 'It pays nothing now: no refund of this exchange waits for an address.'

const decide = (decision: Decision): ActionsOf<'exchanges-release'>['exchanges-release'] => ({
  async run({ store, note, deps }, { exchangeId, deposit }) {
    const held = await createOperateExchanges(store).decide(exchangeId, decision, deposit ?? null, note)
    const will = await foreseeWill({ store, deps }, exchangeId, held, decision)
    return { exchangeId, decision, deposit: held.depositId, txHash: held.txHash, will }
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
        const will = await foreseeWill(context, exchangeId, held, 'release')
        refunds.push({ deposit: held.depositId, txHash: held.txHash, ...will })
      }
      const next = refunds.length === 0 ? { note: PAYS_NOTHING } : {}
      return { exchangeId, refundAddress: set.address, refundMemo: set.memo, refunds, ...next }
    },
  },
}
