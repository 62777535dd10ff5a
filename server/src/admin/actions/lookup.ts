import { currencies } from '../../../currencies/index.ts'
import { dexNetworks } from '../../../dexes/index.ts'
import { networks } from '../../../networks/index.ts'
import { formatUnits } from '../../core/domain/amount.ts'
import { type AssetId, assetId } from '../../core/domain/asset.ts'
import { canonicalNetwork, canonicalTicker } from '../../core/domain/catalogue.ts'
import type { CurrencyDefinition } from '../../core/domain/currency.ts'
import { refused } from '../../core/services/audit-note.ts'
import type { DexNetwork } from '../../swap/domain/dex.ts'
import type { AdminStores } from '../ports/admin-store.ts'
import type { ActionDeps } from './action.ts'

/* What an operator names must exist: a typing error must not change nothing and report success. */

export const listedCurrency = (id: AssetId): CurrencyDefinition => {
  const listed = currencies.find(({ ticker, network }) => assetId(ticker, network) === id)
  if (!listed) throw refused(`${id} is not a listed currency`)
  return listed
}

export const isListed = (id: string): boolean =>
  currencies.some(({ ticker, network }) => assetId(ticker, network) === id)

/** Also of the tokens in which swaps paid fees (`0x…@network`). */
export async function decimalsOf({ feeAccounts }: Pick<AdminStores, 'feeAccounts'>, id: AssetId): Promise<number> {
  return (await feeAccounts.findDecimals(id)) ?? listedCurrency(id).decimals
}

/** Errors show amounts in coins: base units with eighteen digits are misread. */
export const showAmount = (units: bigint, id: AssetId): string =>
  `${formatUnits(units, listedCurrency(id).decimals)} ${id}`

export const formatSigned = (units: bigint, decimals: number): string =>
  units < 0n ? `-${formatUnits(-units, decimals)}` : formatUnits(units, decimals)

/** `ticker@network`, in any case and by aliases. */
export function findCurrency(text: string): AssetId {
  const [ticker = '', network = '', ...rest] = text.split('@')
  const id = assetId(canonicalTicker(ticker), canonicalNetwork(network))
  if (rest.length === 0 && currencies.some((one) => assetId(one.ticker, one.network) === id)) return id
  throw refused(`${text} is not a listed currency; write ticker@network, for example usdt@eth`)
}

/** A ticker, in any case and by aliases. */
export function findNetwork(text: string): string {
  const known = networks.map(({ id }) => id)
  const id = canonicalNetwork(text)
  if (known.includes(id)) return id
  throw refused(`there is no network ${text}; the networks are ${known.join(', ')}`)
}

/** What routes may be kept from: the name of a DEX, the id or address of a pool, or the address of a token, `@` a network of swaps. */
export async function findPausable(
  { parsePoolName }: Pick<ActionDeps, 'parsePoolName'>,
  kind: 'dex' | 'pool' | 'token',
  text: string,
): Promise<string> {
  const [name = '', network = '', ...rest] = text.split('@')
  const dexNetwork = dexNetworks.find((one) => one.network === canonicalNetwork(network))
  if (rest.length > 0 || dexNetwork === undefined)
    throw refused(`${text} names no network of swaps; write ${kind}:…@network, for example ${kind}:…@base`)
  if (kind === 'dex') return `${findDex(dexNetwork, name.toLowerCase())}@${dexNetwork.network}`
  const canonical = await parsePoolName(dexNetwork.network, kind, name)
  if (canonical !== null) return `${canonical}@${dexNetwork.network}`
  throw refused(
    kind === 'token'
      ? `${name} is not the address of a token of ${dexNetwork.network}`
      : `${name} is no address or id of a pool of ${dexNetwork.network}`,
  )
}

function findDex({ network, dexes }: DexNetwork, name: string): string {
  const names = dexes.map((dex) => dex.name)
  if (names.includes(name)) return name
  throw refused(`there is no DEX ${name}; those of ${network} are ${names.join(', ')}`)
}

export async function findPartner(
  { partnerRow }: Pick<AdminStores, 'partnerRow'>,
  name: string,
): Promise<{ id: string; name: string }> {
  const row = await partnerRow(name)
  if (!row) throw refused(`there is no partner ${name}`)
  return { id: String(row['id']), name }
}
