import { createJsonRpc, unwrapAnswer } from '@swapyard/lib/json-rpc.ts'
import pLimit from 'p-limit'
import { type Abi, encodeDeployData, encodeFunctionData, type Hex } from 'viem'
import { PATIENCE_MS } from '../../../../../test/support/patience.ts'
import type { Compiled } from './compile.ts'

export type Sent = Readonly<{ to?: string | undefined; value?: bigint; data?: Hex; from?: string; gas?: bigint }>
export type Ask = <T = unknown>(method: string, params: readonly unknown[]) => Promise<T>

/** An EVM node on its own port, mining on request only. Control calls run one after another. */
export type TestNode = Readonly<{
  url: string
  accounts: readonly string[]
  request: Ask
  /** Sends a transaction to the pool and returns its hash. The gas limit is fixed, so that reverting calls are mined, too. */
  send(sent: Sent): Promise<string>
  /** Mines blocks with the pool's transactions and returns the last height. */
  mine(blocks?: number): Promise<number>
  /** Sends, mines one block, and returns the hash and the height. */
  sendAndMine(sent: Sent): Promise<{ txHash: string; height: number }>
  deploy(compiled: Compiled, args: readonly unknown[], value?: bigint): Promise<string>
  /** Replaces the last blocks by as many others. */
  reorg(depth: number): Promise<void>
  /** Lets `send` send from an account whose key the node does not have. */
  impersonate(address: string): Promise<void>
  setCode(address: string, code: string): Promise<void>
  stop(): Promise<void>
}>

/** What each client does in its own way. */
export type Control = Readonly<{
  mine(blocks: number, ask: Ask): Promise<unknown>
  reorg(depth: number, ask: Ask): Promise<unknown>
  stop(): Promise<void>
}>

/** Enough for all test contracts, and below the block gas limit. */
const GAS = 3_000_000n

export async function createTestNode(url: string, control: Control): Promise<TestNode> {
  const rpc = createJsonRpc({ url, timeoutMs: PATIENCE_MS })
  const inTurn = pLimit(1)
  const ask: Ask = async <T>(method: string, params: readonly unknown[]) =>
    unwrapAnswer(method, await rpc.call(method, params)) as T
  const request: Ask = (method, params) => inTurn(() => ask(method, params))

  const accounts = await request<string[]>('eth_accounts', [])
  const send = ({ to, value = 0n, data = '0x', from = accounts[0] ?? '', gas = GAS }: Sent) =>
    request<string>('eth_sendTransaction', [
      { from, ...(to === undefined ? {} : { to }), value: hex(value), data, gas: hex(gas) },
    ])
  const mine = async (blocks = 1) => {
    await inTurn(() => control.mine(blocks, ask))
    return Number(await request<Hex>('eth_blockNumber', []))
  }
  const sendAndMine = async (sent: Sent) => ({ txHash: await send(sent), height: await mine() })

  return {
    url,
    accounts,
    request,
    send,
    mine,
    sendAndMine,
    async deploy({ abi, bytecode }, args, value = 0n) {
      const { txHash } = await sendAndMine({ data: encodeDeployData({ abi, bytecode, args: [...args] }), value })
      const receipt = await request<{ status: Hex; contractAddress: string }>('eth_getTransactionReceipt', [txHash])
      if (receipt.status !== '0x1') throw new Error('the deployment failed')
      return receipt.contractAddress
    },
    async reorg(depth) {
      await inTurn(() => control.reorg(depth, ask))
    },
    // anvil has Hardhat's methods, too.
    async impersonate(address) {
      await request('hardhat_impersonateAccount', [address])
    },
    async setCode(address, code) {
      await request('hardhat_setCode', [address, code])
    },
    async stop() {
      await control.stop()
      await rpc.close()
    },
  }
}

/** Calldata of a function of a test contract. */
export function call(abi: Abi, functionName: string, args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi, functionName, args: [...args] })
}

export function hex(value: bigint | number): Hex {
  return `0x${value.toString(16)}`
}
