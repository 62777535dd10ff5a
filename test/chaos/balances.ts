import type { BitcoinTicker } from '../../sandbox/src/bitcoin/addresses.ts'
import { readEvmBalance, readEvmReceived } from '../support/evm-balance.ts'
import type { NodeBalances } from '../support/holdings.ts'
import { sumReceived } from '../support/monero-wallet.ts'
import { type CallNode, listUnspent, readUtxoReceived, sumUnits } from '../support/utxo-wallets.ts'
import type { Fleet } from './fleet.ts'
import { readMoneroReceived, readWalletOutputs } from './monero.ts'

const BATCH = 20

type AssetAddress = readonly [asset: string, address: string]
const toAddresses = (pairs: readonly AssetAddress[]) => pairs.map(([, address]) => address)

/** Confirmed balances of addresses, read from the nodes. The keys are `asset address`. */
export async function readBalances(
  fleet: Fleet,
  requested: readonly AssetAddress[],
): Promise<ReadonlyMap<string, bigint>> {
  const balances = new Map<string, bigint>()
  const ofNetwork = Map.groupBy(requested, ([asset]) => asset.split('@')[1] ?? '')
  for (const [network, pairs] of ofNetwork) {
    if (network === 'btc' || network === 'ltc') {
      const outputs = Map.groupBy(await listOutputs(fleet, network, toAddresses(pairs)), ({ address }) => address)
      for (const [asset, address] of pairs) balances.set(`${asset} ${address}`, sumUnits(outputs.get(address) ?? []))
      continue
    }
    if (network === 'xmr') {
      for (const [asset, address] of pairs)
        balances.set(`${asset} ${address}`, await readMoneroReceived(fleet, address))
      continue
    }
    for (let from = 0; from < pairs.length; from += BATCH) {
      await Promise.all(
        pairs
          .slice(from, from + BATCH)
          .map(async ([asset, address]) =>
            balances.set(`${asset} ${address}`, await readEvmAsset(fleet, network, asset, address)),
          ),
      )
    }
  }
  return balances
}

/** Hashes of the transactions whose outputs an address of a UTXO network holds. Other networks have no such index. */
export async function listPayers(
  fleet: Fleet,
  requested: readonly AssetAddress[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const payers = new Map<string, readonly string[]>()
  for (const network of ['btc', 'ltc'] as const) {
    const pairs = requested.filter(([asset]) => asset.endsWith(`@${network}`))
    const outputs = await listOutputs(fleet, network, toAddresses(pairs))
    for (const [address, held] of Map.groupBy(outputs, (output) => output.address))
      payers.set(
        address,
        held.map(({ txid }) => txid),
      )
  }
  return payers
}

/** What the nodes of a fleet's networks show. Of Monero, what a wallet that is restored from the keys finds. */
export function createNodeBalances(fleet: Fleet): NodeBalances {
  return {
    async outputs(network, addresses) {
      if (network === 'xmr') return sumUnits(await readWalletOutputs(fleet))
      if (network !== 'btc' && network !== 'ltc') throw new Error(`the suite cannot read outputs of ${network}`)
      return sumUnits(await listOutputs(fleet, network, addresses))
    },
    account: (network, address, contract) => readEvmBalance(callerOf(fleet, network), address, contract),
    async received(network, payment) {
      const { txHash, address, contract } = payment
      if (network === 'xmr') return sumReceived(await readWalletOutputs(fleet), payment)
      if (network === 'btc' || network === 'ltc')
        return readUtxoReceived(callerOf(fleet, network), network, txHash, address)
      return readEvmReceived(callerOf(fleet, network), txHash, address, contract)
    },
  }
}

async function readEvmAsset(fleet: Fleet, network: string, asset: string, address: string): Promise<bigint> {
  const [ticker = ''] = asset.split('@')
  const contract = fleet.cluster.chains.networks.find((one) => one.network === network)?.tokens[ticker]
  return readEvmBalance(callerOf(fleet, network), address, contract ?? null)
}

const callerOf =
  ({ cluster }: Fleet, network: string): CallNode =>
  (method, params) =>
    cluster.call(network, method, params)

const listOutputs = (fleet: Fleet, network: BitcoinTicker, addresses: readonly string[]) =>
  listUnspent(callerOf(fleet, network), network, addresses)
