import { RpcError } from '@swapyard/lib/json-rpc.ts'
import pLimit from 'p-limit'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { evmBankAddress } from '../keys.ts'
import type { LocalChain } from '../local-chain.ts'
import { type EvmNetwork, sandboxChainIdOffset } from '../networks.ts'
import { Refusal } from '../refusal.ts'
import { sandboxTokens } from '../tokens.ts'
import type { Anvil } from './anvil.ts'
import { createEvmBank } from './evm-bank.ts'
import { createEvmMiner } from './evm-miner.ts'
import { deployExecutors, deployTokens } from './token-deploys.ts'
import { createTrader } from './trader.ts'

const tipWei = 1_000_000_000n

/** The controls of one anvil. Its blocks come from `tick` and `mine` alone, one caller at a time. */
export async function createEvmChain(
  definition: EvmNetwork,
  anvil: Anvil,
  { still }: Readonly<{ still: boolean }>,
): Promise<LocalChain> {
  const { network, coin, baseFeeWei } = definition
  const { rpc } = anvil
  const address = evmBankAddress()
  const exclusively = pLimit(1)
  const feeWei = 2n * baseFeeWei + tipWei
  const listed = sandboxTokens.filter((token) => token.network === network)
  const contracts = await deployTokens(rpc, listed, { bank: address, feeWei: 4n * feeWei })
  const executors = await deployExecutors(rpc, { bank: address, feeWei: 4n * feeWei })
  const bank = createEvmBank({ rpc, network, coin, address, listed, contracts, feeWei, tipWei })
  const miner = await createEvmMiner({ rpc, baseFeeWei, bank })
  const { market } = anvil
  const trader = market && createTrader({ rpc, market, baseFeeWei, still, now: Date.now })

  return {
    network,
    family: 'evm',
    client: anvil.client,
    rpcUrls: [anvil.rpcUrl],
    chainId: sandboxChainIdOffset + definition.realChainId,
    tokens: contracts,
    ...(market && { market: { ...market, contracts: { ...market.contracts, ...executors } } }),
    createWallet() {
      const privateKey = generatePrivateKey()
      return { network, address: privateKeyToAddress(privateKey), memo: null, privateKey }
    },
    async deposit(payment) {
      const pay = bank.prepare(payment)
      return exclusively(pay).catch(refuse)
    },
    balance: (query) => bank.balance(query),
    mine: (count) =>
      exclusively(async () => {
        await miner.mine(count)
        return miner.tip()
      }),
    ...(trader && { trade: () => exclusively(() => trader.trade()) }),
    reorganize: (depth) => exclusively(() => miner.reorganize(depth)).catch(refuse),
    waiting: () => miner.waiting(),
    async stop() {
      await exclusively(async () => {
        // What waits in the pool is not in the state file.
        if ((await miner.waiting()) > 0) await miner.mine(1)
      }).catch(() => undefined)
      await anvil.stop()
    },
  }
}

function refuse(error: unknown): never {
  if (error instanceof RpcError) throw new Refusal(409, 'NODE_REFUSED', `the node refused: ${error.message}`, error)
  throw error
}
