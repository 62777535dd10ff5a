import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Abi, decodeFunctionResult, type Hex } from 'viem'
import { PATIENCE_MS } from '../../../../../test/support/patience.ts'
import { type Anvil, call, hex, startAnvil } from '../../../adapters/chains/evm/anvil.ts'
import { type Compiled, compile } from '../../../adapters/chains/evm/compile.ts'

/** An anvil node with one deployed harness, to run published contracts. */
export type Chain = Readonly<{
  anvil: Anvil
  harness: Hex
  /** Deploys through the harness, which owns what it deploys. */
  deploy(code: Hex): Promise<Hex>
  /** Calls the harness in a transaction. */
  send(functionName: string, args: readonly unknown[]): Promise<void>
  /** Calls the harness with eth_call, without changing the chain. */
  ask<T>(functionName: string, args: readonly unknown[]): Promise<T>
}>

/** High enough to set up a pool and run all of its trades in one call. */
const GAS = 4_000_000_000n
const OPTIONS = ['--gas-limit', String(GAS), '--hardfork', 'cancun', '--code-size-limit', '100000']

/** Anvil options for tests that mine thousands of blocks: without pruning, stored states slow down each further block. */
export const PRUNE_HISTORY = ['--prune-history', '16']

export async function startChain(name: string, options: readonly string[] = []): Promise<Chain> {
  const harnesses = await compile(join(import.meta.dirname, 'harness.sol'))
  const { abi, bytecode } = harnesses[name] as Compiled
  const anvil = await startAnvil([...OPTIONS, ...options])
  const deployment = await anvil.sendAndMine({ data: bytecode, gas: GAS / 100n })
  const receipt = await receiptOf(anvil, deployment.txHash)
  const harness = receipt.contractAddress
  const send = async (functionName: string, args: readonly unknown[]) => {
    const transaction = await anvil.sendAndMine({ to: harness, data: call(abi, functionName, args), gas: GAS / 2n })
    return receiptOf(anvil, transaction.txHash)
  }
  return {
    anvil,
    harness,
    async deploy(code) {
      const { logs } = await send('deploy', [code])
      return `0x${logs.at(-1)?.data.slice(-40)}`
    },
    async send(functionName, args) {
      await send(functionName, args)
    },
    async ask<T>(functionName: string, args: readonly unknown[]) {
      const data = call(abi, functionName, args)
      const answer = await anvil.request<Hex>('eth_call', [{ to: harness, data, gas: hex(GAS) }, 'latest'])
      return decodeFunctionResult({ abi, functionName, data: answer }) as T
    },
  }
}

type Receipt = Readonly<{ status: Hex; contractAddress: Hex; logs: readonly { data: Hex }[] }>

async function receiptOf(anvil: Anvil, txHash: string): Promise<Receipt> {
  const receipt = await anvil.request<Receipt>('eth_getTransactionReceipt', [txHash])
  if (receipt.status !== '0x1') throw new Error(`${txHash} reverted`)
  return receipt
}

export type Artifact = Readonly<{ abi: Abi; bytecode: Hex }>

/** A compiled contract from an npm package. */
export function artifact(name: string, path: string): Artifact {
  const folder = folderOf(name)
  const { abi, bytecode } = JSON.parse(readFileSync(join(folder, path), 'utf8')) as {
    abi: Abi
    bytecode: string | { object: string }
  }
  const code = typeof bytecode === 'string' ? bytecode : bytecode.object
  return { abi, bytecode: (code.startsWith('0x') ? code : `0x${code}`) as Hex }
}

function folderOf(name: string): string {
  const paths = createRequire(import.meta.url).resolve.paths(name) ?? []
  const folder = paths.map((path) => join(path, name)).find((path) => existsSync(join(path, 'package.json')))
  if (folder === undefined) throw new Error(`the package ${name} is not installed`)
  return folder
}

/** Trades per pool. */
export const TRADES = 12
/** Swaps per contract in a test run. TEST_SWAPS sets another number; `npm run test:long` doubles it. */
const SWAPS = 600
export const POOLS = Math.ceil(readSwapCount() / TRADES)
/** TEST_SWAPS relative to the default, for tests with numbers of their own. */
export const SWAPS_FACTOR = Math.max(1, Math.ceil(readSwapCount() / SWAPS))
export const RUN_MS = 2 * PATIENCE_MS * SWAPS_FACTOR

function readSwapCount(): number {
  const requested = Number(process.env['TEST_SWAPS'] ?? SWAPS)
  if (!Number.isSafeInteger(requested) || requested < 1)
    throw new Error('TEST_SWAPS must be a positive integer: the number of swaps per contract')
  return requested
}
