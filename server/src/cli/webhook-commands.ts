import type { Command } from 'commander'
import { act, printRead } from './act.ts'
import { type ReasonOption, withReason } from './audit-note.ts'

/** `swapyard webhooks …`: the webhooks of partners. */
export function addWebhookCommands(program: Command): void {
  const webhooks = program.command('webhooks').description('webhooks of partners')
  webhooks
    .command('list')
    .description('lists webhooks with what waits for them, the newest first')
    .option('--partner <name>', 'only those of one partner')
    .action(({ partner }: { partner?: string }) => printRead('webhooks', partner === undefined ? {} : { partner }))
  webhooks
    .command('deliveries <id>')
    .description('lists the deliveries of a webhook, the newest first')
    .option('--limit <rows>', 'the newest rows', '100')
    .action((webhook: string, { limit }: { limit: string }) => printRead('webhookDeliveries', { webhook, limit }))
  withReason(webhooks.command('disable <id>'))
    .description('stops a webhook, which its partner cannot enable; its events wait for 30 days')
    .action((webhookId: string, options: ReasonOption) => act('webhooks-disable', { webhookId }, options))
  withReason(webhooks.command('enable <id>'))
    .description('sends what waits for a webhook, and ends its alarm')
    .action((webhookId: string, options: ReasonOption) => act('webhooks-enable', { webhookId }, options))
  withReason(webhooks.command('redeliver <id> <deliveryId>'))
    .description('delivers an event again, with the same id')
    .action((webhookId: string, deliveryId: string, options: ReasonOption) =>
      act('webhooks-redeliver', { webhookId, deliveryId }, options),
    )
}
