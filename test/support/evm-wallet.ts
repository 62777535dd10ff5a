import {
  type Abi,
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  type Hex,
  http,
  parseEther,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Compiled } from '../../server/test/adapters/chains/evm/tokens.ts'
import { nodeOf } from './nodes.ts'
import { PATIENCE_MS } from './patience.ts'
import type { Scenario } from './scenario.ts'

/** Above what any of these transactions takes: some are meant to fail, so that nothing is estimated. */
const GAS = 3_000_000n

export type EvmWallet = Readonly<{
  address: Hex
  /** Answers the contract's address once it is mined. */
  deploy(contract: Compiled, args: readonly unknown[], value?: bigint): Promise<Hex>
  pay(to: string, amount: string): Promise<Hex>
  /** Calls a contract's function; answers once it is mined, however it went. */
  call(to: Hex, abi: Abi, functionName: string, args: readonly unknown[], value?: bigint): Promise<Hex>
}>

/** A customer's own wallet on an EVM network, with coin from the bank. */
export async function fundEvmWallet(
  scenario: Scenario,
  network: string,
  amount: string,
  own?: { address: string; privateKey: string },
): Promise<EvmWallet> {
  const { address, privateKey } = own ?? (await scenario.wallet(network))
  const { rpcUrls, chainId = 0 } = nodeOf(network)
  const chain = defineChain({
    id: chainId,
    name: network,
    nativeCurrency: { name: network, symbol: network, decimals: 18 },
    rpcUrls: { default: { http: rpcUrls } },
  })
  const account = privateKeyToAccount(privateKey as Hex)
  const reader = createPublicClient({ chain, transport: http(), pollingInterval: 100 })
  const writer = createWalletClient({ chain, account, transport: http() })
  await scenario.control('/deposits', { network, currency: 'native', address, amount })
  await scenario.until(
    'the wallet has its coin',
    async () => (await reader.getBalance({ address: account.address })) >= parseEther(amount),
  )
  const mined = async (hash: Hex) => reader.waitForTransactionReceipt({ hash, timeout: PATIENCE_MS })
  return {
    address: account.address,
    async deploy({ abi, bytecode }, args, value = 0n) {
      const { contractAddress } = await mined(await writer.deployContract({ abi, bytecode, args, value, gas: GAS }))
      if (!contractAddress) throw new Error('nothing was deployed')
      return contractAddress
    },
    async pay(to, amount) {
      const { transactionHash } = await mined(
        await writer.sendTransaction({ to: to as Hex, value: parseEther(amount) }),
      )
      return transactionHash
    },
    async call(to, abi, functionName, args, value = 0n) {
      const { transactionHash } = await mined(
        await writer.sendTransaction({ to, data: encodeFunctionData({ abi, functionName, args }), value, gas: GAS }),
      )
      return transactionHash
    },
  }
}
