import { deploymentProxy, deploymentProxyCode, swapExecutor, swapRouter } from '@swapyard/contracts'
import { type Hex, keccak256, parseEventLogs, stringToHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RouteToEncode } from '../../server/src/adapters/dex/encode-route.ts'
import { encodeSwap, type SwapTerms } from '../../server/src/adapters/dex/encode-swap.ts'
import { referrerFeeOf } from '../../server/src/core/domain/percent.ts'
import { executeRoute, type RouteSwap, SHARE_ALL } from '../../server/src/swap/routing/execute.ts'
import type { Pool } from '../../server/src/swap/routing/pool-kinds.ts'
import { type DexChain, ether, farDeadline, startDexChain } from './dex-chain.ts'

// The chain pays exactly the amount that `executeRoute` computes, through real Uniswap V2, V3 and V4 pools.

let chain: DexChain
let pools: Record<'ab2' | 'ab3' | 'bc2' | 'bc3' | 'aw2' | 'bw3' | 'aw4' | 'cw4', Pool>

beforeAll(async () => {
  chain = await startDexChain()
  const [a, b, c] = chain.tokens
  const { wrapped, makeV2, makeV3, makeV4 } = chain
  pools = {
    ab2: await makeV2(a, b, 300_000n * ether, 310_000n * ether),
    ab3: await makeV3(a, b, 500, 10, 2000),
    bc2: await makeV2(b, c, 200_000n * ether, 100_000n * ether),
    bc3: await makeV3(b, c, 3000, 60, 12_000),
    aw2: await makeV2(a, wrapped, 100_000n * ether, 99_000n * ether),
    bw3: await makeV3(b, wrapped, 3000, 60, 6000),
    aw4: await makeV4(null, a, 500, 10),
    cw4: await makeV4(null, c, 3000, 60),
  }
})
afterAll(() => chain?.stop())

const lower = (token: Hex) => token.toLowerCase()

function via(pool: keyof typeof pools, from: Hex, share = 1): RouteSwap {
  const tokenIn = pools[pool].tokens.indexOf(lower(from))
  return {
    pool: pools[pool],
    tokenIn,
    tokenOut: 1 - tokenIn,
    share: share === 1 ? SHARE_ALL : Math.round(share * 2 ** 24),
  }
}

/** Executes a route on the chain, compares the amounts with `executeRoute`, and restores the chain. */
async function expectComputedAmounts(route: Omit<RouteToEncode, 'wrapped'>, amountIn: bigint, feePpm = 0n) {
  const expected = executeRoute(route.swaps, route.source, route.target, amountIn)
  if (expected.amountOut === null) throw new Error('the route pays nothing')
  const minOut = expected.amountOut - referrerFeeOf(expected.amountOut, Number(feePpm))
  const terms: SwapTerms = {
    amountIn,
    minOut,
    recipient: chain.recipient,
    fee: feePpm === 0n ? null : { to: chain.partner, ppm: feePpm },
    reference: keccak256(stringToHex('test')),
    deadline: farDeadline,
  }
  const { to, calldata, value } = encodeSwap({ ...route, wrapped: lower(chain.wrapped) }, terms)
  const snapshot = await chain.reader.request({ method: 'evm_snapshot' } as never)
  if (!route.nativeIn) {
    const source = route.source as Hex
    await chain.write(chain.owner, source, 'transfer', [chain.user, amountIn])
    await chain.write(chain.user, source, 'approve', [to, amountIn])
  }
  const tokenOut = route.nativeOut ? null : (route.target as Hex)
  const before = await chain.balanceOf(tokenOut, chain.recipient)
  const partnerBefore = await chain.balanceOf(tokenOut, chain.partner)
  const receipt = await chain.send(chain.user, to, calldata, value)
  expect((await chain.balanceOf(tokenOut, chain.recipient)) - before).toBe(minOut)
  expect((await chain.balanceOf(tokenOut, chain.partner)) - partnerBefore).toBe(expected.amountOut - minOut)
  const [log] = parseEventLogs({ abi: swapRouter.abi, logs: receipt.logs, eventName: 'Swapped' })
  expect(log?.args).toMatchObject({ ref: terms.reference, sender: chain.user, amountIn, amountOut: minOut })
  for (const token of [...chain.tokens, chain.wrapped, null])
    for (const contract of [swapRouter.address, swapExecutor.address])
      expect(await chain.balanceOf(token, contract)).toBe(0n)
  await chain.reader.request({ method: 'evm_revert', params: [snapshot] } as never)
}

const tokenRoute = (source: Hex, target: Hex, swaps: readonly RouteSwap[]) => ({
  swaps,
  source: lower(source),
  target: lower(target),
  nativeIn: false,
  nativeOut: false,
})

test('deploys router and executor at the published addresses', async () => {
  expect(await chain.reader.getCode({ address: deploymentProxy })).toBe(deploymentProxyCode)
  for (const { address } of [swapRouter, swapExecutor])
    expect((await chain.reader.getCode({ address }))?.length).toBeGreaterThan(2_000)
})

test('pays the computed amount for a split over two hops', async () => {
  const [a, b, c] = chain.tokens
  const swaps = [via('ab2', a, 0.41234), via('ab3', a), via('bc2', b, 0.7), via('bc3', b)]
  for (const amountIn of [1_000_003n, 1_234n * ether + 567n, 30_000n * ether])
    for (const feePpm of [0n, 12_345n]) await expectComputedAmounts(tokenRoute(a, c, swaps), amountIn, feePpm)
})

test('pays the computed amount if a pool pays the next pool directly', async () => {
  const [a, b, c] = chain.tokens
  await expectComputedAmounts(tokenRoute(a, c, [via('ab2', a), via('bc2', b)]), 777n * ether + 1n)
  await expectComputedAmounts(tokenRoute(a, c, [via('ab3', a), via('bc2', b)]), 777n * ether + 3n, 500n)
  await expectComputedAmounts(tokenRoute(c, a, [via('bc3', c), via('ab2', b)]), 777n * ether + 5n)
})

test('pays the computed amount if a route uses a pool twice', async () => {
  const [a, b, c] = chain.tokens
  await expectComputedAmounts(
    tokenRoute(a, c, [via('ab2', a, 0.5), via('bc2', b), via('ab2', a), via('bc2', b)]),
    5_000n * ether,
  )
})

test('pays the computed amount for native input through pools of the wrapped and of the native coin', async () => {
  const [a, b, c] = chain.tokens
  const { wrapped } = chain
  const into = (target: Hex, swaps: RouteSwap[]) => ({ ...tokenRoute(wrapped, target, swaps), nativeIn: true })
  await expectComputedAmounts(into(a, [via('aw2', wrapped)]), 55n * ether + 1n)
  await expectComputedAmounts(into(a, [via('aw4', wrapped)]), 55n * ether + 1n)
  await expectComputedAmounts(into(a, [via('aw4', wrapped, 0.6), via('aw2', wrapped)]), 901n * ether + 7n, 30_000n)
  await expectComputedAmounts(into(a, [via('aw2', wrapped, 0.3), via('aw4', wrapped)]), 901n * ether + 7n)
  const split = [via('aw4', wrapped, 0.5), via('cw4', wrapped), via('ab2', a), via('bc2', b)]
  await expectComputedAmounts(into(c, split), 901n * ether + 7n)
})

test('pays the computed amount for native output', async () => {
  const [a, b] = chain.tokens
  const { wrapped } = chain
  const out = (swaps: RouteSwap[]) => ({ ...tokenRoute(a, wrapped, swaps), nativeOut: true })
  for (const feePpm of [0n, 50_000n]) {
    await expectComputedAmounts(out([via('aw2', a)]), 31n * ether + 11n, feePpm)
    await expectComputedAmounts(out([via('aw4', a)]), 31n * ether + 11n, feePpm)
    await expectComputedAmounts(
      out([via('aw4', a, 0.4), via('aw2', a, 0.5), via('ab3', a), via('bw3', b)]),
      999n * ether,
      feePpm,
    )
  }
})

test('pays the computed amount if one pool uses the native coin and the next one the wrapped coin', async () => {
  const [a, b, c] = chain.tokens
  const { wrapped } = chain
  await expectComputedAmounts(tokenRoute(a, c, [via('aw2', a), via('cw4', wrapped)]), 432n * ether + 1n)
  await expectComputedAmounts(tokenRoute(c, b, [via('cw4', c), via('bw3', wrapped)]), 432n * ether + 1n, 1n)
  await expectComputedAmounts(tokenRoute(a, c, [via('aw4', a), via('cw4', wrapped)]), 432n * ether + 1n)
  await expectComputedAmounts(tokenRoute(a, wrapped, [via('aw4', a, 0.7), via('aw2', a)]), 432n * ether + 1n)
})
