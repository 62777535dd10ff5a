import { eth } from '../../networks/eth.ts'
import { resolveNetwork } from '../../src/core/domain/network.ts'
import { createMemoryChain } from '../memory-chain/chain.ts'
import { createMemoryKeys } from '../memory-chain/keys.ts'
import { createMemoryNetwork } from '../memory-chain/network.ts'
import { signMemory } from '../memory-chain/transaction.ts'
import { describeChain } from './chain.ts'
import { evmAddresses } from './vectors.ts'

const network = resolveNetwork(eth, 'sandbox')

for (const orphanOutcome of ['pending', 'dropped'] as const) {
  describeChain(`a simulated chain where a reorganisation leaves transactions ${orphanOutcome}`, async () => {
    const keys = createMemoryKeys('conformance')
    const memoryNetwork = createMemoryNetwork({ network })
    const others = createMemoryKeys('strangers')
    const parts = { network, memoryNetwork, publicKeys: keys }
    const strangers = createMemoryChain({ ...parts, publicKeys: others }).addresses
    let nextIndex = 0
    return {
      chain: createMemoryChain(parts),
      twin: createMemoryChain(parts),
      asset: { id: 'eth@eth', ticker: 'eth', network: 'eth', decimals: 18, contract: null },
      units: 10n ** 17n,
      sign: ({ intent }) => signMemory(intent, keys),
      pay: async (address, units) => memoryNetwork.pay({ address, units }),
      createExternalAddress: async () => strangers.deposit(nextIndex++).address,
      blocks: async (count) => {
        memoryNetwork.mine(count)
      },
      reorg: async (depth) => {
        memoryNetwork.reorg(depth, { orphans: orphanOutcome })
      },
      remainsAfterReorg: orphanOutcome === 'pending',
      ...evmAddresses,
      stop: async () => undefined,
    }
  })
}
