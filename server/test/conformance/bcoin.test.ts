import { btc } from '../../networks/btc.ts'
import { createBitcoinChain } from '../../src/adapters/chains/bitcoin/chain.ts'
import { createBitcoinSigning } from '../../src/adapters/chains/bitcoin/sign.ts'
import { resolveNetwork } from '../../src/core/domain/network.ts'
import { describeChain } from './chain.ts'
import { onSharedChain } from './shared-chain.ts'
import { bitcoinAddresses } from './vectors.ts'

const network = resolveNetwork(btc, 'sandbox')

describeChain('btc on bcoin', () =>
  onSharedChain({
    network,
    create: (rpcUrls, publicKeys) => createBitcoinChain({ network, rpcUrls, publicKeys }),
    signWith: createBitcoinSigning([network]),
    units: 1_000_000n,
    remainsAfterReorg: true,
    addresses: bitcoinAddresses('bcrt'),
  }),
)
