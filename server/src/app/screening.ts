import { networks as definitions } from '../../networks/index.ts'
import { type AddressKey, createDenyList } from '../adapters/screening/deny-list.ts'
import { EVM_ADDRESS, isSolanaAddress, SUI_ADDRESS } from '../config/denied.ts'
import type { Screening } from '../core/ports/screening.ts'
import type { Addresses } from '../exchange/ports/chain.ts'

type NetworkAddresses = ReadonlyMap<string, Readonly<{ addresses: Addresses }>>

const familyOf = (network: string) => definitions.find(({ id }) => id === network)?.family

/** The operator's deny list. An entry counts in every encoding of the address, and on all networks that share its accounts. */
export function createScreening(denied: readonly string[], networks: NetworkAddresses): Screening {
  return createDenyList(denied, createAddressKey(networks))
}

function createAddressKey(networks: NetworkAddresses): AddressKey {
  return (network, address) => {
    const family = familyOf(network)
    if (family === 'evm') return EVM_ADDRESS.test(address) ? `evm:${address.toLowerCase()}` : null
    if (family === 'sui') return SUI_ADDRESS.test(address) ? `sui:${address.toLowerCase()}` : null
    if (family === 'solana') return isSolanaAddress(address) ? `solana:${address}` : null
    const addresses = networks.get(network)?.addresses
    // Nothing is paid on a network without an adapter, so its entries are kept unread.
    if (addresses === undefined) return `${network}:${address}`
    const canonical = addresses.parse(address)
    if (canonical === null) return null
    return addresses.holderId ? `${family}:${addresses.holderId(canonical)}` : `${network}:${canonical}`
  }
}
