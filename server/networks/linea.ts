import { defineNetwork } from '../src/core/domain/network.ts'
import { sandboxExplorers } from './sandbox-explorers.ts'

/** Form of an EVM address; its checksum (EIP-55) is the codec's business. */
const regexAddress = '^0x[0-9a-fA-F]{40}$'

export const linea = defineNetwork({
  id: 'linea',
  name: 'Linea',
  family: 'evm',
  // Ethereum's own on every EVM network, as wallets derive it: one key has one address on all of them.
  coinType: 60,
  hotIndex: 7,
  symbol: 'ETH',
  decimals: 18,
  blockTimeMs: 2000,
  memo: 'none',
  tokenSuffix: 'LINEA',
  production: {
    // `finalized` here waits for the proof on Ethereum, which takes hours: only depth is asked for.
    confirmations: 20,
    finalityBlocks: 900,
    regexAddress,
    addressExplorer: 'https://lineascan.build/address/{}',
    txExplorer: 'https://lineascan.build/tx/{}',
    evm: { chainId: 59_144, finalityTag: null, dynamicFees: true },
  },
  sandbox: {
    confirmations: 3,
    finalityBlocks: 10,
    blockTimeMs: 1000,
    regexAddress,
    ...sandboxExplorers('linea'),
    evm: { chainId: 3_133_759_144, finalityTag: null, dynamicFees: true },
  },
})
