import { networks as definitions } from '../../networks/index.ts'
import { parametersOf, parseAddress } from '../adapters/chains/bitcoin/address.ts'
import { readAddress as readMoneroAddress } from '../adapters/chains/monero/address.ts'
import { readAddress as readEvmAddress } from '../adapters/chains/shared/account-address.ts'
import { readAddress as readSolanaAddress } from '../adapters/solana/program-address.ts'
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

/** Any account or program of Solana. Its texts have one form: their case counts. */
export const isSolanaAddress = (text: string): boolean => readSolanaAddress(text) !== null

/** Checksums count where an address has one. Without an adapter, every text counts as an address. */
function isAddress(network: Network, text: string): boolean {
  switch (network.family) {
    case 'bitcoin':
      return parseAddress(parametersOf(network), text) !== null
    case 'evm':
      return readEvmAddress(text) !== null
    case 'monero':
      return readMoneroAddress(text) !== null
    case 'solana':
      return isSolanaAddress(text)
    case 'sui':
      return SUI_ADDRESS.test(text)
    case 'ripple':
    case 'stellar':
    case 'ton':
    case 'tron':
      return true
  }
}
