import { currencies } from '../../currencies/index.ts'
import { networks } from '../../networks/index.ts'
import type { createPartnerStore } from '../adapters/postgres/core/partners.ts'
import { assetId } from '../core/domain/asset.ts'
import { canonicalNetwork, canonicalTicker } from '../core/domain/catalogue.ts'
import { fail } from './print.ts'

type PartnerList = Pick<ReturnType<typeof createPartnerStore>, 'list'>

/**
 * The scope as signing asks for it. In an emergency a slip of the hand must not stop nothing and say that it did: what is
 * named must be there. Tickers in any case and by their aliases, partners by name or id.
 */
export async function readScope(text: string, partners: PartnerList): Promise<string> {
  if (text === 'all' || text === 'payouts:all') return text
  const [, kind, name = ''] = /^(network|payouts|asset|partner):(.+)$/s.exec(text) ?? []
  if (kind === 'network' || kind === 'payouts') return `${kind}:${networkOf(name)}`
  if (kind === 'asset') return `asset:${assetOf(name)}`
  if (kind === 'partner') return `partner:${await partnerOf(name, partners)}`
  fail('the scope is all, network:…, payouts:…, asset:… or partner:…')
}

function networkOf(name: string): string {
  const known = networks.map(({ id }) => id)
  const id = canonicalNetwork(name)
  return known.includes(id) ? id : fail(`there is no network ${name}; there are ${known.join(', ')}`)
}

function assetOf(name: string): string {
  const [ticker = '', network = '', ...rest] = name.split('@')
  const id = assetId(canonicalTicker(ticker), canonicalNetwork(network))
  const isListed = rest.length === 0 && currencies.some((one) => assetId(one.ticker, one.network) === id)
  return isListed ? id : fail(`${name} is no listed currency; write asset:ticker@network, for example asset:usdt@eth`)
}

async function partnerOf(name: string, partners: PartnerList): Promise<string> {
  const found = (await partners.list()).find((partner) => partner.id === name || partner.name === name)
  return found ? found.id : fail(`there is no partner ${name}; \`swapyard partners list\` names them`)
}
