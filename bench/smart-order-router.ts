import { performance } from 'node:perf_hooks'
import { type Pool, swapExact } from '../server/src/swap/routing/pool-kinds.ts'
import { loadReferencePackage } from './reference-packages.ts'
import type { Trade } from './swap-markets.ts'
import type { UniswapMarket, UniswapPool } from './uniswap-markets.ts'

/*
 * @uniswap/smart-order-router as Uniswap's routing service runs it, with in-memory providers for its data: pools by liquidity, pool
 * states, tokens, and quotes of routes (a quoter contract on a node in production, our exact pool maths here). Gas is free. The chain is
 * Ethereum, with the router's settings for it: three hops, steps of 5 %, seven splits.
 */

type Token = Readonly<{ address: string; equals(other: Token): boolean; sortsBefore(other: Token): boolean }>
type Amount = Readonly<{ currency: Token; quotient: Readonly<{ toString(): string }> }>
type RouterPool = Readonly<{ token0: Token; token1: Token; fee?: number }>
type RouterRoute = Readonly<{ pools: readonly RouterPool[]; input: Token }>
type Pair = readonly [Token, Token, number?]
type Amounts = Readonly<{ fromRawAmount(token: Token, units: string): Amount }>
type Build<T> = new (...values: readonly unknown[]) => T

type Sdk = Readonly<{ Token: Build<Token>; CurrencyAmount: Amounts; TradeType: Readonly<{ EXACT_INPUT: number }> }>
type V2 = Readonly<{ Pair: Build<RouterPool> }>
type V3 = Readonly<{ Pool: Build<RouterPool> }>
type Ethers = Readonly<{ BigNumber: Readonly<{ from(value: string | number): object }> }>
type Router = Readonly<{
  route(amount: Amount, target: Token, type: number, config: undefined, settings: object): Promise<RouterResult | null>
}>
type RouterResult = Readonly<{ quote: Amount }>
type RouterPackage = Readonly<{
  AlphaRouter: Build<Router>
  USDC_MAINNET: Token
}>

/** `quoterMs`: the part of the time in quotes that a node would compute in production. */
export type FindRoute = (trade: Trade) => Promise<Readonly<{ amountOut: bigint; quoterMs: number }>>

const CHAIN_ID = 1
const BLOCK = 23_000_000

/** Returns null if the package is not installed. */
export function createSmartOrderRouter(market: UniswapMarket): FindRoute | null {
  const routerPackage = loadReferencePackage<RouterPackage>('@uniswap/smart-order-router')
  const sdk = loadReferencePackage<Sdk>('@uniswap/sdk-core')
  const ethers = loadReferencePackage<Ethers>('@ethersproject/bignumber')
  if (routerPackage === null || sdk === null || ethers === null) return null
  const { Token: TokenOf, CurrencyAmount, TradeType } = sdk
  const tokens = market.tokens.map((address, n) => new TokenOf(CHAIN_ID, address, 18, `T${n}`, `t${n}`))
  const byAddress = new Map(tokens.map((token) => [token.address.toLowerCase(), token]))
  const pools = market.pools.map((pool) => toPoolPair(pool, byAddress, CurrencyAmount))
  const quoter = createQuoter(pools, ethers)
  const router = new routerPackage.AlphaRouter({
    ...{ chainId: CHAIN_ID, provider: { getBlockNumber: async () => BLOCK, _isProvider: true } },
    ...createProviders(pools, byAddress),
    onChainQuoteProvider: quoter,
    ...createFreeGasModels(ethers, CurrencyAmount, routerPackage.USDC_MAINNET),
    ...{ v4Supported: [], tokenPropertiesProvider: { getTokensProperties: async () => ({}) } },
    tokenValidatorProvider: { validateTokens: async () => ({ getValidationByToken: () => undefined }) },
    blockedTokenListProvider: { hasTokenByAddress: async () => false, getTokenByAddress: async () => undefined },
  })
  return async ({ source, target, amountIn }) => {
    const [from, to] = [tokens[source], tokens[target]]
    if (!from || !to) throw new Error('the trade has an unknown token')
    const before = quoter.spentMs()
    const amount = CurrencyAmount.fromRawAmount(from, amountIn.toString())
    const settings = { protocols: ['V2', 'V3', 'MIXED'], useCachedRoutes: false, writeToCachedRoutes: false }
    const result = await router.route(amount, to, TradeType.EXACT_INPUT, undefined, settings)
    return { amountOut: BigInt(result?.quote.quotient.toString() ?? 0), quoterMs: quoter.spentMs() - before }
  }
}

/** A pool of the market and the router's object for it. */
type PoolPair = Readonly<{ pool: UniswapPool; routerPool: RouterPool }>

function toPoolPair(pool: UniswapPool, tokens: ReadonlyMap<string, Token>, amounts: Amounts): PoolPair {
  const { Pair } = loadReferencePackage<V2>('@uniswap/v2-sdk') ?? {}
  const { Pool: V3Pool } = loadReferencePackage<V3>('@uniswap/v3-sdk') ?? {}
  const [token0, token1] = pool.tokens.map((address) => tokens.get(address))
  if (!Pair || !V3Pool || !token0 || !token1) throw new Error('the pool has an unknown token')
  if (pool.kind === 'uniswap-v2') {
    const [reserve0, reserve1] = pool.reserves.map((units) => units.toString())
    const sides = [amounts.fromRawAmount(token0, reserve0 ?? ''), amounts.fromRawAmount(token1, reserve1 ?? '')]
    return { pool, routerPool: new Pair(...sides) }
  }
  const { feePpm, sqrtPrice, liquidity, tick } = pool
  return { pool, routerPool: new V3Pool(token0, token1, feePpm, sqrtPrice.toString(), liquidity.toString(), tick) }
}

const keyOf = (a: string, b: string, fee: number | undefined): string => {
  const [first, second] = [a.toLowerCase(), b.toLowerCase()].sort()
  return `${first} ${second} ${fee ?? 'v2'}`
}
const keyOfPool = ({ token0, token1, fee }: RouterPool) => keyOf(token0.address, token1.address, fee)

/** Stands in for the quoter contract, which quotes every route for every amount on unchanged pools. Our maths is exact. */
function createQuoter(pools: readonly PoolPair[], { BigNumber }: Ethers) {
  const poolByKey = new Map(pools.map(({ pool, routerPool }) => [keyOfPool(routerPool), pool]))
  let spentMs = 0
  function quote({ pools: path, input }: RouterRoute, amount: Amount) {
    let token = input.address.toLowerCase()
    let units = BigInt(amount.quotient.toString())
    const prices: bigint[] = []
    for (const routerPool of path) {
      const pool = poolByKey.get(keyOfPool(routerPool))
      const tokenIn = pool?.tokens.indexOf(token) ?? -1
      const swapped = pool && tokenIn >= 0 ? swapExact(pool as Pool, tokenIn, 1 - tokenIn, units) : null
      if (!pool || swapped === null) return null
      prices.push('sqrtPrice' in swapped.next ? swapped.next.sqrtPrice : 0n)
      token = pool.tokens[1 - tokenIn] ?? ''
      units = swapped.amountOut
    }
    return { units, prices }
  }
  return {
    spentMs: () => spentMs,
    async getQuotesManyExactIn(amounts: readonly Amount[], routes: readonly RouterRoute[]) {
      const startedAt = performance.now()
      const routesWithQuotes = routes.map((route) => [
        route,
        amounts.map((amount) => {
          const quoted = quote(route, amount)
          return {
            amount,
            quote: quoted && BigNumber.from(quoted.units.toString()),
            sqrtPriceX96AfterList: quoted?.prices.map((price) => BigNumber.from(price.toString())),
            initializedTicksCrossedList: quoted?.prices.map(() => 1),
            gasEstimate: BigNumber.from(100_000),
            gasLimit: null,
          }
        }),
      ])
      spentMs += performance.now() - startedAt
      return { routesWithQuotes, blockNumber: BigNumber.from(BLOCK) }
    },
  }
}

/** Providers of pool lists by liquidity, from which the router selects candidates, of pool states and of tokens. */
function createProviders(pools: readonly PoolPair[], tokens: ReadonlyMap<string, Token>) {
  const byKey = new Map(pools.map(({ routerPool }) => [keyOfPool(routerPool), routerPool]))
  const addressByKey = new Map(pools.map(({ pool, routerPool }) => [keyOfPool(routerPool), pool.address]))
  const findPool = (a: Token, b: Token, fee?: number) => byKey.get(keyOf(a.address, b.address, fee)) ?? null
  const createAccessor = (pairs: readonly Pair[]) => {
    const matches = [...new Set(pairs.flatMap(([a, b, fee]) => findPool(a, b, fee) ?? []))]
    return { getPool: findPool, getPoolByAddress: () => undefined, getAllPools: () => matches }
  }
  const poolProvider = {
    getPools: async (pairs: readonly Pair[]) => createAccessor(pairs),
    getPoolAddress(a: Token, b: Token, fee?: number) {
      const [token0, token1] = a.sortsBefore(b) ? [a, b] : [b, a]
      const key = keyOf(a.address, b.address, fee)
      return { poolAddress: addressByKey.get(key) ?? key, token0, token1 }
    },
  }
  const listPools = (kind: UniswapPool['kind']) =>
    pools.flatMap(({ pool }) => {
      if (pool.kind !== kind) return []
      const [id0 = '', id1 = ''] = pool.tokens
      const value = { tvlUSD: pool.usd, tvlETH: pool.usd / 2000, reserve: pool.usd / 2000, reserveUSD: pool.usd }
      const sides = { token0: { id: id0 }, token1: { id: id1 } }
      return [{ id: pool.address, ...sides, ...value, supply: 1, feeTier: String(pool.feePpm), liquidity: '1' }]
    })
  const [v2, v3] = [listPools('uniswap-v2'), listPools('uniswap-v3')]
  const noPools = { getPools: async () => [] }
  return {
    v2SubgraphProvider: { getPools: async () => [...v2] },
    v3SubgraphProvider: { getPools: async () => [...v3] },
    v4SubgraphProvider: noPools,
    ...{ v2PoolProvider: poolProvider, v3PoolProvider: poolProvider, v4PoolProvider: poolProvider },
    tokenProvider: {
      getTokens: async () => ({
        getTokenByAddress: (address: string) => tokens.get(address.toLowerCase()),
        getTokenBySymbol: () => undefined,
        getAllTokens: () => [...tokens.values()],
      }),
    },
  }
}

function createFreeGasModels({ BigNumber }: Ethers, amounts: Amounts, usdToken: Token) {
  const createModel = ({ token, quoteToken }: { token?: Token; quoteToken?: Token }) => ({
    estimateGasCost: () => ({
      gasEstimate: BigNumber.from(0),
      gasCostInToken: amounts.fromRawAmount((token ?? quoteToken) as Token, '0'),
      gasCostInUSD: amounts.fromRawAmount(usdToken, '0'),
    }),
  })
  const factory = { buildGasModel: async (request: { token?: Token; quoteToken?: Token }) => createModel(request) }
  return {
    gasPriceProvider: { getGasPrice: async () => ({ gasPriceWei: BigNumber.from(0) }) },
    ...{ v2GasModelFactory: factory, v3GasModelFactory: factory },
    ...{ v4GasModelFactory: factory, mixedRouteGasModelFactory: factory },
  }
}
