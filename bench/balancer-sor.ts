import type { BalancerMarket, BalancerPool } from './balancer-markets.ts'
import { loadReferencePackage } from './reference-packages.ts'
import type { Trade } from './swap-markets.ts'

/* @balancer-labs/sor on in-memory pools, with its default settings except that gas is free. */

type Big = Readonly<{ toString(): string }>
type SorResult = Readonly<{ returnAmount: Big }>
type Sor = Readonly<{
  fetchPools(): Promise<boolean>
  getSwaps(from: string, to: string, type: number, amount: string, options: object): Promise<SorResult>
}>
type SorPackage = Readonly<{
  SOR: new (...parts: readonly object[]) => Sor
  SwapTypes: Readonly<{ SwapExactIn: number }>
}>
type Ethers = Readonly<{ BigNumber: Readonly<{ from(value: number): object }> }>

const CONFIG = {
  chainId: 1,
  vault: '0xba12222222228d8ba445958a75a0704d566bf2c8',
  weth: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
}

/** Returns the output that the router quotes for a trade, or null if the package is not installed. */
export async function createBalancerSor(market: BalancerMarket): Promise<((trade: Trade) => Promise<bigint>) | null> {
  const sorPackage = loadReferencePackage<SorPackage>('@balancer-labs/sor')
  const ethers = loadReferencePackage<Ethers>('@ethersproject/bignumber')
  if (sorPackage === null || ethers === null) return null
  const subgraphPools = market.pools.map(toSubgraphPool)
  const zero = ethers.BigNumber.from(0)
  const prices = { getNativeAssetPriceInToken: async () => '0' }
  const sor = new sorPackage.SOR({}, CONFIG, { getPools: async () => subgraphPools }, prices)
  if (!(await sor.fetchPools())) throw new Error('@balancer-labs/sor rejected the pools')
  const options = { gasPrice: zero, swapGas: zero }
  return async ({ source, target, amountIn }) => {
    const [from, to] = [market.tokens[source] ?? '', market.tokens[target] ?? '']
    const { SwapExactIn } = sorPackage.SwapTypes
    const { returnAmount } = await sor.getSwaps(from, to, SwapExactIn, amountIn.toString(), options)
    return BigInt(returnAmount.toString())
  }
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
