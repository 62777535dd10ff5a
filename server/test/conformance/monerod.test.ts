import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeWith } from '../../../test/support/describe-with.ts'
import { xmr } from '../../networks/xmr.ts'
import { createMoneroChain } from '../../src/adapters/chains/monero/chain.ts'
import { signMonero } from '../../src/adapters/chains/monero/sign.ts'
import { resolveNetwork } from '../../src/core/domain/network.ts'
import { present } from '../../src/lib/assert.ts'
import { describeChain } from './chain.ts'
import { onSharedChain } from './shared-chain.ts'
import { moneroAddresses } from './vectors.ts'

const network = resolveNetwork(xmr, 'sandbox')

describeWith('monerod', 'xmr', () => {
  describeChain('on monerod', () =>
    onSharedChain({
      network,
      create: (rpcUrls, publicKeys, keys) =>
        createMoneroChain({
          network,
          rpcUrls,
          viewKeys: present(publicKeys.viewKeys?.(network.coinType), 'the view keys'),
          spending: {
            seedKey: keys.privateKey({ branch: 'hot', index: 0 }),
            folder: mkdtempSync(join(tmpdir(), 'swapyard-wallet-')),
            outputsReady: 6,
          },
        }),
      signWith: signMonero,
      units: 100_000_000_000n,
      remainsAfterReorg: true,
      isHiddenFromOthers: true,
      addresses: moneroAddresses,
    }),
  )
})
