import Fastify, { type FastifyInstance } from 'fastify'
import { Refusal } from './control-error.ts'
import type { BlockClock } from './interval-miner.ts'
import type { LocalChain } from './local-chain.ts'
import type { Servers } from './server-registry.ts'

export type Controlled = Readonly<{ chain: LocalChain; clock: BlockClock }>

const mostBlocks = 1000
const deepestReorg = 50

const name = { type: 'string', minLength: 1, maxLength: 40 }
const address = { type: 'string', minLength: 1, maxLength: 200 }
const count = (maximum: number) => ({ type: 'integer', minimum: 1, maximum })
const object = (required: readonly string[], properties: Record<string, unknown>) => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
})

/** Linux gives out process ids up to 2^22. */
const serverBody = object(['pid'], { pid: { type: 'integer', minimum: 1, maximum: 2 ** 22 } })
const walletBody = object(['network'], { network: name })
const depositBody = object(['network', 'currency', 'address', 'amount'], {
  network: name,
  currency: name,
  address,
  memo: { type: ['string', 'null'], maxLength: 200 },
  amount: { type: 'string', minLength: 1, maxLength: 100 },
})
const balanceQuery = object(['network', 'currency', 'address'], { network: name, currency: name, address })
const blocksBody = object(['network', 'count'], { network: name, count: count(mostBlocks) })
const reorgBody = object(['network', 'depth'], { network: name, depth: count(deepestReorg), drop: { type: 'boolean' } })
const miningBody = object(['network', 'paused'], { network: name, paused: { type: 'boolean' } })

type OnNetwork = { network: string }
type Deposit = OnNetwork & { currency: string; address: string; memo?: string | null; amount: string }

type Find = (network: string) => Controlled

/** The sandbox's controls as JSON over HTTP. Loopback only and without a key: the API in front of it asks for one. */
export async function startControlServer(
  chains: readonly Controlled[],
  servers: Servers,
  port: number,
): Promise<FastifyInstance> {
  const server = Fastify({
    bodyLimit: 16 * 1024,
    forceCloseConnections: true,
    keepAliveTimeout: 120_000,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allowUnionTypes: true } },
  })
  const byName = new Map(chains.map((one) => [one.chain.network, one]))
  const find: Find = (network) => {
    const found = byName.get(network.toLowerCase())
    found?.clock.touch()
    if (found) return found
    const running = [...byName.keys()].join(', ')
    throw new Refusal(404, 'NETWORK_NOT_FOUND', `the sandbox runs no chain "${network}"; it runs ${running}`)
  }
  server.get('/networks', async () =>
    chains.map(({ chain: { network, rpcUrls, chainId, client } }) => ({
      network,
      rpcUrl: rpcUrls[0],
      chainId,
      client,
    })),
  )
  server.post<{ Body: { pid: number } }>('/servers', { schema: { body: serverBody } }, async ({ body }, reply) => {
    if (!servers.add(body.pid)) throw new Refusal(404, 'PROCESS_NOT_FOUND', `there is no process ${body.pid}`)
    reply.code(201)
    return { endWithServers: servers.endWithServers }
  })
  addMoney(server, find)
  addBlocks(server, find)
  answerErrors(server)
  await server.listen({ host: '127.0.0.1', port })
  return server
}

function addMoney(server: FastifyInstance, find: Find): void {
  server.post<{ Body: OnNetwork }>('/wallets', { schema: { body: walletBody } }, async ({ body }, reply) => {
    reply.code(201)
    return find(body.network).chain.createWallet()
  })
  server.post<{ Body: Deposit }>('/deposits', { schema: { body: depositBody } }, async ({ body }, reply) => {
    const { chain } = find(body.network)
    if (body.memo) throw new Refusal(400, 'MEMO_NOT_SUPPORTED', `${chain.network} has no memos`)
    const hash = await chain.deposit({ ...body, currency: body.currency.toLowerCase() })
    reply.code(201)
    return { hash }
  })
  server.get<{ Querystring: Deposit }>('/balance', { schema: { querystring: balanceQuery } }, async ({ query }) => {
    const currency = query.currency.toLowerCase()
    return { amount: await find(query.network).chain.balance({ currency, address: query.address }) }
  })
}

function addBlocks(server: FastifyInstance, find: Find): void {
  type Blocks = { Body: OnNetwork & { count: number } }
  server.post<Blocks>('/blocks', { schema: { body: blocksBody } }, async ({ body }, reply) => {
    const tip = await find(body.network).chain.mine(body.count)
    reply.code(201)
    return tip
  })
  type Reorg = { Body: OnNetwork & { depth: number; drop?: boolean } }
  server.post<Reorg>('/reorgs', { schema: { body: reorgBody } }, async ({ body }, reply) => {
    const tip = await find(body.network).chain.reorganize(body.depth, { drop: body.drop ?? false })
    reply.code(201)
    return tip
  })
  type Mining = { Body: OnNetwork & { paused: boolean } }
  server.post<Mining>('/mining', { schema: { body: miningBody } }, async ({ body }, reply) => {
    const { chain, clock } = find(body.network)
    if (body.paused) await clock.pause()
    else clock.resume()
    reply.code(201)
    return { network: chain.network, paused: body.paused }
  })
}

function answerErrors(server: FastifyInstance): void {
  server.setNotFoundHandler((request, reply) => {
    reply.code(404).send({ message: `the sandbox has no ${request.method} ${request.url}`, code: 'ROUTE_NOT_FOUND' })
  })
  server.setErrorHandler((error: Error & { statusCode?: number; validation?: unknown }, _request, reply) => {
    if (error instanceof Refusal) return reply.code(error.status).send({ message: error.message, code: error.code })
    const status = error.statusCode ?? 500
    if (status < 500) return reply.code(status).send({ message: error.message, code: 'VALIDATION_ERROR' })
    return reply.code(500).send({ message: `the sandbox failed: ${error.message}`, code: 'INTERNAL' })
  })
}
