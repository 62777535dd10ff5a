import { defineNetwork } from '../src/core/domain/network.ts'
import { sandboxExplorers } from './sandbox-explorers.ts'

/** Form of an EVM address; its checksum (EIP-55) is the codec's business. */
const regexAddress = '^0x[0-9a-fA-F]{40}$'

export const sonic = defineNetwork({
  id: 'sonic',
  name: 'Sonic',
  family: 'evm',
  // Ethereum's own on every EVM network, as wallets derive it: one key has one address on all of them.
  coinType: 60,
  hotIndex: 10,
  symbol: 'S',
  decimals: 18,
  blockTimeMs: 630,
  memo: 'none',
  tokenSuffix: 'SONIC',
  production: {
    // Final with its block; only depth is asked for, against a node that lies.
    confirmations: 10,
    finalityBlocks: 64,
    regexAddress,
    addressExplorer: 'https://sonicscan.org/address/{}',
    txExplorer: 'https://sonicscan.org/tx/{}',
    evm: { chainId: 146, finalityTag: null, dynamicFees: true },
  },
  sandbox: {
    confirmations: 3,
    finalityBlocks: 10,
    blockTimeMs: 1000,
    regexAddress,
    ...sandboxExplorers('sonic'),
    evm: { chainId: 3_133_700_146, finalityTag: null, dynamicFees: true },
  },
})
