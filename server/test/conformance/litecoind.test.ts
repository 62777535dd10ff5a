import { describe, test } from 'vitest'
import { ltc } from '../../networks/ltc.ts'
import { createBitcoinChain } from '../../src/adapters/chains/bitcoin/chain.ts'
import { createBitcoinSigning } from '../../src/adapters/chains/bitcoin/sign.ts'
import { resolveNetwork } from '../../src/core/domain/network.ts'
import { describeChain } from './chain.ts'
import { hasNetwork, onSharedChain } from './shared-chain.ts'
import { bitcoinAddresses } from './vectors.ts'

const network = resolveNetwork(ltc, 'sandbox')
const missing = "ltc is not tested here: install Litecoin Core (Debian's package litecoind)"

const isBuildServer = (process.env['CI'] ?? '') !== ''

if (hasNetwork('ltc')) {
  describeChain('ltc on litecoind', () =>
    onSharedChain({
      network,
      create: (rpcUrls, publicKeys) => createBitcoinChain({ network, rpcUrls, publicKeys }),
      signWith: createBitcoinSigning([network]),
      units: 1_000_000n,
      comesBack: true,
      addresses: bitcoinAddresses('rltc'),
    }),
  )
} else {
  describe('ltc on litecoind', () => {
    test.skipIf(!isBuildServer)(missing, () => {
      throw new Error(missing)
    })
  })
}
