import type { Command } from 'commander'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import { describeFault } from '../exchange/operations/check-ledger.ts'
import { withDatabase } from './database.ts'
import { fail, print } from './print.ts'

const FAULTS_MAX = 1_000

export function addLedgerCommands(program: Command): void {
  program
    .command('ledger')
    .description('the double-entry ledger')
    .command('check')
    .description('checks that the balances of each asset sum to zero and that each balance equals its postings')
    .action(() =>
      withDatabase(async (database) => {
        const faults = await createStore(database).reconciliation.ledgerFaults(FAULTS_MAX)
        for (const fault of faults) print(fault)
        const [first] = faults
        if (first) fail(`${faults.length} faults in the ledger; ${describeFault(first)}`)
        print({ faults: 0 })
      }),
    )
}
