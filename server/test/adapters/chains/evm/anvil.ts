import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { createJsonRpc, unwrapAnswer } from '@swapyard/lib/json-rpc.ts'
import pLimit from 'p-limit'
import { type Abi, encodeDeployData, encodeFunctionData, type Hex } from 'viem'
import { PATIENCE_MS } from '../../../../../test/support/patience.ts'
import type { Compiled } from './compile.ts'

export const TEST_CHAIN_ID = 3_133_700_001

export type Sent = Readonly<{ to?: string | undefined; value?: bigint; data?: Hex; from?: string; gas?: bigint }>

/** An anvil node on its own port, mining on request only. Control calls run one after another. */
export type Anvil = Readonly<{
  url: string
  accounts: readonly string[]
  request<T = unknown>(method: string, params: readonly unknown[]): Promise<T>
  /** Sends a transaction to the pool and returns its hash. The gas limit is fixed, so that reverting calls are mined, too. */
  send(sent: Sent): Promise<string>
  /** Mines blocks with the pool's transactions and returns the last height. */
  mine(blocks?: number): Promise<number>
  /** Sends, mines one block, and returns the hash and the height. */
  sendAndMine(sent: Sent): Promise<{ txHash: string; height: number }>
  deploy(compiled: Compiled, args: readonly unknown[], value?: bigint): Promise<string>
  stop(): Promise<void>
}>

const PLATFORMS: Readonly<Record<string, string>> = {
  'linux-x64': 'anvil-linux-amd64',
  'linux-arm64': 'anvil-linux-arm64',
  'darwin-x64': 'anvil-darwin-amd64',
  'darwin-arm64': 'anvil-darwin-arm64',
}
/** Enough for all test contracts, and below the block gas limit. */
const GAS = 3_000_000n

function binary(): string {
  const name = PLATFORMS[`${process.platform}-${process.arch}`]
  const packageFile = createRequire(import.meta.url).resolve(`@foundry-rs/${name}/package.json`)
  return join(dirname(packageFile), 'bin', 'anvil')
}

export async function startAnvil(options: readonly string[] = []): Promise<Anvil> {
  const chainId = options.includes('--chain-id') ? [] : ['--chain-id', String(TEST_CHAIN_ID)]
  const fixed = ['--port', '0', ...chainId, '--no-mining', '--order', 'fifo']
  const child = spawn(binary(), [...fixed, ...options], { stdio: ['ignore', 'pipe', 'ignore'] })
  const url = await listening(child)
  const rpc = createJsonRpc({ url, timeoutMs: PATIENCE_MS })
  const inTurn = pLimit(1)
  const request = <T>(method: string, params: readonly unknown[]): Promise<T> =>
    inTurn(async () => unwrapAnswer(method, await rpc.call(method, params)) as T)

  const accounts = await request<string[]>('eth_accounts', [])
  const send = ({ to, value = 0n, data = '0x', from = accounts[0] ?? '', gas = GAS }: Sent) =>
    request<string>('eth_sendTransaction', [
      { from, ...(to === undefined ? {} : { to }), value: hex(value), data, gas: hex(gas) },
    ])
  const mine = async (blocks = 1) => {
    await request('anvil_mine', [hex(blocks)])
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
    async stop() {
      const exit = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await exit
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

async function listening(child: ChildProcess): Promise<string> {
  const { stdout } = child
  if (!stdout) throw new Error('no output')
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('anvil did not start')), PATIENCE_MS)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`anvil exited with code ${code}`)))
    createInterface({ input: stdout }).on('line', (line) => {
      const match = /Listening on (127\.0\.0\.1:\d+)/.exec(line)
      if (!match) return
      clearTimeout(timer)
      resolve(`http://${match[1]}`)
    })
  })
}
