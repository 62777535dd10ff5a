import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { listKeyIndexes } from '../adapters/postgres/exchange/key-indexes.ts'
import { createKeystore, exportPublicKeys } from '../adapters/signers/keystore.ts'
import { openAddresses } from '../app/addresses.ts'
import { envExample, settingsPage } from '../config/describe.ts'
import { loadConfig, requireNamedEnvironment, requireProduction } from '../config/load.ts'
import type { Environment } from '../core/domain/network.ts'
import { printRead, readRows } from './act.ts'
import { addAlarmCommands } from './alarm-commands.ts'
import { withDatabase } from './database.ts'
import { addExchangeCommands } from './exchange-commands.ts'
import { addIdentityCommands } from './identity-commands.ts'
import { addLedgerCommands } from './ledger-commands.ts'
import { addMigrateCommand } from './migrate-command.ts'
import { addPauseCommands } from './pause-commands.ts'
import { addPayoutCommands } from './payout-commands.ts'
import { addPoolCommands } from './pool-commands.ts'
import { addPriceCommands } from './price-commands.ts'
import { fail, integerBetween, print } from './print.ts'
import { addReportCommands } from './report-commands.ts'
import { addRescanCommand } from './rescan-command.ts'
import { addSignerCommands } from './signer-commands.ts'
import { addTreasuryCommands } from './treasury-commands.ts'
import { addWebhookCommands } from './webhook-commands.ts'

const PAGE_MAX = 500

/** The operator's commands: keys, pauses, held exchanges and payouts, alarms, settings, audit log. */
export function addOperatorCommands(program: Command): void {
  addKeystoreCommands(program)
  addSignerCommands(program)
  addPayoutCommands(program)
  addPauseCommands(program)
  addPoolCommands(program)
  addTreasuryCommands(program)
  addRescanCommand(program)
  addMigrateCommand(program)
  addAlarmCommands(program)
  addWebhookCommands(program)
  program
    .command('status')
    .description('shows what needs attention: open exchanges, held ones, alarms, lag; with --url')
    .action(() => printRead('overview'))
  program
    .command('wallets')
    .alias('balances')
    .description('lists what the hot wallets hold, what of it is available, kept for network fees, and free capital')
    .action(() => printRead('wallets'))
  program
    .command('networks')
    .description('lists the networks with their nodes, last block and lag; with --url')
    .action(() => printRead('networks'))
  program
    .command('settings')
    .description('prints every environment variable with its meaning, as in .env.example')
    .option('--write', 'writes .env.example and docs/settings.md of this checkout', false)
    .action(({ write }: { write: boolean }) => {
      if (!write) return console.log(envExample())
      const root = join(import.meta.dirname, '../../..')
      writeFileSync(join(root, '.env.example'), envExample())
      writeFileSync(join(root, 'docs/settings.md'), settingsPage())
    })
  program
    .command('config')
    .description('the configuration')
    .command('check')
    .description(
      'reports every problem of the environment and of the config file, as a start would, and starts nothing',
    )
    .option('--sandbox', 'allows an environment without a production config', false)
    .action(({ sandbox }: { sandbox: boolean }) => {
      const config = loadConfig()
      if (!sandbox) requireProduction(config)
      print({ environment: config.environment, networks: [...config.networks.keys()], problems: 0 })
    })
  addPriceCommands(program)
  addExchangeCommands(program)
  addLedgerCommands(program)
  addReportCommands(program)
  const audit = program.command('audit').description('the log of operator actions')
  audit
    .command('list')
    .description('lists the newest actions with their actor and reason, the newest first')
    .option('--limit <count>', 'how many', integerBetween(1, 10_000), 100)
    .action(({ limit }: { limit: number }) => listActs(limit))
  audit
    .command('verify')
    .description('verifies the hash chain of the log; keep the printed head and compare it with the next one')
    .action(async () => {
      const [verified] = await readRows('auditVerification')
      const { kind, acts, head, row, why } = verified ?? {}
      if (kind === 'broken') fail(`row ${row} of operator_acts: ${why}`)
      print({ kind, acts, head })
    })
  addIdentityCommands(program)
}

/** Pages of at most 500 rows, until enough are listed. */
async function listActs(limit: number): Promise<void> {
  let left = limit
  let cursor = ''
  while (left > 0) {
    const rows = await readRows('audit', {
      limit: String(Math.min(left, PAGE_MAX)),
      ...(cursor === '' ? {} : { cursor }),
    })
    for (const { hash: _, ...row } of rows) print(row)
    left -= rows.length
    cursor = String(rows.at(-1)?.['id'] ?? '')
    if (rows.length < PAGE_MAX) return
  }
}

function addKeystoreCommands(program: Command): void {
  const keystores = program.command('keystore').description('our keys')
  keystores
    .command('create')
    .description('creates the keys; the words are shown once and are the backup')
    .option('--from-words <file>', 'restores the keys from these words instead')
    .action(async ({ fromWords }: { fromWords?: string }) => {
      const { keystore } = loadConfig()
      if (keystore.passphrase === null) fail('set SWAPYARD_KEYSTORE_PASSPHRASE or SWAPYARD_KEYSTORE_PASSPHRASE_FILE')
      const backup = fromWords === undefined ? undefined : readFileSync(fromWords, 'utf8').trim().split(/\s+/).join(' ')
      const { coinTypes } = await import('../app/keys.ts')
      const words = await createKeystore(keystore.file, keystore.passphrase, coinTypes, backup)
      if (backup !== undefined) print({ file: keystore.file, restored: true, next: 'swapyard keystore addresses' })
      else print({ file: keystore.file, words, note: 'shown only once: write the words down' })
    })
  keystores
    .command('export-public <file>')
    .description('writes only the public keys, for machines that run --role api')
    .action(async (file: string) => {
      await exportPublicKeys(loadConfig().keystore.file, file)
      print({ file, next: 'set SWAPYARD_KEYSTORE to this file on the machine of --role api' })
    })
  keystores
    .command('addresses')
    .description('lists the hot wallet and the first deposit address of every network, to check a restored keystore')
    .addOption(
      new Option('--environment <name>', 'whose addresses; by default those of SWAPYARD_CONFIG').choices([
        'production',
        'sandbox',
      ]),
    )
    .action((options: { environment?: Environment }) => {
      const config = loadConfig()
      // The same keys have other addresses in each environment, and coins are sent to what is printed here.
      if (options.environment === undefined) requireNamedEnvironment(config, 'or choose by --environment')
      const environment = options.environment ?? config.environment
      for (const [network, { addresses }] of openAddresses({ ...config, environment }))
        print({ environment, network, hot: addresses.hot(), firstDeposit: addresses.deposit(0).address })
    })
  keystores
    .command('indexes')
    .description('lists the key index of each address that has received coins, to recover them without this database')
    .option('--all', 'also unpaid deposit addresses')
    .action(({ all = false }: { all?: boolean }) =>
      withDatabase(async (database) => {
        for await (const key of listKeyIndexes(database, !all)) print(key)
      }),
    )
}
