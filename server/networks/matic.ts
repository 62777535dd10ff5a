import { defineEvmNetwork } from './evm.ts'

/** MRC20 of the genesis block: lists name it as a token, its `transfer` takes the amount as a value. */
const nativeContract = '0x0000000000000000000000000000000000001010'

export const matic = defineEvmNetwork({
  id: 'matic',
  name: 'Polygon PoS',
  hotIndex: 8,
  symbol: 'POL',
  blockTimeMs: 2000,
  tokenSuffix: 'POLYGON',
  production: {
    // Before milestones there were reorgs of 157 blocks (February 2023): the depth lies beyond them.
    confirmations: 30,
    finalityBlocks: 256,
    addressExplorer: 'https://polygonscan.com/address/{}',
    txExplorer: 'https://polygonscan.com/tx/{}',
    evm: { chainId: 137, finalityTag: 'finalized', nativeContract },
  },
})
