import { celo } from '../../networks/celo.ts'
import { createEvmChain } from '../../src/adapters/chains/evm/chain.ts'
import { signEvm } from '../../src/adapters/chains/evm/sign.ts'
import { resolveNetwork } from '../../src/core/domain/network.ts'
import { describeChain } from './chain.ts'
import { onSharedChain } from './shared-chain.ts'
import { evmAddresses } from './vectors.ts'

/** Anvil drops the transactions of orphaned blocks, so use a network without payments by other tests. */
const network = resolveNetwork(celo, 'sandbox')

describeChain('an evm network on anvil', () =>
  onSharedChain({
    network,
    create: (rpcUrls, publicKeys) => createEvmChain({ network, rpcUrls, publicKeys, tokens: [] }),
    signWith: signEvm,
    units: 10n ** 17n,
    remainsAfterReorg: false,
    addresses: evmAddresses,
  }),
)
