import type { Command } from 'commander'
import type { Database } from '../adapters/postgres/core/database.ts'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import { openAddresses } from '../app/addresses.ts'
import { payeeMacsOf } from '../app/payee-macs.ts'
import type { Config } from '../config/load.ts'
import { formatUnits, parseUnits } from '../core/domain/amount.ts'
import { createOperateBalances } from '../exchange/operations/operate-balances.ts'
import { planNow } from '../exchange/payouts/plan-outputs.ts'
import { checkDestination } from './addresses.ts'
import { promptReason, type ReasonOption, withReason } from './audit-note.ts'
import { withDatabase } from './database.ts'
import { listedCurrency } from './lookup.ts'
import { fail, print } from './print.ts'

type Options = ReasonOption & Readonly<{ key: string }>

/** `swapyard treasury …`: moves the operator's own coins from a hot wallet to a cold one. */
export function addTreasuryCommands(program: Command): void {
  const treasury = program
    .command('treasury')
    .description('moves your own coins to your cold wallets, and tends the outputs of the hot ones')
  const add = (name: string, description: string) =>
    withReason(treasury.command(`${name} <currency> <amount> <address>`))
      .description(description)
      .requiredOption('--key <key>', 'idempotency key: a repeat with the same key withdraws once')
  add(
    'withdraw',
    'withdraws free capital to an address of treasury.coldAddresses; currency as ticker@network. The wallet pays the network fee',
  ).action((currency: string, amount: string, address: string, options: Options) =>
    run(currency, amount, address, options, async (operate, request, units, note) => {
      const { payoutId, state, repeated } = await operate.withdraw({ ...request, units }, options.key, note)
      return { payoutId, state, repeated, units }
    }),
  )
  add('ceiling', 'withdraws what the hot wallet holds above the amount, as far as it is free').action(
    (currency: string, amount: string, address: string, options: Options) =>
      run(currency, amount, address, options, (operate, request, ceilingUnits, note) =>
        operate.withdrawAbove(request, ceilingUnits, options.key, note),
      ),
  )
  addOutputCommands(treasury)
}

/** `swapyard treasury split|consolidate NETWORK`: the worker signs what they queue. */
function addOutputCommands(treasury: Command): void {
  const add = (purpose: 'split' | 'consolidate', description: string) =>
    withReason(treasury.command(`${purpose} <network>`))
      .description(description)
      .action((network: string, options: ReasonOption) => planOutputs(purpose, network, options))
  add('split', 'splits a hot wallet of the bitcoin family into bitcoin.outputsReady outputs')
  add('consolidate', 'merges the small outputs of a hot wallet of the bitcoin family, whatever the fee rate is')
}

async function planOutputs(purpose: 'split' | 'consolidate', network: string, { reason }: ReasonOption): Promise<void> {
  const note = await promptReason({ reason })
  await withDatabase(async (database: Database, config: Config) => {
    const wallet = openAddresses(config).get(network)
    if (!wallet) return fail(`${network} is not a network of this keystore`)
    const { payoutIds, units } = await planNow(createStore(database), wallet, purpose, config.outputs, note)
    print({ network, purpose, payoutIds, units })
  })
}

type Operate = ReturnType<typeof createOperateBalances>
type Request = Parameters<Operate['withdrawAbove']>[0]
type Note = Parameters<Operate['withdraw']>[2]

async function run(
  currency: string,
  amount: string,
  address: string,
  { reason }: Options,
  work: (operate: Operate, request: Request, units: bigint, note: Note) => ReturnType<Operate['withdrawAbove']>,
): Promise<void> {
  const note = await promptReason({ reason })
  await withDatabase(async (database: Database, config: Config) => {
    const { assetId, ...destination } = await checkDestination(config, database, currency, address, undefined)
    const definition = listedCurrency(assetId)
    const { network } = definition
    if (!isCold(config, network, destination.address))
      fail(`${network}:${destination.address} is not in treasury.coldAddresses`)
    const operate = createOperateBalances(
      createStore(database, payeeMacsOf(config)),
      (units, id) => `${formatUnits(units, listedCurrency(id).decimals)} ${id}`,
    )
    const units = parseUnits(amount, { ...definition, id: assetId })
    const done = await work(operate, { assetId, network, destination }, units, note)
    print({
      ...{ currency: assetId, amount: formatUnits(done.units, definition.decimals), address: destination.address },
      ...{ payoutId: done.payoutId, state: done.state, repeated: done.repeated },
    })
  })
}

function isCold(config: Config, network: string, address: string): boolean {
  const addresses = openAddresses(config).get(network)?.addresses
  return config.coldAddresses.some(
    (cold) => cold.startsWith(`${network}:`) && addresses?.parse(cold.slice(network.length + 1)) === address,
  )
}
