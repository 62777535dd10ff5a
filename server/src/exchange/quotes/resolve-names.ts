import { type Catalogue, canonicalNetwork, canonicalTicker } from '../../core/domain/catalogue.ts'
import type { ExchangeServices } from '../interfaces.ts'

export function createResolveNames({
  find,
  findNetwork,
}: Pick<Catalogue, 'find' | 'findNetwork'>): ExchangeServices['resolveNames'] {
  return (currency, network) => {
    const listed = currency !== undefined && network !== undefined ? find(currency, network) : null
    return {
      ...(currency === undefined ? {} : { ticker: listed?.asset.ticker ?? canonicalTicker(currency) }),
      ...(network === undefined ? {} : { network: findNetwork(network)?.id ?? canonicalNetwork(network) }),
    }
  }
}
