import { defineNetwork } from '../src/core/domain/network.ts'
import { sandboxExplorers } from './sandbox-explorers.ts'

/** Form of an EVM address; its checksum (EIP-55) is the codec's business. */
const regexAddress = '^0x[0-9a-fA-F]{40}$'

export const celo = defineNetwork({
  id: 'celo',
  name: 'Celo',
  family: 'evm',
  // Ethereum's own on every EVM network, as wallets derive it: one key has one address on all of them.
  coinType: 60,
  hotIndex: 6,
  symbol: 'CELO',
  decimals: 18,
  blockTimeMs: 1000,
  memo: 'none',
  tokenSuffix: 'CELO',
  production: {
    // An OP Stack rollup since March 2025: 1800 blocks are half an hour.
    confirmations: 20,
    finalityBlocks: 1800,
    regexAddress,
    addressExplorer: 'https://celoscan.io/address/{}',
    txExplorer: 'https://celoscan.io/tx/{}',
    evm: {
      chainId: 42_220,
      finalityTag: 'safe',
      // Above, a deposit waits until its block stands in a batch on Ethereum, and above the next tier until that is final.
      safeAboveUsd: 1_000n,
      finalizedAboveUsd: 50_000n,
      dynamicFees: true,
    },
  },
  sandbox: {
    confirmations: 3,
    finalityBlocks: 10,
    blockTimeMs: 1000,
    regexAddress,
    ...sandboxExplorers('celo'),
    evm: { chainId: 3_133_742_220, finalityTag: null, dynamicFees: true },
  },
})
