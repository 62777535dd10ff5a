import type { Command } from 'commander'
import { parseAddress } from '../adapters/chains/evm/address.ts'
import type { Database } from '../adapters/postgres/core/database.ts'
import { findExchanges, readExchangeDetails } from '../adapters/postgres/exchange/exchange-details.ts'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import { payeeMacsOf } from '../app/payee-macs.ts'
import { decisions } from '../exchange/domain/lifecycle.ts'
import { createOperateExchanges } from '../exchange/operations/operate-exchanges.ts'
import { checkDestination } from './addresses.ts'
import { promptReason, type ReasonOption, withReason } from './audit-note.ts'
import { printRows, withDatabase } from './database.ts'
import { fail, print } from './print.ts'

const meanings = {
  release: 'resumes it where it was held: a payout is paid, a refund is sent back',
  refund: 'sends the deposit back',
  convert: 'converts a deposit that was to be refunded',
  fail: 'closes it; the deposit stays until its owner claims it',
} as const

/** `swapyard exchanges …`: shows an exchange, and decides about its held executions. */
export function addExchangeCommands(program: Command): void {
  const exchanges = program.command('exchanges').description('shows an exchange, and decides about held deposits')
  for (const decision of decisions) {
    withReason(exchanges.command(`${decision} <exchangeId>`))
      .description(meanings[decision])
      .option('--deposit <deposit>', 'number or transaction of the deposit, if several are held')
      .action(async (exchangeId: string, options: ReasonOption & { deposit?: string }) => {
        const note = await promptReason(options)
        await withDatabase(async (database) => {
          const operate = createOperateExchanges(createStore(database))
          const { depositId, txHash } = await operate.decide(exchangeId, decision, options.deposit ?? null, note)
          print({ exchangeId, decision, deposit: depositId, txHash })
        })
      })
  }
  exchanges
    .command('find <text>')
    .description('finds exchanges by a deposit address, or by the hash of a deposit, payout or refund')
    .action((text: string) => printRows((database) => findExchanges(database, encodingsOf(text))))
  exchanges
    .command('show <exchangeId>')
    .description('shows all of an exchange: addresses, legs, payouts, events and the choice of the intermediary')
    .action((exchangeId: string) => withDatabase((database) => show(database, exchangeId)))
  withReason(exchanges.command('set-refund <exchangeId> <address>'))
    .description('sets the refund address of a held exchange; a refund that waits for it is sent')
    .option('--memo <memo>', 'memo of the address')
    .action(async (exchangeId: string, address: string, options: ReasonOption & { memo?: string }) => {
      const note = await promptReason(options)
      await withDatabase(async (database, config) => {
        const check = (assetId: string) => checkDestination(config, database, assetId, address, options.memo)
        const checked = await createOperateExchanges(createStore(database, payeeMacsOf(config))).setRefund(
          exchangeId,
          check,
          note,
        )
        print({ exchangeId, refundAddress: checked.address })
      })
    })
}

/** Hashes are stored in lower case, and addresses of accounts by EIP-55. */
function encodingsOf(text: string): readonly string[] {
  const lower = text.toLowerCase()
  return [...new Set([text, lower, parseAddress(lower) ?? text])]
}

/** Prints one line per part, `what` first. It names both ends of a private exchange: never write it to a log. */
async function show(database: Database, exchangeId: string): Promise<void> {
  const details = (await readExchangeDetails(database, exchangeId)) ?? fail(`there is no exchange ${exchangeId}`)
  print({ what: 'exchange', ...details.exchange })
  if (details.plan) {
    const { considered, ...drawn } = details.plan
    print({ what: 'plan', ...drawn })
    for (const intermediary of considered) print({ what: 'considered', ...intermediary })
  }
  for (const part of details.parts) print(part)
}
