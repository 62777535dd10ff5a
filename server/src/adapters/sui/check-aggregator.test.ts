import { fromBase64 } from '@mysten/sui/utils'
import { cetusPoolSchema, tickTableOf } from '@swapyard/lib/pools/sui/cetus-objects.ts'
import { expect, onTestFinished, test } from 'vitest'
import { suiTokens } from '../../../../sandbox/src/sui/coins.ts'
import { cetusPackage, createSuiMarket, dexFunctions } from '../../../../sandbox/src/sui/market.ts'
import { startTestNode } from '../../../../sandbox/src/sui/sui-node.fixture.ts'
import { sui } from '../../../networks/sui.ts'
import { startNodeProxy } from '../../../test/adapters/sui/node-proxy.ts'
import { resolveNetwork } from '../../core/domain/network.ts'
import { present } from '../../lib/assert.ts'
import type { PoolStep, RouteCall, TakerOrder } from '../../swap/ports/aggregator.ts'
import type { SwapAction, SwapOrder } from '../../swap/ports/swap-chain.ts'
import { createSuiSwapChain } from './chain.ts'
import { createSuiNode } from './node.ts'

const SUI = '0x2::sui::SUI'
const inFull = `0x${'2'.padStart(64, '0')}::sui::SUI`
const [usdc, , wbtc] = suiTokens.map(({ type }) => type) as [string, string, string]
const network = resolveNetwork(sui, 'sandbox')
const amountIn = 20_000_000_000_000n

async function start() {
  const started = await startTestNode({ functions: dexFunctions })
  const { node, createFunded } = started
  const market = createSuiMarket(node)
  // The operator lists one pool; the aggregator may name any of the package.
  const dex = {
    ...({ name: 'cetus', kind: 'cetus', factory: cetusPackage, config: market.cetusConfig } as const),
    pools: [present(market.pools[1], 'a pool').id],
  }
  const proxy = await startNodeProxy(node.url)
  onTestFinished(proxy.stop)
  const chain = createSuiSwapChain({ network, rpcUrls: [proxy.url], dexes: [dex] })
  const { keypair, address } = createFunded(2n * amountIn)
  const order: TakerOrder = {
    ...{ network: 'sui', chainId: null, native: SUI, tokenIn: SUI, tokenOut: usdc, amountIn },
    ...{ taker: address, slippagePpm: 5_000 },
  }
  const idOf = (...tickers: string[]) =>
    market.pools
      .filter(({ coins }) => tickers.every((one) => coins.some(({ ticker }) => ticker === one)))
      .map(({ id }) => id)
  const step = (pool: string, from: string, to: string, units: bigint): PoolStep => ({
    ...{ dex: 'cetus', pool, from, to, amountIn: units },
  })
  const check = (steps: readonly PoolStep[], packages: readonly string[] = [cetusPackage], signal?: AbortSignal) =>
    chain.readAggregatorCall({ amountOut: 1n, steps }, order, packages, signal)
  return { ...started, proxy, listed: dex.pools[0] ?? '', chain, keypair, address, order, idOf, step, check }
}

/** A split over both pools, and a path over a third coin. */
async function startWithRoute() {
  const stage = await start()
  const { idOf, step } = stage
  const [first, second] = idOf('sui', 'usdc') as [string, string]
  const [middle] = idOf('wbtc', 'sui') as [string]
  const [last] = idOf('wbtc', 'usdc') as [string]
  const [half, quarter] = [amountIn / 2n, amountIn / 4n]
  const steps = [
    ...[step(first, inFull, usdc, half), step(second, inFull, usdc, quarter), step(middle, inFull, wbtc, quarter)],
    step(last, wbtc, usdc, 1n),
  ]
  return { ...stage, steps }
}

test('the pools of an aggregator become commands of our own, which pay what we computed', async () => {
  const { chain, check, steps, address, keypair, order, client, tick } = await startWithRoute()
  const trade = present(await check(steps), 'a checked trade')
  const { swaps } = trade.call as RouteCall
  const inputs = swaps.slice(0, 3).map((swap) => swap.amountIn)
  expect(inputs.reduce((sum, units) => sum + units, 0n)).toBe(amountIn)
  // Shares are fractions of 2^24.
  for (const [index, share] of [2n, 4n, 4n].entries()) {
    const distance = (inputs[index] ?? 0n) - amountIn / share
    expect(distance < amountIn / 2n ** 22n && -distance < amountIn / 2n ** 22n).toBe(true)
  }
  const built: SwapOrder = {
    ...{ account: address, recipient: address, tokenIn: SUI, tokenOut: usdc, amountIn, feePpm: 0, feeTo: null },
    ...{ minReceived: trade.amountOut, expiry: null, ref: `0x${'7e'.repeat(32)}` },
    ...{ swaps: [], aggregatorCall: trade.call },
  }
  const prepared = await chain.prepare(built)
  expect(prepared.simulatedOut).toBe(trade.amountOut)
  const raw = JSON.stringify(await keypair.signTransaction(fromBase64(prepared.swap)))
  const { action } = await chain.readSigned(raw)
  expect(action).toMatchObject({ kind: 'swap', callHash: chain.hashCall(built), minReceived: trade.amountOut })
  expect((action as SwapAction).pools.toSorted()).toEqual(steps.map(({ pool }) => pool).toSorted())
  expect(await chain.broadcast(raw)).toEqual({ kind: 'accepted' })
  tick()
  const { balance } = await client.getBalance({ owner: order.taker, coinType: usdc })
  expect(BigInt(balance.balance)).toBe(trade.amountOut)
})

/** A route of one pool whose ticks have no end. Counts the pages that are read; `onPage` is called before each. */
async function startEndless(isListed: boolean, onPage: (page: number) => void = () => undefined) {
  const { node, proxy, listed, idOf, step, check } = await start()
  const pools = idOf('sui', 'usdc')
  const pool = present(
    pools.find((id) => (id === listed) === isListed),
    'a pool',
  )
  const [object] = await createSuiNode('node', node.url).readObjects([pool])
  proxy.hooks.endless.add(tickTableOf(cetusPoolSchema.parse(present(object, 'the pool').contents)))
  let pages = 0
  proxy.hooks.before = async (method) => {
    if (method === 'ListDynamicFields') onPage(++pages)
  }
  return {
    check: (signal?: AbortSignal) => check([step(pool, SUI, usdc, amountIn)], [cetusPackage], signal),
    pages: () => pages,
  }
}

test.each([
  ['the operator listed', true, 50],
  ['only the aggregator named', false, 10],
])('of a pool that %s a bounded number of pages is read', async (_, isListed, most) => {
  const { check, pages } = await startEndless(isListed)
  expect(await check()).toBeNull()
  expect(pages()).toBe(most)
})

test('an aborted check reads no further page', async () => {
  const late = new AbortController()
  const { check, pages } = await startEndless(true, (page) => {
    if (page === 3) late.abort()
  })
  await check(late.signal).catch(() => null)
  expect(pages()).toBe(3)
})

test('a route is refused with an unlisted package, an unknown pool, or coins that its pools do not hold', async () => {
  const { check, steps, step } = await startWithRoute()
  const [one] = steps as [PoolStep]
  const whole = { ...one, amountIn }
  expect(await check([whole])).not.toBeNull()
  expect(await check([whole], [`0x${'ab'.repeat(32)}`])).toBeNull()
  expect(await check([])).toBeNull()
  expect(await check(Array.from({ length: 13 }, () => whole))).toBeNull()
  for (const wrong of [
    { dex: 'obric' },
    { pool: `0x${'ab'.repeat(32)}` },
    { pool: 'nonsense' },
    { from: wbtc },
    { to: wbtc },
    { from: usdc, to: inFull },
    { to: 'nonsense' },
  ])
    expect([wrong, await check([{ ...whole, ...wrong }])]).toEqual([wrong, null])
  // Coins between the two must be used up, and none of the input is paid back.
  expect(await check([whole, step((steps[3] as PoolStep).pool, usdc, wbtc, 1n)])).toBeNull()
  expect(await check([whole, step((steps[1] as PoolStep).pool, usdc, inFull, 1n)])).toBeNull()
})
