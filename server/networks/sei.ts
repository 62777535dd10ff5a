import { defineNetwork } from '../src/core/domain/network.ts'
import { sandboxExplorers } from './sandbox-explorers.ts'

/** Form of an EVM address; its checksum (EIP-55) is the codec's business. */
const regexAddress = '^0x[0-9a-fA-F]{40}$'

export const sei = defineNetwork({
  id: 'sei',
  name: 'Sei',
  family: 'evm',
  // Ethereum's own on every EVM network, as wallets derive it: one key has one address on all of them.
  coinType: 60,
  hotIndex: 1,
  symbol: 'SEI',
  decimals: 18,
  blockTimeMs: 400,
  memo: 'none',
  tokenSuffix: 'SEI',
  production: {
    // Final with its block; the tags say the same as `latest`, so only depth is asked for, against a node that lies.
    confirmations: 10,
    finalityBlocks: 64,
    regexAddress,
    addressExplorer: 'https://seiscan.io/address/{}',
    txExplorer: 'https://seiscan.io/tx/{}',
    evm: { chainId: 1329, finalityTag: null, dynamicFees: true },
  },
  sandbox: {
    confirmations: 3,
    finalityBlocks: 10,
    blockTimeMs: 1000,
    regexAddress,
    ...sandboxExplorers('sei'),
    evm: { chainId: 3_133_701_329, finalityTag: null, dynamicFees: true },
  },
})
