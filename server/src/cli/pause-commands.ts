import type { Command } from 'commander'
import type { Database } from '../adapters/postgres/core/database.ts'
import { createPartnerStore } from '../adapters/postgres/core/partners.ts'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import { type ReasonOption, toAuditNote, withReason, withRequiredReason } from './audit-note.ts'
import { withDatabase } from './database.ts'
import { readScope } from './pause-scope.ts'
import { print } from './print.ts'

/** `swapyard pause`, `pauses` and `resume`. */
export function addPauseCommands(program: Command): void {
  withRequiredReason(program.command('pause <scope>'))
    .description('pauses a scope: all, network:btc, payouts:eth, asset:usdt@eth, partner:<name or id>')
    .action((text: string, options: ReasonOption) =>
      withDatabase(async (database) => {
        const scope = await readScope(text, createPartnerStore(database))
        const note = toAuditNote(options)
        await createStore(database).transaction(async (tx) => {
          const before = (await tx.pauses.list()).find((pause) => pause.scope === scope) ?? null
          await tx.pauses.pause(scope, note.reason, 'cli')
          await tx.auditLog.record({ ...note, act: 'pause', subject: scope, before, after: { scope, ...note } })
        })
        print({ scope, paused: true })
      }),
    )
  program
    .command('pauses')
    .description('lists pauses and their reasons')
    .action(() =>
      withDatabase(async (database) => {
        for (const pause of await createStore(database).pauses.list()) print(pause)
      }),
    )
  withReason(program.command('resume <scope>'))
    .description('ends a pause')
    .action((text: string, options: ReasonOption) =>
      withDatabase(async (database) => {
        const scope = await findPause(text, database)
        await createStore(database).transaction(async (tx) => {
          const before = (await tx.pauses.list()).find((pause) => pause.scope === scope) ?? null
          await tx.pauses.resume(scope)
          await tx.auditLog.record({ ...toAuditNote(options), act: 'resume', subject: scope, before, after: null })
        })
        print({ scope, paused: false })
      }),
    )
}

/** A paused scope as `pauses` lists it can be resumed even if its network, asset or partner no longer exists. */
async function findPause(text: string, database: Database): Promise<string> {
  const paused = await createStore(database).pauses.list()
  return paused.some(({ scope }) => scope === text) ? text : readScope(text, createPartnerStore(database))
}
