import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { createStore } from '../adapters/postgres/store.ts'
import { createKeystore } from '../adapters/signers/keystore.ts'
import { loadConfig } from '../config.ts'
import { envExample, settingsPage } from '../config-text.ts'
import { coinTypes } from '../start.ts'
import { fail, print } from './print.ts'
import { withDatabase } from './open-house.ts'

/** What an operator does at the command line: keys, pauses, held exchanges, alarms. */
export function addOperatorCommands(program: Command): void {
  program
    .command('keystore <verb>')
    .description('`create` makes the house keys; its words are shown once and are the backup')
    .action(async (verb: string) => {
      if (verb !== 'create') fail('the verb is create')
      const { keystore } = loadConfig()
      if (keystore.passphrase === null) fail('set SWAPYARD_KEYSTORE_PASSPHRASE, or SWAPYARD_KEYSTORE_PASSPHRASE_FILE')
      print({ file: keystore.file, words: await createKeystore(keystore.file, keystore.passphrase, coinTypes), note: 'shown once: write the words down' })
    })
  program
    .command('pause <scope>')
    .description('stops it: all, network:btc, payouts:eth, asset:usdt@eth, partner:<id>')
    .requiredOption('--reason <text>', 'why')
    .action((scope: string, { reason }) =>
      withDatabase(async (database) => {
        if (!/^(all|(network|payouts|asset|partner):[a-z0-9@-]+)$/.test(scope)) fail('the scope is all, network:…, payouts:…, asset:… or partner:…')
        await createStore(database).controls.pause(scope, reason, 'cli')
        print({ scope, paused: true })
      }),
    )
  program.command('resume <scope>').description('ends a pause').action((scope: string) =>
    withDatabase(async (database) => {
      await createStore(database).controls.resume(scope)
      print({ scope, paused: false })
    }),
  )
  program.command('alarms').description('what a person should look at').action(() =>
    withDatabase(async (database) => {
      for (const alarm of await createStore(database).audit.alarms(1_000)) print(alarm)
    }),
  )
  program.command('balances').description('what the hot wallets hold and what can be promised, in base units').action(() =>
    withDatabase(async (database) => {
      const store = createStore(database)
      const available = await store.inventory.available()
      for (const [asset, held] of await store.ledger.balances('asset:wallet')) print({ asset, held, available: available.get(asset) ?? 0n })
    }),
  )
  program
    .command('settings')
    .description('every setting with its meaning, as .env.example has it')
    .option('--write', 'writes .env.example and docs/settings.md of this checkout', false)
    .action(({ write }: { write: boolean }) => {
      if (!write) return console.log(envExample())
      const root = join(import.meta.dirname, '../../..')
      writeFileSync(join(root, '.env.example'), envExample())
      writeFileSync(join(root, 'docs/settings.md'), settingsPage())
    })
  addDecisions(program)
}

/** A held execution moves on by a person's word alone. */
function addDecisions(program: Command): void {
  const exchanges = program.command('exchanges').description('held exchanges')
  for (const decision of ['release', 'refund', 'fail'] as const) {
    exchanges
      .command(`${decision} <exchangeId>`)
      .description({ release: 'lets it go on', refund: 'sends back what came in', fail: 'closes it; what came in stays for whoever claims it' }[decision])
      .action((exchangeId: string) =>
        withDatabase(async (database) => {
          const decided = await createStore(database).transaction(async (tx) => {
            const found = await tx.cases.load(exchangeId)
            const held = found?.executions.filter(({ status }) => status === 'verifying') ?? []
            for (const { id, status, reason } of held) await tx.cases.saveExecution(exchangeId, { id, status, reason, decision }, `operator: ${decision}`)
            await tx.wake([{ kind: 'exchange', id: exchangeId }])
            return held.length
          })
          if (decided === 0) fail(`exchange ${exchangeId} has nothing held`)
          print({ exchangeId, decision, executions: decided })
        }),
      )
  }
  exchanges
    .command('set-refund <exchangeId> <address>')
    .description('names the refund address of a held exchange')
    .option('--memo <memo>', 'memo of the address')
    .action((exchangeId: string, address: string, { memo }) =>
      withDatabase(async (database) => {
        const rows = await database.query(
          "update exchanges set refund_address = $2, refund_memo = $3 where id = $1 and exists (select 1 from executions where exchange_id = $1 and status = 'verifying') returning 1",
          [exchangeId, address, memo ?? null],
        )
        if (rows.length === 0) fail(`exchange ${exchangeId} has nothing held`)
        print({ exchangeId, refundAddress: address, next: `swapyard exchanges refund ${exchangeId}` })
      }),
    )
}
