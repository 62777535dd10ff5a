import type { Command } from 'commander'
import { createFeeAccounts } from '../adapters/postgres/swap/fee-accounts.ts'
import type { Config } from '../config/load.ts'
import { formatUnits } from '../core/domain/amount.ts'
import type { AssetId } from '../core/domain/asset.ts'
import type { SwapNetwork } from '../swap/networks.ts'
import { act, printRead } from './act.ts'
import { type ReasonOption, withReason } from './audit-note.ts'
import { withDatabase } from './database.ts'
import { integer, print } from './print.ts'
import { readOffer } from './swap-offer.ts'
import { adminUrl } from './target.ts'

type SwapNetworks = ReadonlyMap<string, SwapNetwork>

/** Swap fees that the operator holds for partners: `swapyard partners fees|fees-paid|fees-unclaimed|fees-search`. */
export function addFeeCommands(partners: Command): void {
  partners
    .command('fees')
    .description('lists swap fees at the operator’s addresses, by the ledger and, on the server, by the chain')
    .action(() => (adminUrl() === null ? compareFees() : printRead('swapFees')))
  withReason(partners.command('fees-paid <name> <network> <token> <address> <hash>'))
    .description('books fees that you sent to a partner’s address, as the transaction on chain shows them')
    .option('--from <address>', 'the address that sent them; the configured fee address by default')
    .action(
      (
        name: string,
        network: string,
        token: string,
        address: string,
        hash: string,
        { from, ...options }: ReasonOption & Readonly<{ from?: string }>,
      ) => act('partners-fees-paid', { name, network, token, address, hash, from }, options),
    )
  partners
    .command('fees-unclaimed')
    .description('lists fees at your addresses from swaps without a known partner')
    .action(() => printRead('unclaimedFees'))
  withReason(partners.command('fees-search'))
    .argument('<network>')
    .argument('<height>', 'the search starts after this block', integer)
    .description('searches blocks again for fees of unreported swaps; a fee is never booked twice')
    .action((network: string, height: number, options: ReasonOption) =>
      act('partners-fees-search', { network, height }, options),
    )
}

const compareFees = (): Promise<void> =>
  withDatabase(async (database, config) => {
    const feeAccounts = createFeeAccounts(database)
    const held = (await feeAccounts.listHeldFees()).filter(({ units }) => units > 0n)
    const networks: SwapNetworks = held.length === 0 ? new Map() : await openNetworks(config)
    for (const { address, assetId, units } of held) {
      const decimals = (await feeAccounts.findDecimals(assetId)) ?? 0
      const onChain = await balanceOf(networks, address, assetId)
      print({
        ...{ address, currency: assetId, amount: formatUnits(units, decimals) },
        onChain: onChain === null ? null : formatUnits(onChain, decimals),
      })
    }
  })

async function openNetworks(config: Config): Promise<SwapNetworks> {
  const { serveNetworks } = await import('../app/swaps.ts')
  return serveNetworks(config.environment, (await readOffer(config)).routing)
}

/** The balance on chain; null if the network has no node or no node answers. */
async function balanceOf(networks: SwapNetworks, address: string, assetId: AssetId): Promise<bigint | null> {
  const at = assetId.indexOf('@')
  const network = networks.get(assetId.slice(at + 1))
  return network === undefined ? null : network.chain.readBalance(address, assetId.slice(0, at)).catch(() => null)
}
