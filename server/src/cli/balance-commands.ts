import type { Command } from 'commander'
import type { Database } from '../adapters/postgres/core/database.ts'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import { payeeMacsOf } from '../app/payee-macs.ts'
import type { Config } from '../config/load.ts'
import { formatUnits, parseUnits } from '../core/domain/amount.ts'
import type { AssetId } from '../core/domain/asset.ts'
import { createOperateBalances } from '../exchange/operations/operate-balances.ts'
import { checkDestination } from './addresses.ts'
import { promptReason, type ReasonOption, withReason } from './audit-note.ts'
import { withDatabase } from './database.ts'
import { decimalsOf, findPartner, listedCurrency } from './lookup.ts'
import { print } from './print.ts'

const LISTED_MAX = 1_000

type PayOutOptions = ReasonOption & Readonly<{ key: string; memo?: string }>

/** What we owe outside of exchanges: `swapyard partners balances|pay-out`, `swapyard unclaimed list|pay-out`. */
export function addBalanceCommands(partners: Command, program: Command): void {
  partners
    .command('balances <name>')
    .description(
      'lists the balances of a partner: fees, those of swaps (0x…@network) included, and proceeds of exchanges without an address',
    )
    .action((name: string) =>
      withDatabase(async (database, config) => {
        const { id } = await findPartner(database, name)
        for (const [currency, units] of await operateOn(database, config).balances(id))
          print({ name, currency, amount: formatUnits(units, await decimalsOf(database, currency)) })
      }),
    )
  withReason(partners.command('pay-out <name> <currency> <address> <amount>'))
    .description('pays from a partner’s balance; currency as ticker@network. We pay the network fee')
    .requiredOption('--key <key>', 'idempotency key: a repeated pay-out with the same key is paid once')
    .option('--memo <memo>', 'memo of the address')
    .action(payOut)
  const deposits = program.command('unclaimed').description('deposits without a known owner')
  deposits
    .command('list')
    .description('lists deposits of closed exchanges and deposits with an unknown memo')
    .action(() =>
      withDatabase(async (database) => {
        for (const { assetId, units, ...deposit } of await createStore(database).operator.listUnclaimed(LISTED_MAX))
          print({ ...deposit, currency: assetId, amount: formatUnits(units, listedCurrency(assetId).decimals) })
      }),
    )
  withReason(deposits.command('pay-out <depositId> <address>'))
    .description('pays a deposit to its owner, in full')
    .option('--memo <memo>', 'memo of the address')
    .action(payUnclaimed)
}

async function payOut(
  name: string,
  currency: string,
  address: string,
  amount: string,
  { key, memo, reason }: PayOutOptions,
): Promise<void> {
  const note = await promptReason({ reason })
  await withDatabase(async (database, config) => {
    const partner = await findPartner(database, name)
    const { assetId, ...destination } = await checkDestination(config, database, currency, address, memo)
    const currencyDefinition = listedCurrency(assetId)
    const units = parseUnits(amount, { ...currencyDefinition, id: assetId })
    const request = { assetId, network: currencyDefinition.network, units, destination }
    const paid = await operateOn(database, config).payOut(partner, request, key, note)
    print({ name, currency: assetId, amount, address: destination.address, ...paid })
  })
}

async function payUnclaimed(
  depositId: string,
  address: string,
  { memo, reason }: ReasonOption & { memo?: string },
): Promise<void> {
  const note = await promptReason({ reason })
  await withDatabase(async (database, config) => {
    const check = async (currency: AssetId) => {
      const { assetId: _, ...destination } = await checkDestination(config, database, currency, address, memo)
      return destination
    }
    const paid = await operateOn(database, config).payUnclaimed(depositId, check, note)
    print({ depositId, ...paid, amount: formatUnits(paid.units, listedCurrency(paid.assetId).decimals) })
  })
}

/** Errors show amounts in coins: base units with eighteen digits are misread. */
const operateOn = (database: Database, config: Config) =>
  createOperateBalances(
    createStore(database, payeeMacsOf(config)),
    (units, id) => `${formatUnits(units, listedCurrency(id).decimals)} ${id}`,
  )

/** Swap fees are in tokens that need not be listed. */
