import { type Pool, swapExact } from '../server/src/swap/routing/pool-kinds.ts'
import type { BalancerMarket, BalancerPool } from './balancer-markets.ts'
import { loadPeer } from './reference-packages.ts'
import type { Trade } from './swap-markets.ts'

/* @balancer-labs/sor over pools in memory, with its own settings but for gas, which is free. */

type Big = Readonly<{ toString(): string }>
type Swap = Readonly<{ poolId: string; assetInIndex: number; assetOutIndex: number; amount: string }>
type Answer = Readonly<{ returnAmount: Big; tokenAddresses: readonly string[]; swaps: readonly Swap[] }>
type Sor = Readonly<{
  fetchPools(): Promise<boolean>
  getSwaps(from: string, to: string, type: number, amount: string, options: object): Promise<Answer>
}>
type Peer = Readonly<{
  SOR: new (...parts: readonly object[]) => Sor
  SwapTypes: Readonly<{ SwapExactIn: number }>
}>
type Ethers = Readonly<{ BigNumber: Readonly<{ from(value: number): object }> }>

/** What it says that it pays; and what the vault pays for it, by our exact maths: 0 where a swap of it reverts. */
export type BalancerRoute = Readonly<{ said: bigint; paid(): bigint }>

const CONFIG = {
  chainId: 1,
  vault: '0xba12222222228d8ba445958a75a0704d566bf2c8',
  weth: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
}

/** null = not installed. */
export async function createBalancerSor(
  market: BalancerMarket,
): Promise<((trade: Trade) => Promise<BalancerRoute>) | null> {
  const peer = loadPeer<Peer>('@balancer-labs/sor')
  const ethers = loadPeer<Ethers>('@ethersproject/bignumber')
  if (peer === null || ethers === null) return null
  const listed = market.pools.map(toTheirs)
  const free = ethers.BigNumber.from(0)
  const prices = { getNativeAssetPriceInToken: async () => '0' }
  const sor = new peer.SOR({}, CONFIG, { getPools: async () => listed }, prices)
  if (!(await sor.fetchPools())) throw new Error('the peer did not take the pools')
  const options = { gasPrice: free, swapGas: free }
  const byId = new Map(market.pools.map((pool) => [pool.id, pool]))
  return async ({ source, target, amountIn }) => {
    const [from, to] = [market.tokens[source] ?? '', market.tokens[target] ?? '']
    const answer = await sor.getSwaps(from, to, peer.SwapTypes.SwapExactIn, amountIn.toString(), options)
    return { said: BigInt(answer.returnAmount.toString()), paid: () => execute(byId, answer, to) }
  }
}

/** What the vault would pay for the swaps, one after another; where `amount` is 0 the output of the swap before goes in. */
function execute(pools: ReadonlyMap<string, BalancerPool>, { tokenAddresses, swaps }: Answer, target: string): bigint {
  const now = new Map<string, Pool>(pools)
  let last = 0n
  let paid = 0n
  for (const { poolId, assetInIndex, assetOutIndex, amount } of swaps) {
    const pool = now.get(poolId)
    const [tokenIn, tokenOut] = [assetInIndex, assetOutIndex].map((index) => tokenAddresses[index] ?? '')
    const places = [tokenIn, tokenOut].map((token) => pool?.tokens.indexOf(token ?? '') ?? -1)
    const units = amount === '0' ? last : BigInt(amount)
    const done = pool && swapExact(pool, places[0] ?? -1, places[1] ?? -1, units)
    if (!done) return 0n
    now.set(poolId, done.next)
    last = done.amountOut
    if (tokenOut === target) paid += last
  }
  return paid
}

const AMP_ONE = 1000n

/** As the subgraph tells a pool: decimals as text. */
function toTheirs(pool: BalancerPool): object {
  const isWeighted = pool.kind === 'balancer-weighted'
  return {
    ...{ id: pool.id, address: pool.id.slice(0, 42), swapFee: decimal(pool.swapFee), swapEnabled: true },
    ...{ poolType: isWeighted ? 'Weighted' : 'Stable', poolTypeVersion: 2, totalShares: '1000', totalWeight: '1' },
    ...(isWeighted ? {} : { amp: (pool.amp / AMP_ONE).toString() }),
    tokensList: [...pool.tokens],
    tokens: pool.tokens.map((address, place) => ({
      ...{ address, decimals: 18, priceRate: '1', balance: decimal(pool.balances[place] ?? 0n) },
      weight: isWeighted ? decimal(pool.weights[place] ?? 0n) : null,
    })),
  }
}

const decimal = (units: bigint): string => `${units / 10n ** 18n}.${(units % 10n ** 18n).toString().padStart(18, '0')}`
