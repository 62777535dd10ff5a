import type { Command } from 'commander'
import { describeFault } from '../exchange/operations/check-ledger.ts'
import type { LedgerFault } from '../exchange/ports/store/reconciliation.ts'
import { printRead, readRows } from './act.ts'
import { fail, print } from './print.ts'

export function addLedgerCommands(program: Command): void {
  const ledger = program.command('ledger').description('the double-entry ledger')
  ledger
    .command('check')
    .description('checks that the balances of each asset sum to zero and that each balance equals its postings')
    .action(async () => {
      const [found] = await readRows('ledgerFaults')
      const faults = (found?.['list'] ?? []) as readonly LedgerFault[]
      for (const fault of faults) print(fault)
      const [first] = faults
      if (first) fail(`${faults.length} faults in the ledger; ${describeFault(first)}`)
      print({ faults: 0 })
    })
  ledger
    .command('entries <exchangeId>')
    .description('lists the journal entries of an exchange with their postings')
    .action((exchangeId: string) => printRead('ledgerEntries', { exchangeId }))
}
