import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { createStore } from '../adapters/postgres/store.ts'
import { createKeystore, exportPublicKeys } from '../adapters/signers/keystore.ts'
import { loadConfig } from '../config.ts'
import { envExample, settingsPage } from '../config-text.ts'
import { checkDestination, openAddresses } from './addresses.ts'
import { withDatabase } from './open-house.ts'
import { addPayoutCommands } from './payout-commands.ts'
import { fail, print } from './print.ts'
import { addSignerCommands } from './signer-commands.ts'

/** What an operator does at the command line: keys, pauses, held exchanges, alarms. */
export function addOperatorCommands(program: Command): void {
  addKeystoreCommands(program)
  addSignerCommands(program)
  addPayoutCommands(program)
  program
    .command('pause <scope>')
    .description('stops it: all, network:btc, payouts:eth, asset:usdt@eth, partner:<id>')
    .requiredOption('--reason <text>', 'why')
    .action((scope: string, { reason }) =>
      withDatabase(async (database) => {
        if (!/^(all|(network|payouts|asset|partner):[a-z0-9@-]+)$/.test(scope))
          fail('the scope is all, network:…, payouts:…, asset:… or partner:…')
        await createStore(database).controls.pause(scope, reason, 'cli')
        print({ scope, paused: true })
      }),
    )
  program
    .command('resume <scope>')
    .description('ends a pause')
    .action((scope: string) =>
      withDatabase(async (database) => {
        await createStore(database).controls.resume(scope)
        print({ scope, paused: false })
      }),
    )
  program
    .command('alarms')
    .description('what a person should look at')
    .action(() =>
      withDatabase(async (database) => {
        for (const alarm of await createStore(database).audit.alarms(1_000)) print(alarm)
      }),
    )
  program
    .command('wallets')
    .alias('balances')
    .description('what the hot wallets hold and what can be promised, in base units')
    .action(() =>
      withDatabase(async (database) => {
        const store = createStore(database)
        const available = await store.inventory.available()
        for (const [asset, held] of await store.ledger.balances('asset:wallet'))
          print({ asset, held, available: available.get(asset) ?? 0n })
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
      .description(
        {
          release: 'lets it go on',
          refund: 'sends back what came in',
          fail: 'closes it; what came in stays for whoever claims it',
        }[decision],
      )
      .action((exchangeId: string) =>
        withDatabase(async (database) => {
          const decided = await createStore(database).transaction(async (tx) => {
            const found = await tx.cases.load(exchangeId)
            const held = found?.executions.filter(({ status }) => status === 'verifying') ?? []
            for (const { id, status, reason } of held)
              await tx.cases.saveExecution(exchangeId, { id, status, reason, decision }, `operator: ${decision}`)
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
    .action((exchangeId: string, address: string, { memo }: { memo?: string }) =>
      withDatabase(async (database, config) => {
        const [held] = await database.query<{ from_currency: string; from_network: string }>(
          "select from_currency, from_network from exchanges where id::text = $1 and exists (select 1 from executions where exchange_id = exchanges.id and status = 'verifying')",
          [exchangeId],
        )
        if (!held) fail(`exchange ${exchangeId} has nothing held`)
        const checked = checkDestination(config, `${held.from_currency}@${held.from_network}`, address, memo)
        await database.query('update exchanges set refund_address = $2, refund_memo = $3 where id = $1', [
          exchangeId,
          checked.address,
          checked.memo,
        ])
        print({ exchangeId, refundAddress: checked.address, next: `swapyard exchanges refund ${exchangeId}` })
      }),
    )
}

function addKeystoreCommands(program: Command): void {
  const keystores = program.command('keystore').description("the house's keys")
  keystores
    .command('create')
    .description('makes the keys; their words are shown once and are the backup')
    .option('--from-words <file>', 'restores the keys of these words instead')
    .action(async ({ fromWords }: { fromWords?: string }) => {
      const { keystore } = loadConfig()
      if (keystore.passphrase === null) fail('set SWAPYARD_KEYSTORE_PASSPHRASE, or SWAPYARD_KEYSTORE_PASSPHRASE_FILE')
      const given = fromWords === undefined ? undefined : readFileSync(fromWords, 'utf8').trim().split(/\s+/).join(' ')
      const { coinTypes } = await import('../start.ts')
      const words = await createKeystore(keystore.file, keystore.passphrase, coinTypes, given)
      if (given !== undefined) print({ file: keystore.file, restored: true, next: 'swapyard keystore addresses' })
      else print({ file: keystore.file, words, note: 'shown once: write the words down' })
    })
  keystores
    .command('export-public <file>')
    .description('writes the public half alone, for machines that only answer partners: --role api runs with it')
    .action(async (file: string) => {
      await exportPublicKeys(loadConfig().keystore.file, file)
      print({ file, next: 'SWAPYARD_KEYSTORE names it on the machine of --role api' })
    })
  keystores
    .command('addresses')
    .description('hot wallet and first deposit address of every network, for a look at a restored keystore')
    .action(() => {
      for (const [network, { addresses }] of openAddresses(loadConfig()))
        print({ network, hot: addresses.hot(), firstDeposit: addresses.deposit(0).address })
    })
}
