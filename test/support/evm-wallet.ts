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
import { findNode } from './nodes.ts'
import { PATIENCE_MS } from './patience.ts'
import type { Scenario } from './scenario.ts'

/** Enough for every transaction of the tests. Gas is not estimated, because some transactions must fail. */
const GAS = 3_000_000n

export type EvmWallet = Readonly<{
  address: Hex
  /** Returns the contract's address after the deployment is mined. */
  deploy(contract: Compiled, args: readonly unknown[], value?: bigint): Promise<Hex>
  pay(to: string, amount: string): Promise<Hex>
  /** Calls a contract's function and returns the hash after the transaction is mined, also if it failed. */
  call(to: Hex, abi: Abi, functionName: string, args: readonly unknown[], value?: bigint): Promise<Hex>
}>

/** Creates a customer's wallet on an EVM network with native currency from the sandbox bank. */
export async function fundEvmWallet(
  scenario: Scenario,
  network: string,
  amount: string,
  existingWallet?: { address: string; privateKey: string },
): Promise<EvmWallet> {
  const { address, privateKey } = existingWallet ?? (await scenario.wallet(network))
  const { rpcUrls, chainId = 0 } = findNode(network)
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
    'the wallet is funded',
    async () => (await reader.getBalance({ address: account.address })) >= parseEther(amount),
  )
  const waitForReceipt = async (hash: Hex) => reader.waitForTransactionReceipt({ hash, timeout: PATIENCE_MS })
  return {
    address: account.address,
    async deploy({ abi, bytecode }, args, value = 0n) {
      const { contractAddress } = await waitForReceipt(
        await writer.deployContract({ abi, bytecode, args, value, gas: GAS }),
      )
      if (!contractAddress) throw new Error('the receipt has no contract address')
      return contractAddress
    },
    async pay(to, amount) {
      const { transactionHash } = await waitForReceipt(
        await writer.sendTransaction({ to: to as Hex, value: parseEther(amount) }),
      )
      return transactionHash
    },
    async call(to, abi, functionName, args, value = 0n) {
      const { transactionHash } = await waitForReceipt(
        await writer.sendTransaction({ to, data: encodeFunctionData({ abi, functionName, args }), value, gas: GAS }),
      )
      return transactionHash
    },
  }
}
