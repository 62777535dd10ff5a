import { readFileSync } from 'node:fs'
import { callOnce, RpcError } from '@swapyard/lib/json-rpc.ts'
import { inject } from 'vitest'
import type { ChainsFile } from '../../server/src/app/sandbox-chains.ts'
import type { Json } from './scenario.ts'

type Node = ChainsFile['networks'][number]

/** The chains that the test files of a run share. */
const readSharedChains = () => JSON.parse(readFileSync(inject('chainsFile'), 'utf8')) as ChainsFile

/** Returns the sandbox node of a network with the contract addresses of its tokens. */
export function findNode(network: string, { networks }: ChainsFile = readSharedChains()): Node {
  const node = networks.find((entry) => entry.network === network)
  if (!node) throw new Error(`the sandbox does not run the network ${network}`)
  return node
}

/** Calls a node directly, without the server and without the sandbox's control API. */
export const callNode = async (
  network: string,
  method: string,
  params: readonly unknown[] = [],
  chains?: ChainsFile,
): Promise<Json> => callOnce(findNode(network, chains).rpcUrls[0] ?? '', method, params)

/** Calls a node of these chains. */
export const nodeCaller =
  (network: string, chains: ChainsFile) =>
  (method: string, ...params: readonly unknown[]): Promise<Json> =>
    callNode(network, method, params, chains)

/** Bitcoin Core's code for a transaction that is in no block and not in the mempool. */
const UNKNOWN_TRANSACTION = -5

/** The bytes of a transaction that the node has; null if it does not have them. */
export async function readRawTransaction(network: string, txHash: string, chains?: ChainsFile): Promise<string | null> {
  try {
    return await callNode(network, 'getrawtransaction', [txHash], chains)
  } catch (error) {
    if (error instanceof RpcError && error.code === UNKNOWN_TRANSACTION) return null
    throw error
  }
}
