import type { Command } from 'commander'
import { act, printRead } from './act.ts'
import { type ReasonOption, withReason } from './audit-note.ts'

type Memo = Readonly<{ memo?: string }>

/** What we owe outside of exchanges: `swapyard partners balances|pay-out`, `swapyard unclaimed list|pay-out`. */
export function addBalanceCommands(partners: Command, program: Command): void {
  partners
    .command('balances <name>')
    .description(
      'lists the balances of a partner: fees, those of swaps (0x…@network) included, and proceeds of exchanges without an address',
    )
    .action((name: string) => printRead('balances', { name }, (row) => ({ name, ...row })))
  withReason(partners.command('pay-out <name> <currency> <address> <amount>'))
    .description('pays from a partner’s balance; currency as ticker@network. We pay the network fee')
    .requiredOption('--key <key>', 'idempotency key: a repeated pay-out with the same key is paid once')
    .option('--memo <memo>', 'memo of the address')
    .action(
      (
        name: string,
        currency: string,
        address: string,
        amount: string,
        { key, memo, ...options }: ReasonOption & Memo & Readonly<{ key: string }>,
      ) => act('partners-pay-out', { name, currency, address, amount, key, memo }, options),
    )
  const deposits = program.command('unclaimed').description('deposits without a known owner')
  deposits
    .command('list')
    .description('lists deposits of closed exchanges and deposits with an unknown memo')
    .action(() => printRead('unclaimed'))
  withReason(deposits.command('pay-out <depositId> <address>'))
    .description('pays a deposit to its owner, in full')
    .option('--memo <memo>', 'memo of the address')
    .action((depositId: string, address: string, { memo, ...options }: ReasonOption & Memo) =>
      act('unclaimed-pay-out', { depositId, address, memo }, options),
    )
}
