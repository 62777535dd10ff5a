import Fastify, { type FastifyInstance } from 'fastify'
import { withoutTrailingZeros } from './amount.ts'
import { ControlError } from './control-error.ts'
import type { IntervalMiner } from './interval-miner.ts'
import type { LocalChain } from './local-chain.ts'
import { hasPrice } from './prices.ts'
import type { ServerRegistry } from './server-registry.ts'

export type ControlledChain = Readonly<{ chain: LocalChain; miner: IntervalMiner }>

const blocksMax = 1000
const reorgDepthMax = 50

const name = { type: 'string', minLength: 1, maxLength: 40 }
const address = { type: 'string', minLength: 1, maxLength: 200 }
const count = (maximum: number) => ({ type: 'integer', minimum: 1, maximum })
const object = (required: readonly string[], properties: Record<string, unknown>) => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
})

/** Linux limits process ids to 2^22 (proc(5), pid_max). */
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
const blocksBody = object(['network', 'count'], { network: name, count: count(blocksMax) })
const reorgBody = object(['network', 'depth'], {
  network: name,
  depth: count(reorgDepthMax),
  drop: { type: 'boolean' },
})
const miningBody = object(['network', 'paused'], { network: name, paused: { type: 'boolean' } })

const pricesBody = object(['currency', 'usd'], { currency: name, usd: { type: ['string', 'null'], maxLength: 100 } })

type NetworkRequest = { network: string }
type DepositRequest = NetworkRequest & { currency: string; address: string; memo?: string | null; amount: string }

type FindChain = (network: string) => ControlledChain

/**
 * Serves the sandbox controls as JSON over HTTP. Loopback only and without a key; the API in front of it requires one.
 */
export async function startControlServer(
  chains: readonly ControlledChain[],
  servers: ServerRegistry,
  port: number,
): Promise<FastifyInstance> {
  const server = Fastify({
    bodyLimit: 16 * 1024,
    forceCloseConnections: true,
    keepAliveTimeout: 120_000,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allowUnionTypes: true } },
  })
  const byName = new Map(chains.map((one) => [one.chain.network, one]))
  const findChain: FindChain = (network) => {
    const chain = byName.get(network.toLowerCase())
    chain?.miner.recordUse()
    if (chain) return chain
    const running = [...byName.keys()].join(', ')
    throw new ControlError(
      404,
      'NETWORK_NOT_FOUND',
      `the sandbox does not run network "${network}"; it runs ${running}`,
    )
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
    if (!servers.register(body.pid))
      throw new ControlError(404, 'PROCESS_NOT_FOUND', `process ${body.pid} does not exist`)
    reply.code(201)
    return { endWithServers: servers.endWithServers }
  })
  addWalletRoutes(server, findChain)
  addBlockRoutes(server, findChain)
  addPriceRoutes(server)
  addErrorReplies(server)
  await server.listen({ host: '127.0.0.1', port })
  return server
}

function addWalletRoutes(server: FastifyInstance, findChain: FindChain): void {
  server.post<{ Body: NetworkRequest }>('/wallets', { schema: { body: walletBody } }, async ({ body }, reply) => {
    reply.code(201)
    return findChain(body.network).chain.createWallet()
  })
  server.post<{ Body: DepositRequest }>('/deposits', { schema: { body: depositBody } }, async ({ body }, reply) => {
    const { chain } = findChain(body.network)
    if (body.memo) throw new ControlError(400, 'MEMO_NOT_SUPPORTED', `${chain.network} does not support memos`)
    const hash = await chain.deposit({ ...body, currency: body.currency.toLowerCase() })
    reply.code(201)
    return { hash }
  })
  server.get<{ Querystring: DepositRequest }>(
    '/balance',
    { schema: { querystring: balanceQuery } },
    async ({ query }) => {
      const currency = query.currency.toLowerCase()
      return { amount: await findChain(query.network).chain.readBalance({ currency, address: query.address }) }
    },
  )
}

function addBlockRoutes(server: FastifyInstance, findChain: FindChain): void {
  type BlocksRoute = { Body: NetworkRequest & { count: number } }
  server.post<BlocksRoute>('/blocks', { schema: { body: blocksBody } }, async ({ body }, reply) => {
    const tip = await findChain(body.network).chain.mine(body.count)
    reply.code(201)
    return tip
  })
  type ReorgRoute = { Body: NetworkRequest & { depth: number; drop?: boolean } }
  server.post<ReorgRoute>('/reorgs', { schema: { body: reorgBody } }, async ({ body }, reply) => {
    const tip = await findChain(body.network).chain.reorganize(body.depth, { drop: body.drop ?? false })
    reply.code(201)
    return tip
  })
  type MiningRoute = { Body: NetworkRequest & { paused: boolean } }
  server.post<MiningRoute>('/mining', { schema: { body: miningBody } }, async ({ body }, reply) => {
    const { chain, miner } = findChain(body.network)
    if (body.paused) await miner.pause()
    else miner.resume()
    reply.code(201)
    return { network: chain.network, paused: body.paused }
  })
}

/** As in the server's price documents: at most 12 digits before and after the point. Zeros may follow. */
const DECIMAL = /^(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,12})0*)?$/

/** The price without trailing zeros; null if the text is not a price. */
function readUsd(text: string): string | null {
  const [, whole, decimals = ''] = DECIMAL.exec(text) ?? []
  if (whole === undefined || !/[1-9]/.test(text)) return null
  const fraction = withoutTrailingZeros(decimals)
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** Prices that were fixed, by ticker. Every server of these chains reads them; they end with the chains. */
function addPriceRoutes(server: FastifyInstance): void {
  const fixedUsd = new Map<string, string>()
  server.get('/prices', async () => ({ usd: Object.fromEntries(fixedUsd) }))
  type PricesRoute = { Body: { currency: string; usd: string | null } }
  server.post<PricesRoute>('/prices', { schema: { body: pricesBody } }, async ({ body }, reply) => {
    const currency = body.currency.toLowerCase()
    const usd = body.usd === null ? null : readUsd(body.usd)
    if (!hasPrice(currency))
      throw new ControlError(404, 'CURRENCY_NOT_FOUND', `the sandbox has no price for currency "${body.currency}"`)
    if (usd === null && body.usd !== null)
      throw new ControlError(
        400,
        'AMOUNT_MALFORMED',
        `usd "${body.usd}" is not a positive decimal of at most 12 digits before and after the point`,
      )
    if (usd === null) fixedUsd.delete(currency)
    else fixedUsd.set(currency, usd)
    reply.code(201)
    return { currency, usd }
  })
}

function addErrorReplies(server: FastifyInstance): void {
  server.setNotFoundHandler((request, reply) => {
    reply
      .code(404)
      .send({ message: `the sandbox has no route ${request.method} ${request.url}`, code: 'ROUTE_NOT_FOUND' })
  })
  server.setErrorHandler((error: Error & { statusCode?: number; validation?: unknown }, _request, reply) => {
    if (error instanceof ControlError)
      return reply.code(error.status).send({ message: error.message, code: error.code })
    const status = error.statusCode ?? 500
    if (status < 500) return reply.code(status).send({ message: error.message, code: 'VALIDATION_ERROR' })
    return reply.code(500).send({ message: `the sandbox failed: ${error.message}`, code: 'INTERNAL' })
  })
}
