import { refused } from '../../core/services/audit-note.ts'
import type { DisabledBy } from '../../events/domain/webhook.ts'
import { isUuid } from '../../lib/id.ts'
import type { ActionContext, ActionResult, ActionsOf } from './action.ts'

const DELIVERY_ID = /^[1-9][0-9]{0,17}$/

async function findWebhook({ webhookRow }: ActionContext, id: string): Promise<Record<string, unknown>> {
  const row = isUuid(id) ? await webhookRow(id) : null
  if (row === null) throw refused(`there is no webhook ${id}: see swapyard webhooks list`)
  return row
}

async function setDisabled(
  context: ActionContext,
  id: string,
  verb: 'disable' | 'enable',
  by: DisabledBy | null,
): Promise<ActionResult> {
  const before = await findWebhook(context, id)
  await context.webhooks.setDisabled(null, id, by)
  const after = await context.webhookRow(id)
  await context.store.auditLog.record({ ...context.note, act: `webhook ${verb}`, subject: id, before, after })
  return { id, enabled: by === null }
}

/** The webhooks of partners. */
export const webhookActions: ActionsOf<'webhooks-disable' | 'webhooks-enable' | 'webhooks-redeliver'> = {
  'webhooks-disable': { run: (context, { webhookId }) => setDisabled(context, webhookId, 'disable', 'operator') },
  'webhooks-enable': { run: (context, { webhookId }) => setDisabled(context, webhookId, 'enable', null) },
  'webhooks-redeliver': {
    async run(context, { webhookId, deliveryId }) {
      const { disabledBy } = await findWebhook(context, webhookId)
      if (disabledBy !== null) throw refused(`the webhook is disabled: swapyard webhooks enable ${webhookId}`)
      const delivery = DELIVERY_ID.test(deliveryId)
        ? await context.webhooks.redeliver(null, webhookId, deliveryId, () => null)
        : null
      if (delivery === null)
        throw refused(`the webhook has no delivery ${deliveryId}: see swapyard webhooks deliveries`)
      const { id, eventId, type, state } = delivery
      const detail = { deliveryId, queued: id }
      await context.store.auditLog.record({ ...context.note, act: 'webhook redeliver', subject: webhookId, detail })
      return { id, eventId, type, state }
    },
  },
}
