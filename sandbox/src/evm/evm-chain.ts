import pLimit from 'p-limit'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { rethrowRpcError } from '../json-rpc.ts'
import { evmBankAddress } from '../keys.ts'
import type { LocalChain } from '../local-chain.ts'
import { type EvmNetwork, sandboxChainIdOffset } from '../networks.ts'
import { sandboxTokens } from '../tokens.ts'
import type { Anvil } from './anvil.ts'
import { deployExecutors, deployTokens } from './deployments.ts'
import { createEvmBank } from './evm-bank.ts'
import { createEvmMiner } from './evm-miner.ts'
import { createTrader } from './trader.ts'

const tipWei = 1_000_000_000n

/** A LocalChain over one anvil. Payments, blocks, trades and reorgs run one at a time. */
export async function createEvmChain(
  definition: EvmNetwork,
  anvil: Anvil,
  { isFrozen }: Readonly<{ isFrozen: boolean }>,
): Promise<LocalChain> {
  const { network, nativeTicker, baseFeeWei } = definition
  const { rpc } = anvil
  const address = evmBankAddress()
  const runExclusive = pLimit(1)
  const feeWei = 2n * baseFeeWei + tipWei
  const listedTokens = sandboxTokens.filter((token) => token.network === network)
  const contracts = await deployTokens(rpc, listedTokens, { bank: address, feeWei: 4n * feeWei })
  const executors = await deployExecutors(rpc, { bank: address, feeWei: 4n * feeWei })
  const bank = createEvmBank({ rpc, network, nativeTicker, address, listedTokens, contracts, feeWei, tipWei })
  const miner = await createEvmMiner({ rpc, baseFeeWei, bank })
  const { market } = anvil
  const trader = createTrader({ rpc, market, baseFeeWei, isFrozen })

  return {
    network,
    family: 'evm',
    client: anvil.client,
    rpcUrls: [anvil.rpcUrl],
    chainId: sandboxChainIdOffset + definition.realChainId,
    tokens: contracts,
    market: { ...market, contracts: { ...market.contracts, ...executors } },
    createWallet() {
      const privateKey = generatePrivateKey()
      return { network, address: privateKeyToAddress(privateKey), memo: null, privateKey }
    },
    async deposit(payment) {
      const pay = bank.preparePayment(payment)
      return runExclusive(pay).catch(rethrowRpcError)
    },
    readBalance: (query) => bank.readBalance(query),
    mine: (count) =>
      runExclusive(async () => {
        await miner.mine(count)
        return miner.readTip()
      }),
    trade: () => runExclusive(() => trader.trade()),
    reorganize: (depth) => runExclusive(() => miner.reorganize(depth)).catch(rethrowRpcError),
    countPending: () => miner.countPending(),
    async stop() {
      await runExclusive(async () => {
        // The state file has no txpool: mine its transactions before the stop.
        if ((await miner.countPending()) > 0) await miner.mine(1)
      }).catch(() => undefined)
      await anvil.stop()
    },
  }
}
