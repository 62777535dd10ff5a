import type { Command } from 'commander'
import { listAllWebhooks, setWebhookDisabled } from '../adapters/postgres/events/webhooks.ts'
import { type ReasonOption, toAuditNote, withAuditLog, withReason } from './audit-note.ts'
import { printRows, withDatabase } from './database.ts'
import { fail, print } from './print.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** `swapyard webhooks …`: the webhooks of partners. */
export function addWebhookCommands(program: Command): void {
  const webhooks = program.command('webhooks').description('webhooks of partners')
  webhooks
    .command('list')
    .description('lists webhooks with what waits for them')
    .option('--partner <name>', 'only those of one partner')
    .action(({ partner = null }: { partner?: string | null }) =>
      printRows((database) => listAllWebhooks(database, partner)),
    )
  for (const verb of ['disable', 'enable'] as const) {
    withReason(webhooks.command(`${verb} <id>`))
      .description(
        verb === 'disable'
          ? 'stops a webhook, which its partner cannot enable; its events wait for 30 days'
          : 'sends what waits for a webhook, and ends its alarm',
      )
      .action((id: string, options: ReasonOption) =>
        withDatabase(async (database) => {
          await withAuditLog(database, async (inside, record) => {
            const read = async () => (await listAllWebhooks(inside, null, id)).at(0) ?? null
            const before = UUID.test(id) ? await read() : null
            if (before === null) fail(`there is no webhook ${id}: see swapyard webhooks list`)
            await setWebhookDisabled(inside, null, id, verb === 'disable' ? 'operator' : null)
            await record({ ...toAuditNote(options), act: `webhook ${verb}`, subject: id, before, after: await read() })
          })
          print({ id, enabled: verb === 'enable' })
        }),
      )
  }
}
