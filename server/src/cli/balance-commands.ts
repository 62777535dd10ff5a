import type { Command } from 'commander'
import { currencies } from '../../currencies/index.ts'
import type { Database } from '../adapters/postgres/core/database.ts'
import { partnerRow } from '../adapters/postgres/core/partners.ts'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import { createFeeAccounts } from '../adapters/postgres/swap/fee-accounts.ts'
import { formatUnits, parseUnits } from '../core/domain/amount.ts'
import { type AssetId, assetId } from '../core/domain/asset.ts'
import { createOperateBalances } from '../exchange/operations/operate-balances.ts'
import { checkDestination } from './addresses.ts'
import { askWord, reasoned, type WithReason } from './audit-note.ts'
import { withDatabase } from './database.ts'
import { fail, print } from './print.ts'

const LISTED_MAX = 1_000

/** What the house owes by no exchange: `swapyard partners balances|pay-out`, `swapyard unclaimed list|pay-out`. */
export function addBalanceCommands(partners: Command, program: Command): void {
  partners
    .command('balances <name>')
    .description(
      'what a partner has with us: fees, also of swaps (0x…@network), and proceeds of exchanges without an address',
    )
    .action((name: string) =>
      withDatabase(async (database) => {
        const { id } = await findPartner(database, name)
        for (const [currency, units] of await operateOn(database).balances(id))
          print({ name, currency, amount: formatUnits(units, await decimalsOf(database, currency)) })
      }),
    )
  reasoned(partners.command('pay-out <name> <currency> <address> <amount>'))
    .description('pays from a partner’s balance; currency as ticker@network. The house pays the network’s fee')
    .requiredOption('--key <key>', 'your own name for this pay-out: asked for twice under one key, it is paid once')
    .option('--memo <memo>', 'memo of the address')
    .action(
      async (name: string, currency: string, address: string, amount: string, given: WithReason & PayOutOptions) => {
        const word = await askWord(given)
        await withDatabase(async (database, config) => {
          const partner = await findPartner(database, name)
          const destination = await checkDestination(config, database, currency, address, given.memo)
          const listed = listing(destination.assetId)
          const units = parseUnits(amount, { ...listed, id: destination.assetId })
          const { address: to, memo } = destination
          const wanted = {
            assetId: destination.assetId,
            network: listed.network,
            units,
            destination: { address: to, memo },
          }
          const paid = await operateOn(database).payOut(partner, wanted, given.key, word)
          print({ name, currency: destination.assetId, amount, address: to, ...paid })
        })
      },
    )
  const unclaimed = program.command('unclaimed').description('coins that came in and that nobody is known to own')
  unclaimed
    .command('list')
    .description('deposits of closed exchanges, and with memos that are nobody’s')
    .action(() =>
      withDatabase(async (database) => {
        for (const { assetId: currency, units, ...kept } of await createStore(database).operator.listUnclaimed(LISTED_MAX))
          print({ ...kept, currency, amount: formatUnits(units, listing(currency).decimals) })
      }),
    )
  reasoned(unclaimed.command('pay-out <depositId> <address>'))
    .description('pays what came in with this deposit to its owner, as a whole')
    .option('--memo <memo>', 'memo of the address')
    .action(async (depositId: string, address: string, given: WithReason & { memo?: string }) => {
      const word = await askWord(given)
      await withDatabase(async (database, config) => {
        const check = async (currency: AssetId) => {
          const { address: to, memo } = await checkDestination(config, database, currency, address, given.memo)
          return { address: to, memo }
        }
        const paid = await operateOn(database).payUnclaimed(depositId, check, word)
        print({ depositId, ...paid, amount: formatUnits(paid.units, listing(paid.assetId).decimals) })
      })
    })
}

/** Refusals speak of coins: base units of eighteen digits are misread. */
const operateOn = (database: Database) =>
  createOperateBalances(createStore(database), (units, id) => `${formatUnits(units, listing(id).decimals)} ${id}`)

type PayOutOptions = Readonly<{ key: string; memo?: string }>

/** Fees of swaps are in tokens that need not be listed. */
async function decimalsOf(database: Database, id: AssetId): Promise<number> {
  return (await createFeeAccounts(database).findDecimals(id)) ?? listing(id).decimals
}

const listing = (id: AssetId) =>
  currencies.find(({ ticker, network }) => assetId(ticker, network) === id) ?? fail(`${id} is no listed currency`)

export async function findPartner(database: Database, name: string): Promise<{ id: string; name: string }> {
  const row = await partnerRow(database, name)
  return row ? { id: String(row['id']), name } : fail(`there is no partner ${name}`)
}
