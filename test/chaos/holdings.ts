import { type Hex, parseUnits } from 'viem'
import { type BitcoinTicker, scriptOfAddress } from '../../sandbox/src/bitcoin/addresses.ts'
import type { Json } from '../support/until.ts'
import type { Fleet } from './fleet.ts'
import { moneroReceived } from './monero.ts'

/** ERC-20 `balanceOf(address)`. */
const BALANCE_OF = '0x70a08231'
const BATCH = 20

/** What addresses hold in blocks, asked of the nodes: by `asset address`. */
export async function addressesHold(
  fleet: Fleet,
  wanted: readonly (readonly [asset: string, address: string])[],
): Promise<ReadonlyMap<string, bigint>> {
  const held = new Map<string, bigint>()
  const ofNetwork = Map.groupBy(wanted, ([asset]) => asset.split('@')[1] ?? '')
  for (const [network, pairs] of ofNetwork) {
    if (network === 'btc' || network === 'ltc') {
      const units = await unspent(
        fleet,
        network,
        pairs.map(([, address]) => address),
      )
      for (const [asset, address] of pairs) held.set(`${asset} ${address}`, units.get(address) ?? 0n)
      continue
    }
    if (network === 'xmr') {
      for (const [asset, address] of pairs) held.set(`${asset} ${address}`, await moneroReceived(fleet, address))
      continue
    }
    for (let from = 0; from < pairs.length; from += BATCH) {
      await Promise.all(
        pairs
          .slice(from, from + BATCH)
          .map(async ([asset, address]) =>
            held.set(`${asset} ${address}`, await balance(fleet, network, asset, address as Hex)),
          ),
      )
    }
  }
  return held
}

async function balance({ cluster }: Fleet, network: string, asset: string, address: Hex): Promise<bigint> {
  const [ticker = ''] = asset.split('@')
  const contract = cluster.chains.networks.find((one) => one.network === network)?.tokens[ticker]
  if (contract === undefined) return BigInt(await cluster.call(network, 'eth_getBalance', [address, 'latest']))
  return BigInt(
    await cluster.call(network, 'eth_call', [
      { to: contract, data: `${BALANCE_OF}${address.slice(2).padStart(64, '0')}` },
      'latest',
    ]),
  )
}

async function unspent(
  { cluster }: Fleet,
  network: BitcoinTicker,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  if (addresses.length === 0) return new Map()
  const byScript = new Map(
    addresses.map((address) => [Buffer.from(scriptOfAddress(network, address)).toString('hex'), address]),
  )
  const scan: Json = await cluster.call(network, 'scantxoutset', [
    'start',
    [...byScript.keys()].map((script) => `raw(${script})`),
  ])
  const held = new Map<string, bigint>()
  for (const { scriptPubKey, amount } of scan.unspents) {
    const address = byScript.get(scriptPubKey) ?? ''
    held.set(address, (held.get(address) ?? 0n) + parseUnits(Number(amount).toFixed(8), 8))
  }
  return held
}

/** Everything at the app's own addresses, less what came and is not counted: what the ledger's wallet should be. */
export async function bitcoinHolds(fleet: Fleet, network: string): Promise<bigint> {
  const rows = await fleet.database.query<{ address: string }>(
    'select address from house_addresses where network = $1 union select address from deposit_targets where network = $1',
    [network],
  )
  const held = await unspent(
    fleet,
    network === 'ltc' ? 'ltc' : 'btc',
    rows.map(({ address }) => address),
  )
  const [uncounted] = await fleet.database.query<{ units: string }>(
    "select coalesce(sum(units), 0) as units from deposits where network = $1 and status <> 'credited' and block_height is not null",
    [network],
  )
  return [...held.values()].reduce((sum, units) => sum + units, 0n) - BigInt(uncounted?.units ?? 0)
}
