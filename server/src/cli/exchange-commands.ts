import type { Command } from 'commander'
import { decisionMeanings } from '../admin/actions/exchange-actions.ts'
import { decisions } from '../exchange/domain/lifecycle.ts'
import { act, printRead, readRows } from './act.ts'
import { type ReasonOption, withReason } from './audit-note.ts'
import { fail, print } from './print.ts'
import type { Reply } from './remote.ts'

type ListOptions = Readonly<{ status?: string; partner?: string; currency?: string; amount?: string; limit: string }>

/** `swapyard exchanges …`: shows exchanges, and decides about their held executions. */
export function addExchangeCommands(program: Command): void {
  const exchanges = program.command('exchanges').description('shows exchanges, and decides about held deposits')
  for (const decision of decisions) {
    withReason(exchanges.command(`${decision} <exchangeId>`))
      .description(decisionMeanings[decision])
      .option('--deposit <deposit>', 'number or transaction of the deposit, if several are held')
      .action((exchangeId: string, { deposit, ...options }: ReasonOption & { deposit?: string }) =>
        act(`exchanges-${decision}`, { exchangeId, deposit }, options),
      )
  }
  exchanges
    .command('list')
    .description('lists the newest exchanges')
    .option('--status <status>', 'only those in this status')
    .option('--partner <name>', 'only those of this partner')
    .option('--currency <currency>', 'only those from this currency, as ticker@network')
    .option('--amount <amount>', 'only those that ordered this amount, or received it; needs --currency')
    .option('--limit <count>', 'how many', '100')
    .action((options: ListOptions) => printRead('exchanges', { ...options }))
  exchanges
    .command('find <text>')
    .description(
      'finds exchanges by id, external id, deposit address, recipient, refund address, or the hash of a deposit, payout or refund',
    )
    .action((find: string) =>
      printRead('exchanges', { find }, ({ id, partner, status, foundBy }) => ({
        ...{ exchangeId: id, partner, status, by: foundBy },
      })),
    )
  exchanges
    .command('show <exchangeId>')
    .description('shows all of an exchange: addresses, legs, payouts, events and the choice of the intermediary')
    .action(show)
  exchanges
    .command('held')
    .description('lists held deposits, the longest waiting first')
    .action(() => printRead('held', {}, ({ actions: _, ...row }) => row))
  withReason(exchanges.command('set-refund <exchangeId> <address>'))
    .description('sets the refund address of a held exchange; a refund that waits for it is sent')
    .option('--memo <memo>', 'memo of the address')
    .action((exchangeId: string, address: string, { memo, ...options }: ReasonOption & { memo?: string }) =>
      act('exchanges-set-refund', { exchangeId, address, memo }, options),
    )
}

/** Prints one line per part, `what` first. It names both ends of a private exchange: never write it to a log. */
async function show(id: string): Promise<void> {
  const [details] = await readRows('exchange', { id })
  if (!details) fail(`there is no exchange ${id}`)
  const { exchange, plan, facts } = details as { exchange: object; plan: Plan | null; facts: readonly object[] }
  print({ what: 'exchange', ...exchange })
  if (plan) {
    const { considered, ...drawn } = plan
    print({ what: 'plan', ...drawn })
    for (const intermediary of considered) print({ what: 'considered', ...intermediary })
  }
  for (const part of facts) print(part)
}

type Plan = Reply & Readonly<{ considered: readonly object[] }>
