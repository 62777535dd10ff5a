import { defineNetwork } from '../src/core/domain/network.ts'
import { sandboxExplorers } from './sandbox-explorers.ts'

/** Form of an EVM address; its checksum (EIP-55) is the codec's business. */
const regexAddress = '^0x[0-9a-fA-F]{40}$'

export const bsc = defineNetwork({
  id: 'bsc',
  name: 'BNB Smart Chain',
  family: 'evm',
  // Ethereum's own on every EVM network, as wallets derive it: one key has one address on all of them.
  coinType: 60,
  hotIndex: 4,
  symbol: 'BNB',
  decimals: 18,
  blockTimeMs: 750,
  memo: 'none',
  tokenSuffix: 'BEP20',
  production: {
    // Fast finality (BEP-126) takes two blocks; the depth also covers its outage.
    confirmations: 15,
    finalityBlocks: 200,
    regexAddress,
    addressExplorer: 'https://bscscan.com/address/{}',
    txExplorer: 'https://bscscan.com/tx/{}',
    evm: { chainId: 56, finalityTag: 'finalized', dynamicFees: true },
  },
  sandbox: {
    confirmations: 3,
    finalityBlocks: 10,
    blockTimeMs: 1000,
    regexAddress,
    ...sandboxExplorers('bsc'),
    evm: { chainId: 3_133_700_056, finalityTag: null, dynamicFees: true },
  },
})
