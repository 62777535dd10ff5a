import type { Command } from 'commander'
import { act, printRead } from './act.ts'
import { type ReasonOption, withRequiredReason } from './audit-note.ts'

/** `swapyard payouts …` and `swapyard fundings …`: payouts and deposits that belong to no exchange. */
export function addPayoutCommands(program: Command): void {
  const payouts = program.command('payouts').description('payouts that wait for the operator')
  payouts
    .command('list')
    .description('lists held payouts and the reasons')
    .action(() => printRead('payouts', { attention: 'held' }))
  payouts
    .command('queue <network>')
    .description('lists unsigned payouts of a network in the order in which they are paid')
    .action((network: string) => printRead('queue', { network }))
  const decisions = [
    [
      'release',
      'retries a sweep, a gas supply or a withdrawal, or a payout that waits for a lower network fee; pays a payout again that a reorganisation reversed',
    ],
    ['drop', 'never pays it from our wallet; the deposits of a sweep are swept again later'],
  ] as const
  for (const [decision, meaning] of decisions) {
    withRequiredReason(payouts.command(`${decision} <payoutId>`))
      .description(meaning)
      .action((payoutId: string, options: ReasonOption) => act(`payouts-${decision}`, { payoutId }, options))
  }
  withRequiredReason(payouts.command('conflict <transactionId>'))
    .description('names the conflicting transaction; its payouts are signed again once every node shows the conflict')
    .requiredOption('--spent-by <txHash>', 'the transaction that spent its input or used its nonce')
    .action((transactionId: string, { spentBy, ...options }: ReasonOption & { spentBy: string }) =>
      act('payouts-conflict', { transactionId, spentBy }, options),
    )
  withRequiredReason(payouts.command('add-funding <transactionId>'))
    .description('broadcasts the transaction that created a missing input, so that the payout can be mined')
    .requiredOption('--raw <hex>', 'its bytes, from any explorer or node that has them')
    .action((transactionId: string, { raw, ...options }: ReasonOption & { raw: string }) =>
      act('payouts-add-funding', { transactionId, raw }, options),
    )
  withRequiredReason(payouts.command('release-input <network> <outpoint>'))
    .description('lets payouts spend an output again that an alarm names as quarantined')
    .action((network: string, outpoint: string, options: ReasonOption) =>
      act('payouts-release-input', { network, outpoint }, options),
    )
  const fundings = program.command('fundings').description('deposits outside of every exchange')
  withRequiredReason(fundings.command('claim <depositId>'))
    .description(
      'books coins that arrived at a hot wallet for no exchange as your capital; swapyard unclaimed list shows them',
    )
    .action((depositId: string, options: ReasonOption) => act('fundings-claim', { depositId }, options))
}
