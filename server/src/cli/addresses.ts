import { currencies } from '../../currencies/index.ts'
import type { Database } from '../adapters/postgres/core/database.ts'
import { isOwnAddress } from '../adapters/postgres/core/own-addresses.ts'
import { createDenyList } from '../adapters/screening/deny-list.ts'
import { openAddresses } from '../app/addresses.ts'
import type { Config } from '../config/config.ts'
import { type AssetId, assetId } from '../core/domain/asset.ts'
import { canonicalNetwork, canonicalTicker } from '../core/domain/catalogue.ts'
import type { Addresses } from '../exchange/ports/chain.ts'
import { fail } from './print.ts'

/** The address in canonical form: none of ours, and nobody's who is never served. */
export async function checkAddress(
  config: Config,
  database: Database,
  network: string,
  address: string,
): Promise<Readonly<{ parsed: string; addresses: Addresses }>> {
  const house = openAddresses(config)
  const served = house.get(network)
  if (!served) fail(`the network ${network} has no adapter here`)
  const { addresses } = served
  const parsed = addresses.parse(address)
  if (parsed === null) fail(`${address} is no address of ${network}`)
  // Also of another network, where nobody watches it.
  const isHot = [...house.values()].some((one) => one.addresses.hot() === parsed)
  if (isHot || (await isOwnAddress(database, parsed))) fail(`${address} is an address of this service`)
  const verdict = await createDenyList(config.denied).screen({ network, address: parsed, direction: 'recipient' })
  if (verdict !== 'allow') fail(`${parsed} is never served (screening.denied)`)
  return { parsed, addresses }
}

export type CheckedDestination = Readonly<{ assetId: AssetId; address: string; memo: string | null }>

/** The destination in canonical form, looked at as above. A slip of the operator's hand must not become an address that money goes to. */
export async function checkDestination(
  config: Config,
  database: Database,
  currency: string,
  address: string,
  memo: string | undefined,
): Promise<CheckedDestination> {
  const [name = '', place = '', ...rest] = currency.split('@')
  const wanted = rest.length === 0 ? assetId(canonicalTicker(name), canonicalNetwork(place)) : null
  const listed = currencies.find(({ ticker, network }) => assetId(ticker, network) === wanted)
  if (!listed) fail(`${currency} is no listed currency; write ticker@network, for example usdt@eth`)
  const { parsed, addresses } = await checkAddress(config, database, listed.network, address)
  const parsedMemo = memo === undefined ? null : addresses.parseMemo(memo)
  if (memo !== undefined && parsedMemo === null) fail(`${memo} is no memo of ${listed.network}`)
  return { assetId: assetId(listed.ticker, listed.network), address: parsed, memo: parsedMemo }
}
