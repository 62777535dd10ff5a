import type { Command } from 'commander'
import type { Database } from '../adapters/postgres/core/database.ts'
import { createPartnerStore } from '../adapters/postgres/core/partners.ts'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import { plainWord, reasoned, type WithReason } from './audit-note.ts'
import { withDatabase } from './database.ts'
import { readScope } from './pause-scope.ts'
import { print } from './print.ts'

/** `swapyard pause` and `resume`: what stands still until somebody says otherwise. */
export function addPauseCommands(program: Command): void {
  program
    .command('pause <scope>')
    .description('stops it: all, network:btc, payouts:eth, asset:usdt@eth, partner:<name or id>')
    .requiredOption('--reason <text>', 'why; written down')
    .action((named: string, given: WithReason) =>
      withDatabase(async (database) => {
        const scope = await readScope(named, createPartnerStore(database))
        const word = plainWord(given)
        await createStore(database).transaction(async (tx) => {
          const before = (await tx.pauses.list()).find((pause) => pause.scope === scope) ?? null
          await tx.pauses.pause(scope, word.reason, 'cli')
          await tx.auditLog.record({ ...word, act: 'pause', subject: scope, before, after: { scope, ...word } })
        })
        print({ scope, paused: true })
      }),
    )
  program
    .command('pauses')
    .description('what stands still, and why')
    .action(() =>
      withDatabase(async (database) => {
        for (const pause of await createStore(database).pauses.list()) print(pause)
      }),
    )
  reasoned(program.command('resume <scope>'))
    .description('ends a pause')
    .action((named: string, given: WithReason) =>
      withDatabase(async (database) => {
        const scope = await findPause(named, database)
        await createStore(database).transaction(async (tx) => {
          const before = (await tx.pauses.list()).find((pause) => pause.scope === scope) ?? null
          await tx.pauses.resume(scope)
          await tx.auditLog.record({ ...plainWord(given), act: 'resume', subject: scope, before, after: null })
        })
        print({ scope, paused: false })
      }),
    )
}

/** What is paused can be resumed by the scope that `pauses` shows, whatever is there by now. */
async function findPause(named: string, database: Database): Promise<string> {
  const paused = await createStore(database).pauses.list()
  return paused.some(({ scope }) => scope === named) ? named : readScope(named, createPartnerStore(database))
}
