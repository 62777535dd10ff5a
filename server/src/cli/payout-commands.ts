import { userInfo } from 'node:os'
import type { Command } from 'commander'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import type { AuditNote } from '../core/services/audit-note.ts'
import { createOperatePayouts } from '../exchange/operations/operate-payouts.ts'
import { withDatabase } from './database.ts'
import { print } from './print.ts'

const LISTED_MAX = 1_000

type Given = Readonly<{ reason: string; spentBy: string; raw: string }>
type Decide = (operate: ReturnType<typeof createOperatePayouts>, word: AuditNote) => Promise<unknown>

const run = ({ reason }: Pick<Given, 'reason'>, decide: Decide): Promise<void> =>
  withDatabase(async (database) => {
    print(await decide(createOperatePayouts(createStore(database)), { actor: userInfo().username, reason }))
  })

/** `swapyard payouts …` and `swapyard fundings …`: what no exchange decides. */
export function addPayoutCommands(program: Command): void {
  const payouts = program.command('payouts').description('payouts that wait for a person')
  payouts
    .command('list')
    .description('what is held, and why')
    .action(() =>
      withDatabase(async (database) => {
        for (const payout of await createStore(database).operator.listHeldPayouts(LISTED_MAX)) print(payout)
      }),
    )
  const decisions = [
    [
      'release',
      'a sweep, a gas supply or a withdrawal is tried again; a payout that its chain took back is paid again',
    ],
    ['drop', 'it is never paid by the house; a sweep is planned anew'],
  ] as const
  for (const [decision, meaning] of decisions) {
    payouts
      .command(`${decision} <payoutId>`)
      .description(meaning)
      .requiredOption('--reason <text>', 'why')
      .action((payoutId: string, given: Given) =>
        run(given, async (operate, word) => {
          const { purpose, network } = await operate[decision](payoutId, word)
          return { payoutId, decision, purpose, network }
        }),
      )
  }
  payouts
    .command('dead <transactionId>')
    .description('names what took the place of a signed transaction; it is signed anew once every node shows that')
    .requiredOption('--spent-by <txHash>', 'the transaction that spent its input, or used its nonce')
    .requiredOption('--reason <text>', 'why')
    .action((transactionId: string, given: Given) =>
      run(given, async (operate, word) => {
        await operate.setConflictingTransaction(transactionId, given.spentBy, word)
        return { transactionId, rival: given.spentBy, next: 'swapyard alarms' }
      }),
    )
  payouts
    .command('bring-back <transactionId>')
    .description('offers the transaction that made a coin which left the chain, so that what spends it can be mined')
    .requiredOption('--raw <hex>', 'its bytes, from any explorer or node that has them')
    .requiredOption('--reason <text>', 'why')
    .action((transactionId: string, given: Given) =>
      run(given, async (operate, word) => {
        await operate.addFundingTransaction(transactionId, given.raw.toLowerCase(), word)
        return { transactionId, next: 'swapyard alarms' }
      }),
    )
  program
    .command('fundings')
    .description('coins that came to the house outside of every exchange')
    .command('claim <depositId>')
    .description("coins with a memo that is nobody's are the house's own")
    .requiredOption('--reason <text>', 'why')
    .action((depositId: string, given: Given) => run(given, (operate, word) => operate.claim(depositId, word)))
}
