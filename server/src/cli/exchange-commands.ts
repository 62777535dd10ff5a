import type { Command } from 'commander'
import { createStore } from '../adapters/postgres/store.ts'
import { decisions } from '../domain/lifecycle.ts'
import { createOperateExchanges } from '../services/operate-exchanges.ts'
import { checkDestination } from './addresses.ts'
import { withDatabase } from './open-house.ts'
import { print } from './print.ts'
import { askWord, reasoned, type WithReason } from './word.ts'

const meanings = {
  release: 'lets it go on to where it was going: a payout is paid, a refund is sent back',
  refund: 'sends back what came in',
  convert: 'converts after all what was on its way back',
  fail: 'closes it; what came in stays for whoever claims it',
} as const

/** `swapyard exchanges …`: a held execution moves on by a person's word alone. */
export function addExchangeCommands(program: Command): void {
  const exchanges = program.command('exchanges').description('held exchanges')
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
