import { loadReferencePackage } from './reference-packages.ts'
import type { SwapMarket, Trade } from './swap-markets.ts'

type Token = Readonly<{ name: string; symbol: string; address: string; decimals: number; chainId: number }>

/** The part of @sushiswap/tines that is used here. */
type Tines = Readonly<{
  setTokenId(...tokens: Token[]): void
  ConstantProductRPool: new (
    address: string,
    token0: Token,
    token1: Token,
    fee: number,
    reserve0: bigint,
    reserve1: bigint,
  ) => object
  findMultiRouteExactIn(
    from: Token,
    to: Token,
    amountIn: number,
    pools: readonly object[],
    base: Token,
    gasPrice: number,
  ): TinesRoute
}>

/** The output before gas as float64 (0: no route), and the gas of all swaps. */
export type TinesRoute = Readonly<{ amountOut: number; gasSpent: number }>

export type TinesRouter = (trade: Trade) => TinesRoute

/**
 * @sushiswap/tines on the same pools. Its pools are created once. `gasPrice`: base units of the first token for one unit of gas, which
 * the router converts to other tokens by the prices of the pools. Returns null if the package is not installed.
 */
export function createTines({ tokens, pools }: SwapMarket, gasPrice: number, swapGas = 0): TinesRouter | null {
  const tines = loadReferencePackage<Tines>('@sushiswap/tines')
  if (tines === null) return null
  const tinesTokens = tokens.map((address, n) => ({
    name: `t${n}`,
    symbol: `t${n}`,
    address,
    decimals: 18,
    chainId: 1,
  }))
  tines.setTokenId(...tinesTokens)
  const byAddress = new Map(tinesTokens.map((token) => [token.address, token]))
  const tinesPools = pools.map(({ address, tokens: pair, reserves, feePpm }) => {
    // Tines expects the lower address as token 0.
    const order = (pair[0] ?? '') < (pair[1] ?? '') ? ([0, 1] as const) : ([1, 0] as const)
    const [token0, token1] = order.map((index) => byAddress.get(pair[index] ?? ''))
    if (!token0 || !token1) throw new Error('the pool has an unknown token')
    const [reserve0, reserve1] = [reserves[order[0]], reserves[order[1]]]
    const pool = new tines.ConstantProductRPool(address, token0, token1, feePpm / 1e6, reserve0, reserve1)
    // The constructor has no parameter for the gas of a swap, and its default is not ours.
    return Object.assign(pool, { swapGasCost: swapGas })
  })
  const base = tinesTokens[0]
  return ({ source, target, amountIn }) => {
    const [from, to] = [tinesTokens[source], tinesTokens[target]]
    if (!from || !to || !base) throw new Error('the trade has an unknown token')
    return tines.findMultiRouteExactIn(from, to, Number(amountIn), tinesPools, base, gasPrice)
  }
}
