import { defineNetwork } from '../src/core/domain/network.ts'
import { sandboxExplorers } from './sandbox-explorers.ts'

/** Form of an EVM address; its checksum (EIP-55) is the codec's business. */
const regexAddress = '^0x[0-9a-fA-F]{40}$'
/** MRC20 of the genesis block: lists name it as a token, its `transfer` takes the amount as a value. */
const nativeContract = '0x0000000000000000000000000000000000001010'

export const matic = defineNetwork({
  id: 'matic',
  name: 'Polygon PoS',
  family: 'evm',
  // Ethereum's own on every EVM network, as wallets derive it: one key has one address on all of them.
  coinType: 60,
  hotIndex: 8,
  symbol: 'POL',
  decimals: 18,
  blockTimeMs: 2000,
  memo: 'none',
  tokenSuffix: 'POLYGON',
  production: {
    // Before milestones there were reorgs of 157 blocks (February 2023): the depth lies beyond them.
    confirmations: 30,
    finalityBlocks: 256,
    regexAddress,
    addressExplorer: 'https://polygonscan.com/address/{}',
    txExplorer: 'https://polygonscan.com/tx/{}',
    evm: { chainId: 137, finalityTag: 'finalized', dynamicFees: true, nativeContract },
  },
  sandbox: {
    confirmations: 3,
    finalityBlocks: 10,
    blockTimeMs: 1000,
    regexAddress,
    ...sandboxExplorers('matic'),
    evm: { chainId: 3_133_700_137, finalityTag: null, dynamicFees: true, nativeContract },
  },
})
