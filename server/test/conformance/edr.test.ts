import { randomBytes } from 'node:crypto'
import { toHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { createEvmChain } from '../../src/adapters/chains/evm/chain.ts'
import { signEvm } from '../../src/adapters/chains/evm/sign.ts'
import { startEdr } from '../adapters/chains/evm/edr.ts'
import { keys, native, network, publicKeys } from '../adapters/chains/evm/wallet.ts'
import { describeChain } from './chain.ts'
import { evmAddresses } from './vectors.ts'
import type { ChainParts } from './wallet.ts'

// T13: another client than anvil, as edr is: without traces of blocks and block receipts. With the fees of the OP stack, too.
for (const chain of ['l1', 'op'] as const)
  describeChain(`an evm network on edr, ${chain}`, async (): Promise<ChainParts> => {
    const node = await startEdr({ chain })
    const create = () => createEvmChain({ network, rpcUrls: [node.url], publicKeys, tokens: [] })
    return {
      chain: create(),
      twin: create(),
      asset: native,
      units: 10n ** 17n,
      sign: ({ intent }) => signEvm(intent, keys),
      pay: (to, value) => node.send({ to, value }),
      createExternalAddress: async () => privateKeyToAddress(toHex(randomBytes(32))),
      blocks: async (count) => {
        await node.mine(count)
      },
      reorg: (depth) => node.reorg(depth),
      remainsAfterReorg: true,
      ...evmAddresses,
      stop: () => node.stop(),
    }
  })
