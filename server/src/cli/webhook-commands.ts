import type { Command } from 'commander'
import { createAuditLog } from '../adapters/postgres/core/audit-log.ts'
import { listAllWebhooks, setWebhookDisabled } from '../adapters/postgres/events/webhooks.ts'
import { type ReasonOption, toAuditNote } from './audit-note.ts'
import { withDatabase } from './database.ts'
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
      withDatabase(async (database) => (await listAllWebhooks(database, partner)).forEach(print)),
    )
  for (const verb of ['disable', 'enable'] as const) {
    webhooks
      .command(`${verb} <id>`)
      .option('--reason <text>', 'why; stored in the audit log with your name')
      .description(
        verb === 'disable'
          ? 'stops a webhook, which its partner cannot enable; its events wait for 30 days'
          : 'sends what waits for a webhook, and ends its alarm',
      )
      .action((id: string, options: ReasonOption) =>
        withDatabase(async (database) => {
          await database.transaction(async (tx) => {
            const read = async () => (await listAllWebhooks(tx, null, id)).at(0) ?? null
            const before = UUID.test(id) ? await read() : null
            if (before === null) fail(`there is no webhook ${id}: see swapyard webhooks list`)
            await setWebhookDisabled(tx, null, id, verb === 'disable' ? 'operator' : null)
            const change = { act: `webhook ${verb}`, subject: id, before, after: await read() }
            await createAuditLog(tx).record({ ...toAuditNote(options), ...change })
          })
          print({ id, enabled: verb === 'enable' })
        }),
      )
  }
}
