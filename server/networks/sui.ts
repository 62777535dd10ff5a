import { defineNetwork } from '../src/core/domain/network.ts'
import { sandboxDefaults } from './sandbox.ts'

/** In full: the short forms of system objects are no one's addresses. */
const regexAddress = '^0x[0-9a-fA-F]{64}$'

export const sui = defineNetwork({
  id: 'sui',
  name: 'Sui',
  family: 'sui',
  coinType: 784,
  symbol: 'SUI',
  decimals: 9,
  blockTimeMs: 250,
  memo: 'none',
  tokenSuffix: 'SUI',
  production: {
    // A checkpoint is final once it is certified; the depth covers a node that lies.
    confirmations: 2,
    finalityBlocks: 20,
    genesis: '4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S',
    regexAddress,
    addressExplorer: 'https://suiscan.xyz/mainnet/account/{}',
    txExplorer: 'https://suiscan.xyz/mainnet/tx/{}',
  },
  sandbox: {
    ...sandboxDefaults('sui'),
    regexAddress,
  },
})
