import type { Command } from 'commander'
import { createStore } from '../adapters/postgres/store.ts'
import { withDatabase } from './open-house.ts'
import { fail, print } from './print.ts'
import { plainWord, reasoned, type WithReason } from './word.ts'

/** `swapyard pause` and `resume`: what stands still until somebody says otherwise. */
export function addPauseCommands(program: Command): void {
  program
    .command('pause <scope>')
    .description('stops it: all, network:btc, payouts:eth, asset:usdt@eth, partner:<id>')
    .requiredOption('--reason <text>', 'why; written down')
    .action((scope: string, given: WithReason) =>
      withDatabase(async (database) => {
        if (!/^(all|(network|payouts|asset|partner):[a-z0-9@-]+)$/.test(scope))
          fail('the scope is all, network:…, payouts:…, asset:… or partner:…')
        const word = plainWord(given)
        await createStore(database).transaction(async (tx) => {
          const before = (await tx.audit.pauses()).find((pause) => pause.scope === scope) ?? null
          await tx.controls.pause(scope, word.reason, 'cli')
          await tx.operator.record({ ...word, act: 'pause', subject: scope, before, after: { scope, ...word } })
        })
        print({ scope, paused: true })
      }),
    )
  reasoned(program.command('resume <scope>'))
    .description('ends a pause')
    .action((scope: string, given: WithReason) =>
      withDatabase(async (database) => {
        await createStore(database).transaction(async (tx) => {
          const before = (await tx.audit.pauses()).find((pause) => pause.scope === scope) ?? null
          await tx.controls.resume(scope)
          await tx.operator.record({ ...plainWord(given), act: 'resume', subject: scope, before, after: null })
        })
        print({ scope, paused: false })
      }),
    )
}
