import { networks as definitions } from '../../networks/index.ts'
import { createAddresses } from '../adapters/chains/bitcoin/address.ts'
import { createEvmAddresses } from '../adapters/chains/evm/address.ts'
import { createAddresses as createMoneroAddresses } from '../adapters/chains/monero/address.ts'
import { createWalletKeys } from '../adapters/chains/monero/keys.ts'
import { openPublicKeys } from '../adapters/signers/keystore.ts'
import type { Config } from '../config/load.ts'
import { type Network, resolveNetwork } from '../core/domain/network.ts'
import type { Addresses } from '../exchange/ports/chain.ts'

/** The addresses of every served network. Derived from the keystore's public keys: no passphrase and no node is needed. */
export function openAddresses(
  config: Pick<Config, 'environment'> & Readonly<{ keystore: Pick<Config['keystore'], 'file'> }>,
): ReadonlyMap<string, Readonly<{ network: Network; addresses: Addresses }>> {
  const publicKeys = openPublicKeys(config.keystore.file)
  const served = definitions.flatMap((definition) => {
    const network = resolveNetwork(definition, config.environment)
    if (network.family === 'bitcoin')
      return [[network.id, { network, addresses: createAddresses(network, publicKeys) }] as const]
    if (network.family === 'evm')
      return [[network.id, { network, addresses: createEvmAddresses(network, publicKeys, []) }] as const]
    const viewKeys = network.family === 'monero' ? publicKeys.viewKeys?.(network.coinType) : null
    if (viewKeys)
      return [[network.id, { network, addresses: createMoneroAddresses(createWalletKeys(viewKeys, null)) }] as const]
    return []
  })
  return new Map(served)
}
