import type { Command } from 'commander'
import { act } from './act.ts'
import { type ReasonOption, withReason } from './audit-note.ts'

type Options = ReasonOption & Readonly<{ key: string }>

/** `swapyard treasury …`: moves the operator's own coins from a hot wallet to a cold one. */
export function addTreasuryCommands(program: Command): void {
  const treasury = program
    .command('treasury')
    .description('moves your own coins to your cold wallets, and tends the outputs of the hot ones')
  const withdrawals = [
    [
      'withdraw',
      'withdraws free capital to an address of treasury.coldAddresses; currency as ticker@network. The wallet pays the network fee',
    ],
    ['ceiling', 'withdraws what the hot wallet holds above the amount, as far as it is free'],
  ] as const
  for (const [name, description] of withdrawals)
    withReason(treasury.command(`${name} <currency> <amount> <address>`))
      .description(description)
      .requiredOption('--key <key>', 'idempotency key: a repeat with the same key withdraws once')
      .action((currency: string, amount: string, address: string, { key, ...options }: Options) =>
        act(`treasury-${name}`, { currency, amount, address, key }, options),
      )
  const plans = [
    ['split', 'splits a hot wallet of the bitcoin family into bitcoin.outputsReady outputs'],
    ['consolidate', 'merges the small outputs of a hot wallet of the bitcoin family, whatever the fee rate is'],
  ] as const
  for (const [name, description] of plans)
    withReason(treasury.command(`${name} <network>`))
      .description(description)
      .action((network: string, options: ReasonOption) => act(`treasury-${name}`, { network }, options))
}
