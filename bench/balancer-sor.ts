import { type Pool, swapExact } from '../server/src/swap/routing/pool-kinds.ts'
import type { BalancerMarket, BalancerPool } from './balancer-markets.ts'
import { loadReferencePackage } from './reference-packages.ts'
import type { Trade } from './swap-markets.ts'

/* @balancer-labs/sor on in-memory pools, with its default settings except that gas is free. */

type Big = Readonly<{ toString(): string }>
type Swap = Readonly<{ poolId: string; assetInIndex: number; assetOutIndex: number; amount: string }>
type SorResult = Readonly<{ returnAmount: Big; tokenAddresses: readonly string[]; swaps: readonly Swap[] }>
type Sor = Readonly<{
  fetchPools(): Promise<boolean>
  getSwaps(from: string, to: string, type: number, amount: string, options: object): Promise<SorResult>
}>
type SorPackage = Readonly<{
  SOR: new (...parts: readonly object[]) => Sor
  SwapTypes: Readonly<{ SwapExactIn: number }>
}>
type Ethers = Readonly<{ BigNumber: Readonly<{ from(value: number): object }> }>

/** `quoted`: the router's own output. `executed`: the output of its swaps by our exact pool maths; 0 if a swap reverts. */
export type BalancerRoute = Readonly<{ quoted: bigint; executed(): bigint }>

const CONFIG = {
  chainId: 1,
  vault: '0xba12222222228d8ba445958a75a0704d566bf2c8',
  weth: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
}

/** Returns null if the package is not installed. */
export async function createBalancerSor(
  market: BalancerMarket,
): Promise<((trade: Trade) => Promise<BalancerRoute>) | null> {
  const sorPackage = loadReferencePackage<SorPackage>('@balancer-labs/sor')
  const ethers = loadReferencePackage<Ethers>('@ethersproject/bignumber')
  if (sorPackage === null || ethers === null) return null
  const subgraphPools = market.pools.map(toSubgraphPool)
  const zero = ethers.BigNumber.from(0)
  const prices = { getNativeAssetPriceInToken: async () => '0' }
  const sor = new sorPackage.SOR({}, CONFIG, { getPools: async () => subgraphPools }, prices)
  if (!(await sor.fetchPools())) throw new Error('@balancer-labs/sor rejected the pools')
  const options = { gasPrice: zero, swapGas: zero }
  const byId = new Map(market.pools.map((pool) => [pool.id, pool]))
  return async ({ source, target, amountIn }) => {
    const [from, to] = [market.tokens[source] ?? '', market.tokens[target] ?? '']
    const result = await sor.getSwaps(from, to, sorPackage.SwapTypes.SwapExactIn, amountIn.toString(), options)
    return { quoted: BigInt(result.returnAmount.toString()), executed: () => executeSwaps(byId, result, to) }
  }
}

/** Output of the swaps, executed in order. A swap with amount 0 takes the output of the previous one. */
function executeSwaps(
  pools: ReadonlyMap<string, BalancerPool>,
  { tokenAddresses, swaps }: SorResult,
  target: string,
): bigint {
  const current = new Map<string, Pool>(pools)
  let previousOut = 0n
  let totalOut = 0n
  for (const { poolId, assetInIndex, assetOutIndex, amount } of swaps) {
    const pool = current.get(poolId)
    const [tokenIn, tokenOut] = [assetInIndex, assetOutIndex].map((index) => tokenAddresses[index] ?? '')
    const indexes = [tokenIn, tokenOut].map((token) => pool?.tokens.indexOf(token ?? '') ?? -1)
    const units = amount === '0' ? previousOut : BigInt(amount)
    const swapped = pool && swapExact(pool, indexes[0] ?? -1, indexes[1] ?? -1, units)
    if (!swapped) return 0n
    current.set(poolId, swapped.next)
    previousOut = swapped.amountOut
    if (tokenOut === target) totalOut += previousOut
  }
  return totalOut
}

const AMP_ONE = 1000n

/** The pool in the format of Balancer's subgraph, with decimal strings. */
function toSubgraphPool(pool: BalancerPool): object {
  const isWeighted = pool.kind === 'balancer-weighted'
  return {
    ...{ id: pool.id, address: pool.id.slice(0, 42), swapFee: decimal(pool.swapFee), swapEnabled: true },
    ...{ poolType: isWeighted ? 'Weighted' : 'Stable', poolTypeVersion: 2, totalShares: '1000', totalWeight: '1' },
    ...(isWeighted ? {} : { amp: (pool.amp / AMP_ONE).toString() }),
    tokensList: [...pool.tokens],
    tokens: pool.tokens.map((address, index) => ({
      ...{ address, decimals: 18, priceRate: '1', balance: decimal(pool.balances[index] ?? 0n) },
      weight: isWeighted ? decimal(pool.weights[index] ?? 0n) : null,
    })),
  }
}

const decimal = (units: bigint): string => `${units / 10n ** 18n}.${(units % 10n ** 18n).toString().padStart(18, '0')}`
