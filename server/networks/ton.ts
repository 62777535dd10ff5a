import { defineNetwork } from '../src/core/domain/network.ts'
import { sandboxDefaults } from './sandbox.ts'

export const ton = defineNetwork({
  id: 'ton',
  name: 'TON',
  family: 'ton',
  coinType: 607,
  symbol: 'TON',
  decimals: 9,
  blockTimeMs: 5000,
  memo: 'optional',
  memoName: 'Comment',
  tokenSuffix: 'TON',
  production: {
    // A masterchain block is final; the depth covers a node that lies.
    confirmations: 5,
    finalityBlocks: 40,
    // User-friendly form (TEP-2) on the basechain, bounceable or not; the first letter tells main and test networks apart.
    regexAddress: '^[EU]Q[A-D][A-Za-z0-9_-]{45}$',
    addressExplorer: 'https://tonviewer.com/{}',
    txExplorer: 'https://tonviewer.com/transaction/{}',
  },
  sandbox: {
    ...sandboxDefaults('ton'),
    regexAddress: '^[k0]Q[A-D][A-Za-z0-9_-]{45}$',
  },
})
