import type { AdminActionName } from '@swapyard/schema'
import type { ActionDefinition, ActionsOf } from './action.ts'
import { balanceActions } from './balance-actions.ts'
import { exchangeActions } from './exchange-actions.ts'
import { feeActions } from './fee-actions.ts'
import { keyActions } from './key-actions.ts'
import { operatorActions } from './operator-actions.ts'
import { partnerActions } from './partner-actions.ts'
import { pauseActions } from './pause-actions.ts'
import { payoutActions } from './payout-actions.ts'
import { serviceActions } from './service-actions.ts'
import { webhookActions } from './webhook-actions.ts'

/** Every action of an operator, by its name in `adminActions`. The command line and the admin API carry out the same ones. */
const actions: ActionsOf<AdminActionName> = {
  ...balanceActions,
  ...exchangeActions,
  ...feeActions,
  ...keyActions,
  ...operatorActions,
  ...partnerActions,
  ...pauseActions,
  ...payoutActions,
  ...serviceActions,
  ...webhookActions,
}

export const findAction = (name: AdminActionName): ActionDefinition<object> => actions[name] as ActionDefinition<object>
