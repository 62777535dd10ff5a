import { AppError, type Problem } from '../../core/domain/errors.ts'
import type { ExchangeServices } from '../interfaces.ts'
import type { Chain } from '../ports/chain.ts'
import type { CurrencyLookup } from '../quotes/quote-rate.ts'
import { readDestination } from './read-order.ts'

export type CheckAddressDeps = Readonly<{
  catalogue: CurrencyLookup
  chains: ReadonlyMap<string, Chain>
  /** Whether the address is a deposit or wallet address of ours, on any network. */
  isOwnAddress(address: string): Promise<boolean>
}>

/** Checks a recipient as a create does. Screening is not included: it would tell which addresses are denied. */
export function createCheckAddress({
  catalogue,
  chains,
  isOwnAddress,
}: CheckAddressDeps): ExchangeServices['checkAddress'] {
  return async (request) => {
    const currency = catalogue.find(request.currency, request.network)
    if (currency === null)
      throw new AppError('CURRENCY_NOT_FOUND', 'this currency is not listed: use one of the currency list', {
        field: 'currency',
      })
    const { network } = currency
    const chain = chains.get(network.id)
    if (chain === undefined)
      throw new AppError('PAIR_UNAVAILABLE', `${network.id} is not available: choose a currency with enabled: true`, {
        field: 'network',
      })
    const problems: Problem[] = []
    const { address, memo } = request
    const target = { network, chain, isRequired: true }
    const destination = readDestination(target, address, memo, ['address', 'memo'], problems)
    if (destination !== null && problems.length === 0 && (await isOwnAddress(destination.address)))
      problems.push({
        code: 'ADDRESS_IS_OURS',
        field: 'address',
        message: 'address is an address of this service: use an address of the user',
      })
    return { destination, problems }
  }
}
