import { createOperatePayouts, type PayoutAct } from '../../exchange/operations/operate-payouts.ts'
import type { ActionsOf } from './action.ts'

const decide = (decision: PayoutAct): ActionsOf<'payouts-release'>['payouts-release'] => ({
  async run({ store, note }, { payoutId }) {
    const { purpose, network } = await createOperatePayouts(store)[decision](payoutId, note)
    return { payoutId, decision, purpose, network }
  },
})

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
      await createOperatePayouts(store).releaseInput(network, outpoint, note)
      return { network, outpoint }
    },
  },
  'fundings-claim': {
    run: ({ store, note }, { depositId }) => createOperatePayouts(store).claim(depositId, note),
  },
}
