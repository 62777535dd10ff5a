import type { Command } from 'commander'
import { createStore } from '../adapters/postgres/exchange/store.ts'
import { createFeeAccounts } from '../adapters/postgres/swap/fee-accounts.ts'
import { createSwapFeeStore } from '../adapters/postgres/swap/swap-fees.ts'
import { productionSwaps, sandboxSwaps, serveNetworks } from '../app/swaps.ts'
import type { Config } from '../config/config.ts'
import { formatUnits } from '../core/domain/amount.ts'
import type { AssetId } from '../core/domain/asset.ts'
import { canonicalNetwork } from '../core/domain/catalogue.ts'
import { type SwapNetwork, tokenAsset } from '../swap/networks.ts'
import { createBookFeePayment } from '../swap/track/operate-fees.ts'
import { askWord, reasoned, type WithReason } from './audit-note.ts'
import { findPartner } from './balance-commands.ts'
import { withDatabase } from './database.ts'
import { readSandbox } from './evm-nodes.ts'
import { fail, integer, print } from './print.ts'

type Served = ReadonlyMap<string, SwapNetwork>
const HASH = /^0x[0-9a-f]{64}$/

/** Referrer fees of swaps that the operator took for partners: `swapyard partners fees|fees-paid`. */
export function addFeeCommands(partners: Command): void {
  partners
    .command('fees')
    .description('referrer fees of swaps at the operator’s addresses, as the ledger and as the chain has them')
    .action(() =>
      withDatabase(async (database, config) => {
        const feeAccounts = createFeeAccounts(database)
        const held = (await feeAccounts.listHeldFees()).filter(({ units }) => units > 0n)
        const served = held.length === 0 ? new Map() : openNetworks(config)
        for (const { address, assetId, units } of held) {
          const decimals = (await feeAccounts.findDecimals(assetId)) ?? 0
          const onChain = await balanceOf(served, address, assetId)
          print({
            ...{ address, currency: assetId, amount: formatUnits(units, decimals) },
            onChain: onChain === null ? null : formatUnits(onChain, decimals),
          })
        }
      }),
    )
  reasoned(partners.command('fees-paid <name> <network> <token> <address> <hash>'))
    .description('books fees that you sent to a partner’s address from the one that takes them, as the chain says')
    .option('--from <address>', 'the address that took them; the one of the settings unless named')
    .action(
      async (
        name: string,
        ticker: string,
        token: string,
        address: string,
        hash: string,
        given: WithReason & { from?: string },
      ) => {
        const word = await askWord(given)
        await withDatabase(async (database, config) => {
          const id = canonicalNetwork(ticker)
          const network = openNetworks(config).get(id) ?? fail(`swaps on ${ticker} are not served here`)
          const no = (text: string) => fail(`${text} is no address of ${id}`)
          const account = (text: string) => network.chain.parseAccount(text) ?? no(text)
          if (!HASH.test(hash.toLowerCase())) fail(`${hash} is no hash of a transaction`)
          const from = given.from ?? offerOf(config).settings?.feeAddresses?.get(id)
          const paid = {
            hash: hash.toLowerCase(),
            token: network.chain.parse(token) ?? no(token),
            from: account(from ?? fail(`no address takes fees on ${id}: name it with --from`)),
            to: account(address),
          }
          const partner = await findPartner(database, name)
          const decimals = (await createFeeAccounts(database).findDecimals(tokenAsset(network, paid.token))) ?? 0
          const show = (units: bigint, assetId: AssetId) => `${formatUnits(units, decimals)} ${assetId}`
          const book = createBookFeePayment(createStore(database), show)
          const { assetId, units, repeated } = await book(partner, network, paid, word)
          const amount = formatUnits(units, decimals)
          print({ name, currency: assetId, amount, from: paid.from, address: paid.to, hash: paid.hash, repeated })
        })
      },
    )
}

const UNCLAIMED_MAX = 1_000

/** What the search for fees of untold swaps found: `swapyard partners fees-unclaimed|fees-search`. */
export function addFoundFeeCommands(partners: Command): void {
  partners
    .command('fees-unclaimed')
    .description(
      'fees at your addresses, and those of the coin that may be there, of swaps that nothing ties to a partner',
    )
    .action(() =>
      withDatabase(async (database) => {
        for (const fee of await createSwapFeeStore(database).unclaimed(UNCLAIMED_MAX)) print(fee)
      }),
    )
  partners
    .command('fees-search')
    .argument('<network>')
    .argument('<height>', 'blocks after this one', integer)
    .description('searches blocks again for fees of swaps that nobody told of; none is booked twice')
    .action((ticker: string, height: number) =>
      withDatabase(async (database) => {
        const network = canonicalNetwork(ticker)
        if (!(await createSwapFeeStore(database).searchAgain(network, height)))
          fail(`on ${network} no block after ${height} was searched yet`)
        print({ network, searchedTo: height })
      }),
    )
}

const offerOf = (config: Config) =>
  config.environment === 'sandbox'
    ? sandboxSwaps(readSandbox(config))
    : productionSwaps(
        [...config.networks].map(([network, { rpcUrls }]) => ({ network, rpcUrls })),
        config.swaps,
      )

const openNetworks = (config: Config): Served => serveNetworks(config.environment, offerOf(config).routing)

/** null where no node of the network answers, or none is known: the ledger's side is told in any case. */
async function balanceOf(served: Served, address: string, assetId: AssetId): Promise<bigint | null> {
  const at = assetId.indexOf('@')
  const network = served.get(assetId.slice(at + 1))
  return network === undefined ? null : network.chain.balance(address, assetId.slice(0, at)).catch(() => null)
}
