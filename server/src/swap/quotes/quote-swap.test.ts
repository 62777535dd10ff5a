import { describe, expect, it } from 'vitest'
import { AppError } from '../../core/domain/errors.ts'
import type { SwapNetwork } from '../networks.ts'
import type { RoutedSwap, RouteOrder } from '../ports/router.ts'
import type { SwapChain } from '../ports/swap-chain.ts'
import { priceSwap } from './quote-swap.ts'

const AMOUNT_IN = 1_000_000n

/** `POOL FROM TO IN OUT`, in base units. */
type Swaps = readonly string[]

/** Prices a swap of A to B. All tokens have the same reference price, except those of `unpriced`. */
async function price(routes: readonly Swaps[], unpriced: readonly string[] = []) {
  const orders: (readonly string[])[] = []
  const chain = { network: { id: 'eth' }, native: 'native', wrapped: 'A' } as unknown as SwapChain
  const token = (address: string) => ({ network: 'eth', address, name: address, symbol: address, decimals: 6 })
  /** The first route without a pool that the order avoids. */
  const route = async ({ avoid = [] }: RouteOrder) => {
    orders.push(avoid)
    const found = routes.find((swaps) => !swaps.some((swap) => avoid.includes(swap.split(' ')[0] ?? '')))
    if (found === undefined) throw new AppError('NO_ROUTE', 'no known pools connect the two tokens')
    const swaps = found.map((swap) => {
      const [id = '', from = '', to = '', amountIn = '', amountOut = ''] = swap.split(' ')
      const pool = { id, kind: 'uniswap-v2', tokens: [from, to] }
      return { pool, tokenIn: 0, tokenOut: 1, amountIn: BigInt(amountIn), amountOut: BigInt(amountOut), to }
    })
    const amountOut = swaps.filter(({ to }) => to === 'B').reduce((sum, one) => sum + one.amountOut, 0n)
    return { block: { height: 1, hash: '0x1' }, amountOut, swaps, middleOut: amountOut } as unknown as RoutedSwap
  }
  const deps = {
    router: { route } as unknown as Parameters<typeof priceSwap>[0]['router'],
    findToken: async (_: unknown, address: string) => (unpriced.includes(address) ? null : token(address)),
    referenceOutOf: (_: unknown, { units }: Readonly<{ units: bigint }>) => units,
  }
  const parsed = {
    ...{ network: { chain } as SwapNetwork, from: token('native'), to: token('B'), amountIn: AMOUNT_IN },
    ...{ slippagePpm: 10_000, feePpm: 0, lossMaxPpm: null },
  }
  const { routed } = await priceSwap(deps, parsed, ['paused'])
  return { pools: routed.swaps.map(({ pool }) => pool.id), orders }
}

describe('D9: a route that pays more than the reference prices say', () => {
  const deep = 'deep A B 1000000 995000'
  const split = ['bait A B 300000 330000', 'deep A B 700000 699000']

  it('loses the pools that pay too much, and keeps the deep one that shares it', async () => {
    const { pools, orders } = await price([split, [deep], ['shallow A B 1000000 700000']])
    expect(pools).toEqual(['deep'])
    expect(orders).toEqual([['paused'], ['paused', 'bait']])
  })

  it('is judged swap by swap over several hops, by the reference prices of intermediate tokens', async () => {
    const hops = ['first A X 1000000 999000', 'bait X B 300000 330000', 'deep X B 699000 698000']
    const honest = ['first A X 1000000 999000', 'deep X B 999000 990000']
    expect((await price([hops, honest, ['shallow A B 1000000 700000']])).pools).toEqual(['first', 'deep'])
  })

  it('is left whole for the others where the rest of it pays too much as well, or its swaps cannot be judged', async () => {
    const other = ['other A B 1000000 985000']
    // A second bait takes the place of the first.
    const second = ['deep A B 700000 699000', 'second A B 300000 330000']
    const { pools, orders } = await price([split, second, other])
    expect([pools, orders]).toEqual([['other'], [['paused'], ['paused', 'bait'], ['paused', 'bait', 'deep']]])
    const hops = ['first A X 1000000 999000', 'bait X B 999000 1050000']
    const unjudged = await price([hops, other], ['X'])
    expect([unjudged.pools, unjudged.orders]).toEqual([['other'], [['paused'], ['paused', 'first', 'bait']]])
  })

  it('is kept where no other route agrees with the reference prices', async () => {
    expect((await price([split, ['deep A B 1000000 970000']])).pools).toEqual(['bait', 'deep'])
    expect((await price([split])).pools).toEqual(['bait', 'deep'])
  })
})
