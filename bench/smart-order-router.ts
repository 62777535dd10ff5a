import { performance } from 'node:perf_hooks'
import { type Pool, swapExact } from '../server/src/swap/routing/pool-kinds.ts'
import { loadPeer } from './reference-packages.ts'
import type { Trade } from './swap-markets.ts'
import type { UniswapMarket, UniswapPool } from './uniswap-markets.ts'

/*
 * @uniswap/smart-order-router as its routing service runs it, with everything that it asks others for answered from memory:
 * pools by liquidity, pools' states, quotes of routes (which a node computes in its quoter contract, here our exact maths),
 * and tokens. Gas is free. It plans for the main network, with its own settings for it: three hops, steps of 5 %, seven splits.
 */

type Token = Readonly<{ address: string; equals(other: Token): boolean; sortsBefore(other: Token): boolean }>
type Amount = Readonly<{ currency: Token; quotient: Readonly<{ toString(): string }> }>
type TheirPool = Readonly<{ token0: Token; token1: Token; fee?: number }>
type TheirRoute = Readonly<{ pools: readonly TheirPool[]; input: Token }>
type Pair = readonly [Token, Token, number?]
type Amounts = Readonly<{ fromRawAmount(token: Token, units: string): Amount }>
type Build<T> = new (...values: readonly unknown[]) => T

type Sdk = Readonly<{ Token: Build<Token>; CurrencyAmount: Amounts; TradeType: Readonly<{ EXACT_INPUT: number }> }>
type V2 = Readonly<{ Pair: Build<TheirPool> }>
type V3 = Readonly<{ Pool: Build<TheirPool> }>
type Ethers = Readonly<{ BigNumber: Readonly<{ from(value: string | number): object }> }>
type Router = Readonly<{
  route(amount: Amount, target: Token, type: number, config: undefined, own: object): Promise<TheirAnswer | null>
}>
type TheirAnswer = Readonly<{ quote: Amount; route: readonly object[] }>
type Peer = Readonly<{
  AlphaRouter: Build<Router>
  USDC_MAINNET: Token
}>

export type QuotedRoute = Readonly<{ amountOut: bigint; parts: number; quoterMs: number }>
export type SmartOrderRouter = (trade: Trade) => Promise<QuotedRoute>

const CHAIN = 1
const BLOCK = 23_000_000

/** null = not installed. */
export function createSmartOrderRouter(market: UniswapMarket): SmartOrderRouter | null {
  const peer = loadPeer<Peer>('@uniswap/smart-order-router')
  const sdk = loadPeer<Sdk>('@uniswap/sdk-core')
  const ethers = loadPeer<Ethers>('@ethersproject/bignumber')
  if (peer === null || sdk === null || ethers === null) return null
  const { Token: TokenOf, CurrencyAmount, TradeType } = sdk
  const tokens = market.tokens.map((address, n) => new TokenOf(CHAIN, address, 18, `T${n}`, `t${n}`))
  const byAddress = new Map(tokens.map((token) => [token.address.toLowerCase(), token]))
  const pools = market.pools.map((pool) => toTheirs(pool, byAddress, CurrencyAmount))
  const quoter = createQuoter(pools, ethers)
  const router = new peer.AlphaRouter({
    ...{ chainId: CHAIN, provider: { getBlockNumber: async () => BLOCK, _isProvider: true } },
    ...providersOf(pools, byAddress),
    onChainQuoteProvider: quoter,
    ...freeGas(ethers, CurrencyAmount, peer.USDC_MAINNET),
    ...{ v4Supported: [], tokenPropertiesProvider: { getTokensProperties: async () => ({}) } },
    tokenValidatorProvider: { validateTokens: async () => ({ getValidationByToken: () => undefined }) },
    blockedTokenListProvider: { hasTokenByAddress: async () => false, getTokenByAddress: async () => undefined },
  })
  return async ({ source, target, amountIn }) => {
    const [from, to] = [tokens[source], tokens[target]]
    if (!from || !to) throw new Error('a trade of unknown tokens')
    const before = quoter.spentMs()
    const amount = CurrencyAmount.fromRawAmount(from, amountIn.toString())
    const own = { protocols: ['V2', 'V3', 'MIXED'], useCachedRoutes: false, writeToCachedRoutes: false }
    const answer = await router.route(amount, to, TradeType.EXACT_INPUT, undefined, own)
    const quoterMs = quoter.spentMs() - before
    if (answer === null) return { amountOut: 0n, parts: 0, quoterMs }
    return { amountOut: BigInt(answer.quote.quotient.toString()), parts: answer.route.length, quoterMs }
  }
}

type Known = Readonly<{ pool: UniswapPool; theirs: TheirPool }>

function toTheirs(pool: UniswapPool, tokens: ReadonlyMap<string, Token>, amounts: Amounts): Known {
  const { Pair } = loadPeer<V2>('@uniswap/v2-sdk') ?? {}
  const { Pool: V3Pool } = loadPeer<V3>('@uniswap/v3-sdk') ?? {}
  const [token0, token1] = pool.tokens.map((address) => tokens.get(address))
  if (!Pair || !V3Pool || !token0 || !token1) throw new Error('a pool of unknown tokens')
  if (pool.kind === 'uniswap-v2') {
    const [reserve0, reserve1] = pool.reserves.map((units) => units.toString())
    const sides = [amounts.fromRawAmount(token0, reserve0 ?? ''), amounts.fromRawAmount(token1, reserve1 ?? '')]
    return { pool, theirs: new Pair(...sides) }
  }
  const { feePpm, sqrtPrice, liquidity, tick } = pool
  return { pool, theirs: new V3Pool(token0, token1, feePpm, sqrtPrice.toString(), liquidity.toString(), tick) }
}

const keyOf = (a: string, b: string, fee: number | undefined): string => {
  const [first, second] = [a.toLowerCase(), b.toLowerCase()].sort()
  return `${first} ${second} ${fee ?? 'v2'}`
}
const keyOfPool = ({ token0, token1, fee }: TheirPool) => keyOf(token0.address, token1.address, fee)

/** The quoter contract: every route for every amount, each alone. Our pools' maths is the contract's, to the unit. */
function createQuoter(pools: readonly Known[], { BigNumber }: Ethers) {
  const own = new Map(pools.map(({ pool, theirs }) => [keyOfPool(theirs), pool]))
  let spent = 0
  function quote({ pools: path, input }: TheirRoute, amount: Amount) {
    let at = input.address.toLowerCase()
    let units = BigInt(amount.quotient.toString())
    const prices: bigint[] = []
    for (const theirs of path) {
      const pool = own.get(keyOfPool(theirs))
      const tokenIn = pool?.tokens.indexOf(at) ?? -1
      const done = pool && tokenIn >= 0 ? swapExact(pool as Pool, tokenIn, 1 - tokenIn, units) : null
      if (!pool || done === null) return null
      prices.push('sqrtPrice' in done.next ? done.next.sqrtPrice : 0n)
      at = pool.tokens[1 - tokenIn] ?? ''
      units = done.amountOut
    }
    return { units, prices }
  }
  return {
    spentMs: () => spent,
    async getQuotesManyExactIn(amounts: readonly Amount[], routes: readonly TheirRoute[]) {
      const begun = performance.now()
      const routesWithQuotes = routes.map((route) => [
        route,
        amounts.map((amount) => {
          const found = quote(route, amount)
          return {
            amount,
            quote: found && BigNumber.from(found.units.toString()),
            sqrtPriceX96AfterList: found?.prices.map((price) => BigNumber.from(price.toString())),
            initializedTicksCrossedList: found?.prices.map(() => 1),
            gasEstimate: BigNumber.from(100_000),
            gasLimit: null,
          }
        }),
      ])
      spent += performance.now() - begun
      return { routesWithQuotes, blockNumber: BigNumber.from(BLOCK) }
    },
  }
}

/** What it reads of pools and tokens: lists by liquidity for its choice, then states of those chosen. */
function providersOf(pools: readonly Known[], tokens: ReadonlyMap<string, Token>) {
  const byKey = new Map(pools.map(({ theirs }) => [keyOfPool(theirs), theirs]))
  const idOf = new Map(pools.map(({ pool, theirs }) => [keyOfPool(theirs), pool.address]))
  const at = (a: Token, b: Token, fee?: number) => byKey.get(keyOf(a.address, b.address, fee)) ?? null
  const accessorOf = (pairs: readonly Pair[]) => {
    const found = [...new Set(pairs.flatMap(([a, b, fee]) => at(a, b, fee) ?? []))]
    return { getPool: at, getPoolByAddress: () => undefined, getAllPools: () => found }
  }
  const poolProvider = {
    getPools: async (pairs: readonly Pair[]) => accessorOf(pairs),
    getPoolAddress(a: Token, b: Token, fee?: number) {
      const [token0, token1] = a.sortsBefore(b) ? [a, b] : [b, a]
      const key = keyOf(a.address, b.address, fee)
      return { poolAddress: idOf.get(key) ?? key, token0, token1 }
    },
  }
  const listed = (kind: UniswapPool['kind']) =>
    pools.flatMap(({ pool }) => {
      if (pool.kind !== kind) return []
      const [id0 = '', id1 = ''] = pool.tokens
      const worth = { tvlUSD: pool.usd, tvlETH: pool.usd / 2000, reserve: pool.usd / 2000, reserveUSD: pool.usd }
      const sides = { token0: { id: id0 }, token1: { id: id1 } }
      return [{ id: pool.address, ...sides, ...worth, supply: 1, feeTier: String(pool.feePpm), liquidity: '1' }]
    })
  const [v2, v3] = [listed('uniswap-v2'), listed('uniswap-v3')]
  const nothing = { getPools: async () => [] }
  return {
    v2SubgraphProvider: { getPools: async () => [...v2] },
    v3SubgraphProvider: { getPools: async () => [...v3] },
    v4SubgraphProvider: nothing,
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

function freeGas({ BigNumber }: Ethers, amounts: Amounts, dollar: Token) {
  const modelOf = ({ token, quoteToken }: { token?: Token; quoteToken?: Token }) => ({
    estimateGasCost: () => ({
      gasEstimate: BigNumber.from(0),
      gasCostInToken: amounts.fromRawAmount((token ?? quoteToken) as Token, '0'),
      gasCostInUSD: amounts.fromRawAmount(dollar, '0'),
    }),
  })
  const factory = { buildGasModel: async (asked: { token?: Token; quoteToken?: Token }) => modelOf(asked) }
  return {
    gasPriceProvider: { getGasPrice: async () => ({ gasPriceWei: BigNumber.from(0) }) },
    ...{ v2GasModelFactory: factory, v3GasModelFactory: factory },
    ...{ v4GasModelFactory: factory, mixedRouteGasModelFactory: factory },
  }
}
