import { celo } from '../../networks/celo.ts'
import { createEvmChain } from '../../src/adapters/chains/evm/chain.ts'
import { signEvm } from '../../src/adapters/chains/evm/sign.ts'
import { resolveNetwork } from '../../src/core/domain/network.ts'
import { describeChain } from './chain.ts'
import { onSharedChain } from './shared-chain.ts'
import { evmAddresses } from './vectors.ts'

/** Anvil forgets what was in the blocks of a reorganisation: this is done on a network that no scenario pays on. */
const network = resolveNetwork(celo, 'sandbox')

describeChain('an evm network on anvil', () =>
  onSharedChain({
    network,
    create: (rpcUrls, publicKeys) => createEvmChain({ network, rpcUrls, publicKeys, tokens: [] }),
    signWith: signEvm,
    units: 10n ** 17n,
    comesBack: false,
    addresses: evmAddresses,
  }),
)
