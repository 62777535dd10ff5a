import { readFileSync } from 'node:fs'
import { callOnce } from '@swapyard/lib/json-rpc.ts'
import { inject } from 'vitest'
import type { ChainsFile } from '../../server/src/app/sandbox-chains.ts'
import type { Json } from './scenario.ts'

type Node = ChainsFile['networks'][number]

/** The test chains' node of a network, with the contracts of its tokens. */
export function nodeOf(network: string): Node {
  const { networks } = JSON.parse(readFileSync(inject('chainsFile'), 'utf8')) as ChainsFile
  const node = networks.find((one) => one.network === network)
  if (!node) throw new Error(`the test chains have no ${network}`)
  return node
}

/** Calls a node directly, beside the server and the sandbox's controls. */
export const nodeCall = async (network: string, method: string, params: readonly unknown[] = []): Promise<Json> =>
  callOnce(nodeOf(network).rpcUrls[0] ?? '', method, params)
