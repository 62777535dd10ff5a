import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { parseTransaction } from '../../server/src/adapters/chains/monero/transaction.ts'
import type { Json } from '../support/until.ts'
import { type LocalServer, readBody, sendJson, startLocalServer } from './local-server.ts'

/**
 * Forwards requests to monerod and can add a duplicate of one transaction: in a later block or in its own, with other
 * signatures and so with another hash, paying the same one-time keys. Only one of the two outputs can ever be spent (the burning bug).
 * monerod accepts such a pair, but no available wallet creates one.
 */
export type MoneroProxy = LocalServer &
  Readonly<{
    /** Adds a duplicate of the transaction to the next requested block, or to its own. Returns the hash of the duplicate. */
    addDuplicate(txHash: string, place?: 'later' | 'own block'): Promise<string>
  }>

type Duplicate = Readonly<{ txHash: string; original: string; prunableHash: string; minHeight: number }>
type State = { duplicate: Duplicate | null; block: { hash: string; height: number } | null }

export async function startMoneroProxy(upstream: string): Promise<MoneroProxy> {
  const origin = upstream.replace(/\/+$/, '')
  const state: State = { duplicate: null, block: null }
  const server = await startLocalServer((request, response) => forward(origin, state, request, response))
  return {
    ...server,
    addDuplicate: async (original, place = 'later') => {
      const { txs } = JSON.parse(await fetchTransactions(origin, [original])) as Json
      const prunableHash = randomBytes(32)
      const content = parseTransaction(Buffer.from(txs[0].pruned_as_hex, 'hex'), prunableHash)
      if (content === null) throw new Error(`the transaction ${original} cannot be parsed`)
      const { txHash } = content
      const minHeight = txs[0].block_height + (place === 'later' ? 1 : 0)
      state.duplicate = { txHash, original, prunableHash: prunableHash.toString('hex'), minHeight }
      return txHash
    },
  }
}

async function fetchTransactions(origin: string, hashes: readonly string[]): Promise<string> {
  const body = JSON.stringify({ txs_hashes: hashes, prune: true })
  const answer = await fetch(`${origin}/get_transactions`, {
    method: 'POST',
    body,
    signal: AbortSignal.timeout(30_000),
  })
  return answer.text()
}

async function forward(
  origin: string,
  state: State,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request)
  const { duplicate } = state
  if (duplicate !== null && request.url === '/get_transactions') {
    const { txs_hashes: hashes } = JSON.parse(body.toString()) as { txs_hashes: string[] }
    if (hashes.includes(duplicate.txHash))
      return sendJson(response, await fetchWithDuplicate(origin, state, duplicate, hashes))
  }
  const answer = await fetch(origin + (request.url ?? ''), {
    method: request.method ?? 'GET',
    ...(body.length === 0 ? {} : { body }),
    signal: AbortSignal.timeout(30_000),
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  const isBlock = duplicate !== null && request.url === '/json_rpc' && body.includes('"get_block"')
  sendJson(response, isBlock ? addToBlock(state, duplicate, bytes.toString()) : bytes)
}

/** Adds the duplicate to the first requested block that is high enough, and to the same block in later requests. */
function addToBlock(state: State, duplicate: Duplicate, text: string): string {
  const answer = JSON.parse(text) as Json
  const header = answer.result?.block_header
  if (header === undefined) return text
  if (state.block === null && header.height >= duplicate.minHeight)
    state.block = { hash: header.hash, height: header.height }
  if (state.block?.hash !== header.hash) return text
  answer.result.tx_hashes = [...(answer.result.tx_hashes ?? []), duplicate.txHash]
  return JSON.stringify(answer)
}

async function fetchWithDuplicate(
  origin: string,
  { block }: State,
  duplicate: Duplicate,
  hashes: readonly string[],
): Promise<string> {
  const others = hashes.filter((hash) => hash !== duplicate.txHash)
  const answer = JSON.parse(await fetchTransactions(origin, [...new Set([...others, duplicate.original])])) as Json
  const original = answer.txs.find((one: Json) => one.tx_hash === duplicate.original)
  const added = {
    ...original,
    tx_hash: duplicate.txHash,
    prunable_hash: duplicate.prunableHash,
    block_height: block?.height,
  }
  const requested = answer.txs.filter((one: Json) => others.includes(one.tx_hash))
  return JSON.stringify({ ...answer, txs: [...requested, added] })
}
