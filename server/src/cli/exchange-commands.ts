import type { Command } from 'commander'
import type { Database } from '../adapters/postgres/core/database.ts'
import { tellExchange } from '../adapters/postgres/exchange/exchange-details.ts'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import { decisions } from '../exchange/domain/lifecycle.ts'
import { createOperateExchanges } from '../exchange/operations/operate-exchanges.ts'
import { checkDestination } from './addresses.ts'
import { askWord, reasoned, type WithReason } from './audit-note.ts'
import { withDatabase } from './database.ts'
import { fail, print } from './print.ts'

const meanings = {
  release: 'lets it go on to where it was going: a payout is paid, a refund is sent back',
  refund: 'sends back what came in',
  convert: 'converts after all what was on its way back',
  fail: 'closes it; what came in stays for whoever claims it',
} as const

/** `swapyard exchanges …`: one is shown whole; a held execution moves on by a person's word alone. */
export function addExchangeCommands(program: Command): void {
  const exchanges = program.command('exchanges').description('one exchange, and what is held of it')
  for (const decision of decisions) {
    reasoned(exchanges.command(`${decision} <exchangeId>`))
      .description(meanings[decision])
      .option('--deposit <deposit>', 'which one, where several are held: its number or its transaction')
      .action(async (exchangeId: string, given: WithReason & { deposit?: string }) => {
        const word = await askWord(given)
        await withDatabase(async (database) => {
          const operate = createOperateExchanges(createStore(database))
          const { depositId, txHash } = await operate.decide(exchangeId, decision, given.deposit ?? null, word)
          print({ exchangeId, decision, deposit: depositId, txHash })
        })
      })
  }
  exchanges
    .command('show <exchangeId>')
    .description('all that is known of one exchange: addresses, legs, payouts, events, and why it goes through what')
    .action((exchangeId: string) => withDatabase((database) => show(database, exchangeId)))
  reasoned(exchanges.command('set-refund <exchangeId> <address>'))
    .description('names the refund address of a held exchange')
    .option('--memo <memo>', 'memo of the address')
    .action(async (exchangeId: string, address: string, given: WithReason & { memo?: string }) => {
      const word = await askWord(given)
      await withDatabase(async (database, config) => {
        const check = (assetId: string) => checkDestination(config, database, assetId, address, given.memo)
        const checked = await createOperateExchanges(createStore(database)).setRefund(exchangeId, check, word)
        print({ exchangeId, refundAddress: checked.address, next: `swapyard exchanges refund ${exchangeId}` })
      })
    })
}

/** A line for each part, `what` first. Of a private exchange both ends are in it: it is for no log. */
async function show(database: Database, exchangeId: string): Promise<void> {
  const told = await tellExchange(database, exchangeId)
  if (!told) fail(`there is no exchange ${exchangeId}`)
  print({ what: 'exchange', ...told.exchange })
  if (told.plan) {
    const { considered, ...drawn } = told.plan
    print({ what: 'plan', ...drawn })
    for (const one of considered) print({ what: 'considered', ...one })
  }
  for (const part of told.parts) print(part)
}
