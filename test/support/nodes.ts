import { readFileSync } from 'node:fs'
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

/** Whether the test chains have it. Litecoin Core and Monero are the machine's: what is absent is said, and fails on a build server. */
export function hasNode(network: string): boolean {
  const { networks } = JSON.parse(readFileSync(inject('chainsFile'), 'utf8')) as ChainsFile
  return networks.some((one) => one.network === network)
}

/** Asks a node directly, beside the app and the sandbox's controls. */
export async function nodeCall(network: string, method: string, params: readonly unknown[] = []): Promise<Json> {
  const { username, password, host } = new URL(nodeOf(network).rpcUrls[0] ?? '')
  const login =
    username === '' ? {} : { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
  const answer = await fetch(`http://${host}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...login },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await answer.json()) as { result?: Json; error?: { message: string } | null }
  if (error) throw new Error(`${network} ${method}: ${error.message}`)
  return result
}
