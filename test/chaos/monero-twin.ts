import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { parseTransaction } from '../../server/src/adapters/chains/monero/transaction.ts'
import type { Json } from '../support/until.ts'

/**
 * A daemon behind this proxy answers as it does, but for one transaction that it reports twice: once more in a later
 * block, with other signatures and so with a hash of its own, paying the same one-time keys. Of the two coins one can ever
 * be spent (the burning bug). monerod takes such a pair; a customer's wallet that makes one is not written here.
 */
export type MoneroTwin = Readonly<{
  url: string
  /** From now on, in the next block that is asked for. Returns the twin's hash. */
  twin(txHash: string): Promise<string>
  close(): Promise<void>
}>

type Twin = Readonly<{ txHash: string; original: string; prunableHash: string; above: number }>
type State = { twin: Twin | null; block: { hash: string; height: number } | null }

export async function startMoneroTwin(upstream: string): Promise<MoneroTwin> {
  const origin = upstream.replace(/\/+$/, '')
  const state: State = { twin: null, block: null }
  const server = createServer((request, response) => {
    serve(origin, state, request, response).catch(() => response.destroy())
  })
  server.keepAliveTimeout = 120_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    twin: async (original) => {
      const { txs } = JSON.parse(await lookUp(origin, [original])) as Json
      const prunableHash = randomBytes(32)
      const content = parseTransaction(Buffer.from(txs[0].pruned_as_hex, 'hex'), prunableHash)
      if (content === null) throw new Error(`${original} cannot be read`)
      const twin = { txHash: content.txHash, original, prunableHash: prunableHash.toString('hex') }
      state.twin = { ...twin, above: txs[0].block_height }
      return content.txHash
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function lookUp(origin: string, hashes: readonly string[]): Promise<string> {
  const body = JSON.stringify({ txs_hashes: hashes, prune: true })
  const answer = await fetch(`${origin}/get_transactions`, {
    method: 'POST',
    body,
    signal: AbortSignal.timeout(30_000),
  })
  return answer.text()
}

async function serve(origin: string, state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const asked = Buffer.concat(chunks)
  const { twin } = state
  if (twin !== null && request.url === '/get_transactions') {
    const { txs_hashes: hashes } = JSON.parse(asked.toString()) as { txs_hashes: string[] }
    if (hashes.includes(twin.txHash)) return reply(response, Buffer.from(await withTwin(origin, state, twin, hashes)))
  }
  const answer = await fetch(origin + (request.url ?? ''), {
    method: request.method ?? 'GET',
    ...(asked.length === 0 ? {} : { body: asked }),
    signal: AbortSignal.timeout(30_000),
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  const isBlock = twin !== null && request.url === '/json_rpc' && asked.includes('"get_block"')
  reply(response, isBlock ? Buffer.from(inBlock(state, twin, bytes.toString())) : bytes)
}

function reply(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
}

/** The first block above the original has it, and only that one, however often it is asked for. */
function inBlock(state: State, twin: Twin, text: string): string {
  const answer = JSON.parse(text) as Json
  const header = answer.result?.block_header
  if (header === undefined) return text
  if (state.block === null && header.height > twin.above) state.block = { hash: header.hash, height: header.height }
  if (state.block?.hash !== header.hash) return text
  answer.result.tx_hashes = [...(answer.result.tx_hashes ?? []), twin.txHash]
  return JSON.stringify(answer)
}

async function withTwin(origin: string, { block }: State, twin: Twin, hashes: readonly string[]): Promise<string> {
  const others = hashes.filter((hash) => hash !== twin.txHash)
  const answer = JSON.parse(await lookUp(origin, [...new Set([...others, twin.original])])) as Json
  const original = answer.txs.find((one: Json) => one.tx_hash === twin.original)
  const double = { ...original, tx_hash: twin.txHash, prunable_hash: twin.prunableHash, block_height: block?.height }
  const requested = answer.txs.filter((one: Json) => others.includes(one.tx_hash))
  return JSON.stringify({ ...answer, txs: [...requested, double] })
}
