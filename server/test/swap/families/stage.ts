import { randomUUID } from 'node:crypto'
import { networks as definitions } from '../../../networks/index.ts'
import { createIdempotencyStore } from '../../../src/adapters/postgres/core/idempotency.ts'
import { createRouteFinder } from '../../../src/adapters/router/find-route.ts'
import { createHttpServer } from '../../../src/app/http.ts'
import { createSwapServices, type SwapOptions } from '../../../src/app/swaps.ts'
import { defaultSpreads, emptyBook } from '../../../src/core/domain/book.ts'
import { createCatalogue } from '../../../src/core/domain/catalogue.ts'
import { apiDefaults } from '../../../src/core/http/settings.ts'
import { createWithIdempotency } from '../../../src/core/services/with-idempotency.ts'
import { createBookSnapshot } from '../../../src/exchange/quotes/book-snapshot.ts'
import type { Log } from '../../../src/lib/log.ts'
import { isPaused, poolPausesOf } from '../../../src/swap/domain/pool-pauses.ts'
import type { PoolsAt } from '../../../src/swap/ports/pools.ts'
import type { Router } from '../../../src/swap/ports/router.ts'
import type { UniswapV2Pool } from '../../../src/swap/routing/pools/uniswap-v2.ts'
import { openTestDatabase } from '../../adapters/postgres/database.ts'
import { createServicesInMemory } from '../../core/http/services-in-memory.ts'
import type { MemoryFamily } from './memory-families.ts'
import { createMemoryLedger, createWallet } from './memory-ledger.ts'
import { createMemorySwapChain } from './memory-swap-chain.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers of every kind
export type Json = any

const COIN = 10n ** 9n
/** 1 000 coins against 150 000 of a token with six decimals, and that token against one with eight. */
export const reserves = { coin: 1_000n * COIN, usd: 150_000n * 10n ** 6n, other: 150_000n * 10n ** 8n } as const
export const FEE_PPM = 3_000

const noLog: Log = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  child: () => noLog,
}

function poolsOf({ native, tokens: [usd, other] }: MemoryFamily): readonly UniswapV2Pool[] {
  const pool = (id: string, pair: readonly string[], held: readonly [bigint, bigint]): UniswapV2Pool => ({
    ...{ kind: 'uniswap-v2', id, address: id, dex: 'a dex', tokens: pair, reserves: held, feePpm: FEE_PPM },
  })
  return [
    pool('Pool1', [native, usd], [reserves.coin, reserves.usd]),
    pool('Pool2', [usd, other], [reserves.usd, reserves.other]),
  ]
}

/** Two partners before the HTTP server, over Postgres and a network in memory. The test mines the blocks and runs the tracker. */
export async function startStage(
  family: MemoryFamily,
  options: Partial<Pick<SwapOptions, 'environment' | 'mail'>> = {},
) {
  const { native, network, tokens } = family
  const opened = await openTestDatabase()
  const { database } = opened
  const partnerIds = new Map([
    ['p1', randomUUID()],
    ['p2', randomUUID()],
  ])
  for (const [name, id] of partnerIds)
    await database.query('insert into partners (id, name) values ($1, $2)', [id, name])
  const facts = [
    { address: tokens[0], name: 'US dollar', symbol: 'USDC', decimals: 6 },
    { address: tokens[1], name: 'Not US dollar', symbol: 'usdc', decimals: 8 },
  ] as const
  const ledger = createMemoryLedger(family, poolsOf(family))
  const chain = createMemorySwapChain(family, ledger, new Map(facts.map((token) => [token.address, token])))
  const operator = createWallet(family)
  const restricted = createWallet(family)
  const books = createBookSnapshot(emptyBook(defaultSpreads))
  const unpaused = () => {
    const pauses = poolPausesOf(books.current().pauses.pools ?? [], network.id)
    return ledger.pools().filter((pool) => !isPaused(pool, pauses))
  }

  const find = createRouteFinder({ budgetMs: 1_000 })
  const poolsAt = (): PoolsAt => ({
    ...{ block: ledger.block(), readAtMs: Date.now(), head: ledger.state.height, pools: unpaused() },
    ...{ listed: new Set([native, ...tokens]), refusedTokens: new Map(), wrapped: chain.wrapped },
    ...{ millionGasPrice: 5_000n, nativeDecimals: network.decimals },
  })
  const router: Router = {
    route: async (order) => find(poolsAt(), order),
    state: () => ({ block: ledger.block(), readAtMs: Date.now(), pools: 2 }),
    liquidity: () => new Map([native, ...tokens].map((token, n) => [token, 300_000 - n])),
    depth: () => ({ units: 2_500_000_000, maximumUnits: 3_000_000_000 }),
    listPools: async () =>
      ledger.pools().map(({ id, dex, tokens: held }, n) => ({ id, dex, tokens: held, dollars: n })),
  }

  const catalogue = createCatalogue({
    ...{ networks: definitions, currencies: [], environment: 'sandbox', tokens: {}, enabled: () => false },
  })
  const now = () => Date.now()
  const swaps = await createSwapServices(
    {
      environment: 'sandbox',
      swaps: {
        ...{ routing: [], served: new Map([[network.id, { chain, nativeIsToken: false }]]) },
        // Lists of tokens name the coin, too, by its wrapped token.
        ownTokens: new Map([[network.id, [...facts, { address: native, name: 'W', symbol: 'W', decimals: 9 }]]]),
        settings: { feeAddresses: new Map([[network.id, operator.address]]) },
      },
      ...{ pepper: Buffer.from('a pepper'), denied: [`${network.id}:${restricted.address}`], log: noLog },
      ...options,
    },
    {
      ...{ database, catalogue, books, router },
      clock: { now, databaseNow: now, stop: async () => undefined },
      ...{ askAggregators: null, buildAggregatorCall: null },
    },
  )

  const inMemory = createServicesInMemory()
  const app = createHttpServer({
    services: {
      ...inMemory,
      authenticate: async (...request) => {
        const caller = await inMemory.authenticate(...request)
        return { ...caller, partner: { ...caller.partner, id: partnerIds.get(caller.partner.id) ?? '' } }
      },
      swaps: swaps.services,
      withIdempotency: createWithIdempotency(createIdempotencyStore(database)),
    },
    log: noLog,
    metrics: { observeRequest: () => undefined, render: async () => '', contentType: 'text/plain' },
    settings: { ...apiDefaults, overload: null, publicUrl: 'http://127.0.0.1:8080' },
  })

  const call = async (method: 'GET' | 'POST', path: string, input: Record<string, unknown>, key: string) => {
    const query = method === 'GET' ? `?${new URLSearchParams(input as Record<string, string>)}` : ''
    const { statusCode, body } = await app.inject({
      ...{ method, url: `${path.startsWith('/') ? path : `/v1/defi/${path}`}${query}`, headers: { 'x-api-key': key } },
      ...(method === 'POST' ? { payload: input } : {}),
    })
    return { status: statusCode, body: JSON.parse(body) as Json }
  }

  /** Runs the tracker for every swap that is not final. */
  async function track(): Promise<void> {
    const rows = await database.query<{ id: string }>('select id from swaps where next_check_at is not null', [])
    for (const { id } of rows) await swaps.trackSwap(id)
  }

  const findFees = () => Promise.all([...swaps.findFees.values()].map((find) => find()))

  return {
    ...{ family, ledger, chain, database, operator, track, findFees, pools: swaps.pools },
    /** An account of the deny list. */
    restricted,
    /** Replaces the paused scopes, for example `dex:a dex@sol`. */
    pause: (...scopes: readonly string[]) =>
      books.replace({ pauses: { ...books.current().pauses, pools: new Set(scopes) } }),
    partnerId: partnerIds.get('p1') ?? '',
    get: (path: string, query: Record<string, string> = {}, key = 'sandbox') => call('GET', path, query, key),
    post: (path: string, body: object, key = 'sandbox') => call('POST', path, { ...body }, key),
    /** An account with coins and tokens. */
    user() {
      const wallet = createWallet(family)
      ledger.add(wallet.address, native, 50n * COIN)
      for (const { address, decimals } of facts) ledger.add(wallet.address, address, 1_000n * 10n ** BigInt(decimals))
      return wallet
    },
    async mineAndTrack(blocks: number) {
      ledger.mine(blocks)
      await track()
    },
    async stop() {
      await app.close()
      await opened.close()
    },
  }
}

export type Stage = Awaited<ReturnType<typeof startStage>>
