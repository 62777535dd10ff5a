import { readFileSync } from 'node:fs'
import { callOnce, RpcError } from '@swapyard/lib/json-rpc.ts'
import { inject } from 'vitest'
import type { ChainsFile } from '../../server/src/app/sandbox-chains.ts'
import type { Json } from './scenario.ts'

type Node = ChainsFile['networks'][number]

/** Returns the sandbox node of a network with the contract addresses of its tokens. */
export function findNode(network: string): Node {
  const { networks } = JSON.parse(readFileSync(inject('chainsFile'), 'utf8')) as ChainsFile
  const node = networks.find((entry) => entry.network === network)
  if (!node) throw new Error(`the sandbox does not run the network ${network}`)
  return node
}

/** Calls a node directly, without the server and without the sandbox's control API. */
export const callNode = async (network: string, method: string, params: readonly unknown[] = []): Promise<Json> =>
  callOnce(findNode(network).rpcUrls[0] ?? '', method, params)

/** Bitcoin Core's code for a transaction that is in no block and not in the mempool. */
const UNKNOWN_TRANSACTION = -5

/** The bytes of a transaction that the node has; null if it does not have them. */
export async function readRawTransaction(network: string, txHash: string): Promise<string | null> {
  try {
    return await callNode(network, 'getrawtransaction', [txHash])
  } catch (error) {
    if (error instanceof RpcError && error.code === UNKNOWN_TRANSACTION) return null
    throw error
  }
}
