import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  ContractDecoder,
  EdrContext,
  L1_CHAIN_TYPE,
  l1GenesisState,
  l1HardforkFromString,
  l1ProviderFactory,
  MineOrdering,
  OP_CHAIN_TYPE,
  opGenesisState,
  opHardforkFromString,
  opProviderFactory,
  type Provider,
} from '@nomicfoundation/edr'
import { deploymentProxy, deploymentProxyCode } from '@swapyard/contracts'
import { hexToBytes, toHex } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { TEST_CHAIN_ID } from './anvil.ts'
import { type Ask, createTestNode, type TestNode } from './test-node.ts'

/**
 * Hardhat's node runtime behind HTTP: the second EVM client of the tests. It differs from anvil as nodes in production do.
 *
 * - Reverts have the error code -32000 with revert data, as in Besu; anvil and geth answer with code 3.
 * - Absent methods have the code -32004: block receipts, traces of blocks, eth_simulateV1, access lists.
 * - The pending block has no number, and the estimate of a plain transfer is 21 001 gas.
 * - The transactions of orphaned blocks return to the pool, as in geth; anvil drops them.
 */
export type EdrOptions = Readonly<{
  chain?: 'l1' | 'op'
  hardfork?: string
  chainId?: number
  blockGasLimit?: bigint
  /** Answers debug_traceBlockByHash as geth does, with edr's traces of the transactions. */
  tracesBlocks?: boolean
}>

const chains = {
  l1: {
    ...{ type: L1_CHAIN_TYPE, createFactory: l1ProviderFactory, hardfork: 'prague' },
    genesisOf: (hardfork: string) => l1GenesisState(l1HardforkFromString(hardfork)),
  },
  op: {
    ...{ type: OP_CHAIN_TYPE, createFactory: opProviderFactory, hardfork: 'isthmus' },
    genesisOf: (hardfork: string) => opGenesisState(opHardforkFromString(hardfork)),
  },
} as const

const GWEI = 10n ** 9n
/** The OP stack's predeploy with the prices of layer 1. */
export const L1_BLOCK = '0x4200000000000000000000000000000000000015'
/** OP Mainnet's scalars of the base fee (5 227) and the blob base fee (1 014 213), where the chain reads them. edr's genesis has none there. */
const L1_SCALARS = `0x${'0'.repeat(32)}0000146b000f79c5${'0'.repeat(16)}`
const MNEMONIC = 'test test test test test test test test test test test junk'
const owned = Array.from({ length: 10 }, (_, addressIndex) => mnemonicToAccount(MNEMONIC, { addressIndex }))

/** One for the process, as edr demands. */
const context = new EdrContext()
const registered = new Set<string>()

async function createProvider(options: EdrOptions): Promise<Provider> {
  const { type, createFactory, genesisOf, hardfork: latest } = chains[options.chain ?? 'l1']
  const { hardfork = latest, chainId = TEST_CHAIN_ID, blockGasLimit = 30_000_000n } = options
  if (!registered.has(type)) await context.registerProviderFactory(type, createFactory())
  registered.add(type)
  const config = {
    allowBlocksWithSameTimestamp: false,
    allowUnlimitedContractSize: true,
    bailOnCallFailure: true,
    bailOnTransactionFailure: false,
    chainId: BigInt(chainId),
    networkId: BigInt(chainId),
    coinbase: hexToBytes(`0x${'c0'.repeat(20)}`),
    defaultTransactionGasLimit: blockGasLimit,
    transactionGasCap: false as const,
    genesisState: [
      ...genesisOf(hardfork),
      ...owned.map(({ address }) => ({ address: hexToBytes(address), balance: 10n ** 30n })),
      { address: hexToBytes(deploymentProxy), code: hexToBytes(deploymentProxyCode) },
    ],
    hardfork,
    initialBaseFeePerGas: GWEI,
    initialParentBeaconBlockRoot: new Uint8Array(32),
    minGasPrice: 0n,
    mining: { autoMine: false, blockGasLimit, memPool: { order: MineOrdering.Fifo } },
    network: { genesisBlockGasLimit: blockGasLimit, genesisBlobGas: { gasUsed: 0n, excessGas: 0n } },
    observability: {},
    ownedAccounts: owned.map((account) => toHex(account.getHdKey().privateKey ?? new Uint8Array())),
    precompileOverrides: [],
  }
  const silent = { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => undefined }
  const unsubscribed = { subscriptionCallback: () => undefined }
  return context.createProvider(type, config, silent, unsubscribed, new ContractDecoder())
}

export async function startEdr(options: EdrOptions = {}): Promise<TestNode> {
  const server = await serve(await createProvider(options), options.tracesBlocks === true)
  /** The state before each block. Reverting to it drops it and all later ones. */
  const snapshots: unknown[] = []

  async function mine(blocks: number, ask: Ask): Promise<void> {
    for (let n = 0; n < blocks; n++) {
      snapshots.push(await ask('evm_snapshot', []))
      await ask('evm_mine', [])
    }
  }

  const node = await createTestNode(server.url, {
    mine,
    async reorg(depth, ask) {
      const [snapshot] = snapshots.splice(-depth)
      if (!(await ask('evm_revert', [snapshot]))) throw new Error(`no snapshot ${depth} blocks ago`)
      await ask('hardhat_setPrevRandao', [toHex(crypto.getRandomValues(new Uint8Array(32)))])
      await mine(depth, ask)
    },
    stop: server.stop,
  })
  if (options.chain === 'op') await node.request('hardhat_setStorageAt', [L1_BLOCK, '0x3', L1_SCALARS])
  return node
}

type Request = Readonly<{ id: unknown; method: string; params?: readonly unknown[] }>

async function serve(provider: Provider, tracesBlocks: boolean) {
  async function handle(request: Request): Promise<object> {
    // edr demands parameters and leaves the id to its caller.
    const { data } = await provider.handleRequest(JSON.stringify({ params: [], ...request }))
    return { ...(typeof data === 'string' ? JSON.parse(data) : data), id: request.id }
  }

  async function traceBlock({ id, params: [hash, tracer] = [] }: Request): Promise<object> {
    const result = async (method: string, params: readonly unknown[]) => {
      const reply = await handle({ id, method, params })
      return (reply as { result?: unknown }).result
    }
    const block = (await result('eth_getBlockByHash', [hash, false])) as { transactions: readonly string[] } | null
    if (block === null) return { jsonrpc: '2.0', id, error: { code: -32000, message: `block ${hash} not found` } }
    const traces = block.transactions.map(async (txHash) => ({
      txHash,
      result: await result('debug_traceTransaction', [txHash, tracer]),
    }))
    return { jsonrpc: '2.0', id, result: await Promise.all(traces) }
  }

  const answer = (request: Request) =>
    tracesBlocks && request.method === 'debug_traceBlockByHash' ? traceBlock(request) : handle(request)

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Request | Request[]
    const reply = Array.isArray(body) ? await Promise.all(body.map(answer)) : await answer(body)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
