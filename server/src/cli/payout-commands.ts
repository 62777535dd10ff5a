import type { Command } from 'commander'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import type { AuditNote } from '../core/services/audit-note.ts'
import { createOperatePayouts } from '../exchange/operations/operate-payouts.ts'
import { type ReasonOption, toAuditNote, withRequiredReason } from './audit-note.ts'
import { printRows, withDatabase } from './database.ts'
import { print } from './print.ts'

const LISTED_MAX = 1_000

type Decide = (operate: ReturnType<typeof createOperatePayouts>, note: AuditNote) => Promise<unknown>

const run = ({ reason }: ReasonOption, decide: Decide): Promise<void> =>
  withDatabase(async (database) => {
    print(await decide(createOperatePayouts(createStore(database)), toAuditNote({ reason: reason ?? '' })))
  })

/** `swapyard payouts …` and `swapyard fundings …`: payouts and deposits that belong to no exchange. */
export function addPayoutCommands(program: Command): void {
  const payouts = program.command('payouts').description('payouts that wait for the operator')
  payouts
    .command('list')
    .description('lists held payouts and the reasons')
    .action(() => printRows((database) => createStore(database).operator.listHeldPayouts(LISTED_MAX)))
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
      .action((payoutId: string, options: ReasonOption) =>
        run(options, async (operate, note) => {
          const { purpose, network } = await operate[decision](payoutId, note)
          return { payoutId, decision, purpose, network }
        }),
      )
  }
  withRequiredReason(payouts.command('conflict <transactionId>'))
    .description('names the conflicting transaction; its payouts are signed again once every node shows the conflict')
    .requiredOption('--spent-by <txHash>', 'the transaction that spent its input or used its nonce')
    .action((transactionId: string, options: ReasonOption & { spentBy: string }) =>
      run(options, async (operate, note) => {
        await operate.setConflictingTransaction(transactionId, options.spentBy, note)
        return { transactionId, spentBy: options.spentBy, next: 'swapyard alarms' }
      }),
    )
  withRequiredReason(payouts.command('add-funding <transactionId>'))
    .description('broadcasts the transaction that created a missing input, so that the payout can be mined')
    .requiredOption('--raw <hex>', 'its bytes, from any explorer or node that has them')
    .action((transactionId: string, options: ReasonOption & { raw: string }) =>
      run(options, async (operate, note) => {
        await operate.addFundingTransaction(transactionId, options.raw.toLowerCase(), note)
        return { transactionId, next: 'swapyard alarms' }
      }),
    )
  withRequiredReason(payouts.command('release-input <network> <outpoint>'))
    .description('lets payouts spend an output again that was quarantined because another input was invalid')
    .action((network: string, outpoint: string, options: ReasonOption) =>
      run(options, async (operate, note) => {
        await operate.releaseInput(network, outpoint, note)
        return { network, outpoint }
      }),
    )
  const fundings = program.command('fundings').description('deposits outside of every exchange')
  withRequiredReason(fundings.command('claim <depositId>'))
    .description(
      'books coins that arrived at a hot wallet for no exchange as your capital; swapyard unclaimed list shows them',
    )
    .action((depositId: string, options: ReasonOption) =>
      run(options, (operate, note) => operate.claim(depositId, note)),
    )
}
