import type { Command } from 'commander'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import { createFeeAccounts } from '../adapters/postgres/swap/fee-accounts.ts'
import { createSwapFeeStore } from '../adapters/postgres/swap/swap-fees.ts'
import type { Config } from '../config/load.ts'
import { formatUnits } from '../core/domain/amount.ts'
import type { AssetId } from '../core/domain/asset.ts'
import { canonicalNetwork } from '../core/domain/catalogue.ts'
import { type SwapNetwork, tokenAsset } from '../swap/networks.ts'
import { createBookFeePayment } from '../swap/track/book-fee-payment.ts'
import { promptReason, type ReasonOption, withReason } from './audit-note.ts'
import { printRows, withDatabase } from './database.ts'
import { readSandbox } from './evm-nodes.ts'
import { findPartner } from './lookup.ts'
import { fail, integer, print } from './print.ts'

type SwapNetworks = ReadonlyMap<string, SwapNetwork>
const UNCLAIMED_MAX = 1_000

/** Swap fees that the operator holds for partners: `swapyard partners fees|fees-paid|fees-unclaimed|fees-search`. */
export function addFeeCommands(partners: Command): void {
  partners
    .command('fees')
    .description('lists swap fees at the operator’s addresses, by the ledger and by the chain')
    .action(() =>
      withDatabase(async (database, config) => {
        const feeAccounts = createFeeAccounts(database)
        const held = (await feeAccounts.listHeldFees()).filter(({ units }) => units > 0n)
        const networks: SwapNetworks = held.length === 0 ? new Map() : (await openSwaps(config)).networks
        for (const { address, assetId, units } of held) {
          const decimals = (await feeAccounts.findDecimals(assetId)) ?? 0
          const onChain = await balanceOf(networks, address, assetId)
          print({
            ...{ address, currency: assetId, amount: formatUnits(units, decimals) },
            onChain: onChain === null ? null : formatUnits(onChain, decimals),
          })
        }
      }),
    )
  withReason(partners.command('fees-paid <name> <network> <token> <address> <hash>'))
    .description('books fees that you sent to a partner’s address, as the transaction on chain shows them')
    .option('--from <address>', 'the address that sent them; the configured fee address by default')
    .action(bookPaidFees)
  partners
    .command('fees-unclaimed')
    .description('lists fees at your addresses from swaps without a known partner')
    .action(() => printRows((database) => createSwapFeeStore(database).listUnclaimed(UNCLAIMED_MAX)))
  partners
    .command('fees-search')
    .argument('<network>')
    .argument('<height>', 'the search starts after this block', integer)
    .description('searches blocks again for fees of unreported swaps; a fee is never booked twice')
    .action((ticker: string, height: number) =>
      withDatabase(async (database) => {
        const network = canonicalNetwork(ticker)
        if (!(await createSwapFeeStore(database).resetScan(network, height)))
          fail(`no block of ${network} after ${height} has been searched yet`)
        print({ network, searchedTo: height })
      }),
    )
}

type PaidFeesOptions = ReasonOption & Readonly<{ from?: string }>

async function bookPaidFees(
  name: string,
  ticker: string,
  token: string,
  address: string,
  hash: string,
  { reason, from }: PaidFeesOptions,
): Promise<void> {
  const note = await promptReason({ reason })
  await withDatabase(async (database, config) => {
    const id = canonicalNetwork(ticker)
    const { settings, networks } = await openSwaps(config)
    const network = networks.get(id) ?? fail(`swaps are not served on ${ticker}`)
    const refuse = (text: string) => fail(`${text} is not an address of ${id}`)
    const account = (text: string) => network.chain.parseAccount(text) ?? refuse(text)
    const sender = from ?? settings?.feeAddresses?.get(id)
    const paid = {
      hash: network.chain.parseHash(hash) ?? fail(`${hash} is not a transaction hash`),
      token: network.chain.parse(token) ?? refuse(token),
      from: account(sender ?? fail(`no fee address is configured for ${id}; name it with --from`)),
      to: account(address),
    }
    const partner = await findPartner(database, name)
    const decimals = (await createFeeAccounts(database).findDecimals(tokenAsset(network, paid.token))) ?? 0
    const show = (units: bigint, assetId: AssetId) => `${formatUnits(units, decimals)} ${assetId}`
    const book = createBookFeePayment(createStore(database), show)
    const { assetId, units, repeated } = await book(partner, network, paid, note)
    const amount = formatUnits(units, decimals)
    print({ name, currency: assetId, amount, from: paid.from, address: paid.to, hash: paid.hash, repeated })
  })
}

/** Imported here: most commands of partners need no chain, and start in half the time without. */
async function openSwaps(config: Config) {
  const { productionSwaps, sandboxSwaps, serveNetworks } = await import('../app/swaps.ts')
  const { settings, routing } =
    config.environment === 'sandbox'
      ? sandboxSwaps(readSandbox(config))
      : productionSwaps(
          [...config.networks].map(([network, { rpcUrls }]) => ({ network, rpcUrls })),
          config.swaps,
        )
  const networks: SwapNetworks = serveNetworks(config.environment, routing)
  return { settings, networks }
}

/** The balance on chain; null if the network has no node or no node answers. */
async function balanceOf(networks: SwapNetworks, address: string, assetId: AssetId): Promise<bigint | null> {
  const at = assetId.indexOf('@')
  const network = networks.get(assetId.slice(at + 1))
  return network === undefined ? null : network.chain.readBalance(address, assetId.slice(0, at)).catch(() => null)
}
