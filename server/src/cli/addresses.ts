import type { Database } from '../adapters/postgres/core/database.ts'
import { isOwnAddress } from '../adapters/postgres/core/own-addresses.ts'
import { createSuiAddressFormat } from '../adapters/sui/address-format.ts'
import { openAddresses } from '../app/addresses.ts'
import { createScreening } from '../app/screening.ts'
import type { Config } from '../config/load.ts'
import type { AssetId } from '../core/domain/asset.ts'
import type { Addresses } from '../exchange/ports/chain.ts'
import { findCurrency, listedCurrency } from './lookup.ts'
import { fail } from './print.ts'

/** The address in canonical form. Refuses our own addresses and addresses on the deny list. */
export async function checkAddress(
  config: Config,
  database: Database,
  network: string,
  address: string,
): Promise<Readonly<{ parsed: string; addresses: Addresses }>> {
  const own = openAddresses(config)
  const { addresses } = own.get(network) ?? fail(`the network ${network} has no adapter`)
  const parsed = addresses.parse(address) ?? fail(`${address} is not an address of ${network}`)
  // Our address of another network is refused as well: no watcher looks for it on this one.
  const isHot = [...own.values()].some((one) => one.addresses.hot() === parsed)
  if (isHot || (await isOwnAddress(database, parsed))) fail(`${address} is an address of this service`)
  const verdict = await createScreening(config.denied, own).screen({ network, address: parsed, direction: 'recipient' })
  if (verdict !== 'allow') fail(`${parsed} is never served (screening.denied)`)
  return { parsed, addresses }
}

/** The address for swap fees in canonical form, checked as above. Sui has swaps and no wallets of ours. */
export async function checkFeeAddress(
  config: Config,
  database: Database,
  network: string,
  address: string,
): Promise<string> {
  if (network !== 'sui') return (await checkAddress(config, database, network, address)).parsed
  const parsed = createSuiAddressFormat().parseAccount(address) ?? fail(`${address} is not an address of ${network}`)
  const verdict = await createScreening(config.denied, openAddresses(config)).screen({
    ...{ network, address: parsed, direction: 'recipient' },
  })
  return verdict === 'allow' ? parsed : fail(`${parsed} is never served (screening.denied)`)
}

export type CheckedDestination = Readonly<{ assetId: AssetId; address: string; memo: string | null }>

/** The destination in canonical form, checked as above: no typing error may become an address that receives money. */
export async function checkDestination(
  config: Config,
  database: Database,
  currency: string,
  address: string,
  memo: string | undefined,
): Promise<CheckedDestination> {
  const assetId = findCurrency(currency)
  const { network } = listedCurrency(assetId)
  const { parsed, addresses } = await checkAddress(config, database, network, address)
  const parsedMemo =
    memo === undefined ? null : (addresses.parseMemo(memo) ?? fail(`${memo} is not a memo of ${network}`))
  return { assetId, address: parsed, memo: parsedMemo }
}
