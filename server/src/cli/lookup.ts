import { currencies } from '../../currencies/index.ts'
import { networks } from '../../networks/index.ts'
import type { Database } from '../adapters/postgres/core/database.ts'
import { partnerRow } from '../adapters/postgres/core/partners.ts'
import { type AssetId, assetId } from '../core/domain/asset.ts'
import { canonicalNetwork, canonicalTicker } from '../core/domain/catalogue.ts'
import type { CurrencyDefinition } from '../core/domain/currency.ts'
import { fail } from './print.ts'

/* What an operator names must exist: a typing error must not change nothing and report success. */

export const listedCurrency = (id: AssetId): CurrencyDefinition =>
  currencies.find(({ ticker, network }) => assetId(ticker, network) === id) ?? fail(`${id} is not a listed currency`)

/** `ticker@network`, in any case and by aliases. */
export function findCurrency(text: string): AssetId {
  const [ticker = '', network = '', ...rest] = text.split('@')
  const id = assetId(canonicalTicker(ticker), canonicalNetwork(network))
  const isListed = rest.length === 0 && currencies.some((one) => assetId(one.ticker, one.network) === id)
  return isListed ? id : fail(`${text} is not a listed currency; write ticker@network, for example usdt@eth`)
}

/** A ticker, in any case and by aliases. */
export function findNetwork(text: string): string {
  const known = networks.map(({ id }) => id)
  const id = canonicalNetwork(text)
  return known.includes(id) ? id : fail(`there is no network ${text}; the networks are ${known.join(', ')}`)
}

export async function findPartner(database: Database, name: string): Promise<{ id: string; name: string }> {
  const row = await partnerRow(database, name)
  return row ? { id: String(row['id']), name } : fail(`there is no partner ${name}`)
}
