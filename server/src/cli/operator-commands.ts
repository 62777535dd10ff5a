import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import { createKeystore, exportPublicKeys } from '../adapters/signers/keystore.ts'
import { openAddresses } from '../app/addresses.ts'
import { loadConfig } from '../config/config.ts'
import { envExample, settingsPage } from '../config/describe.ts'
import { verifyAuditLog } from '../core/services/verify-audit-log.ts'
import { withDatabase } from './database.ts'
import { addExchangeCommands } from './exchange-commands.ts'
import { addPauseCommands } from './pause-commands.ts'
import { addPayoutCommands } from './payout-commands.ts'
import { fail, print } from './print.ts'
import { addSignerCommands } from './signer-commands.ts'

/** What an operator does at the command line: keys, pauses, held exchanges, alarms. */
export function addOperatorCommands(program: Command): void {
  addKeystoreCommands(program)
  addSignerCommands(program)
  addPayoutCommands(program)
  addPauseCommands(program)
  program
    .command('alarms')
    .description('what a person should look at')
    .action(() =>
      withDatabase(async (database) => {
        for (const alarm of await createStore(database).alarms.list(1_000)) print(alarm)
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
  addExchangeCommands(program)
  program
    .command('audit')
    .description('what operators did')
    .command('verify')
    .description('goes along the chain of their acts; keep the head, and compare it with the next one')
    .action(() =>
      withDatabase(async (database) => {
        const verified = await verifyAuditLog(createStore(database).auditLog)
        if (verified.kind === 'broken') fail(`row ${verified.row} of operator_acts: ${verified.why}`)
        print(verified)
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
      const { coinTypes } = await import('../app/keys.ts')
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
