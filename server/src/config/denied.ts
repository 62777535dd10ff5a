import { networks as definitions } from '../../networks/index.ts'
import { parametersOf, parseAddress } from '../adapters/chains/bitcoin/address.ts'
import { readAddress } from '../adapters/chains/monero/address.ts'
import { type Environment, type Network, resolveNetwork } from '../core/domain/network.ts'
import { knownNetworks, unknownName } from './schema.ts'

export const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/
export const SUI_ADDRESS = /^0x[0-9a-fA-F]{64}$/

/** Entries of `screening.denied` that name no network, or no address on it: they would deny nothing. */
export function findWrongDenied(source: string, environment: Environment, denied: readonly string[]): string[] {
  return denied.flatMap((entry, index) => {
    const colon = entry.indexOf(':')
    const [id, address] = [entry.slice(0, colon), entry.slice(colon + 1)]
    const definition = definitions.find((one) => one.id === id)
    const { kind, names } = knownNetworks
    if (!definition) return [`${source}: screening.denied.${index}: ${id} ${unknownName(kind, id, names)}`]
    return isAddress(resolveNetwork(definition, environment), address)
      ? []
      : [`${source}: screening.denied.${index} is not an address on ${id}: check it`]
  })
}

/** Without an adapter that pays there, every text counts as an address. */
function isAddress(network: Network, text: string): boolean {
  if (network.family === 'evm') return EVM_ADDRESS.test(text)
  if (network.family === 'sui') return SUI_ADDRESS.test(text)
  if (network.family === 'bitcoin') return parseAddress(parametersOf(network), text) !== null
  return network.family !== 'monero' || readAddress(text) !== null
}
