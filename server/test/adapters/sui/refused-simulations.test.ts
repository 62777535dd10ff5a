import { expect, test } from 'vitest'
import { suiTokens } from '../../../../sandbox/src/sui/coins.ts'
import { startTestNode } from '../../../../sandbox/src/sui/sui-node.fixture.ts'
import { createSuiSwapChain } from '../../../src/adapters/sui/chain.ts'
import { createSuiNode } from '../../../src/adapters/sui/node.ts'
import { prepare } from '../../../src/adapters/sui/prepare.ts'
import type { SwapOrder } from '../../../src/swap/ports/swap-chain.ts'
import { executeRoute, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import { network, startSui } from './start-sui.ts'

/* What validators refuse before they execute it. */

const SUI = '0x2::sui::SUI'
const usdc = suiTokens[0]?.type ?? ''

async function start() {
  const started = await startSui(['cetus'])
  const { pools, createFunded } = started
  const { address: account } = createFunded(50_000_000_000n)
  const orderUntil = (expiry: SwapOrder['expiry']): SwapOrder => {
    const [pool] = pools.current()?.pools ?? []
    if (pool === undefined) throw new Error('no pool')
    const amountIn = 10_000_000_000n
    const executed = executeRoute([{ pool, tokenIn: 0, tokenOut: 1, share: SHARE_ALL }], SUI, usdc, amountIn)
    if (executed.amountOut === null) throw new Error('the pool cannot trade')
    return {
      ...{ account, recipient: account, tokenIn: SUI, tokenOut: usdc, amountIn, ref: `0x${'7e'.repeat(32)}`, expiry },
      ...{ minReceived: 1n, feePpm: 0, feeTo: null, swaps: executed.swaps },
    }
  }
  return { ...started, orderUntil }
}

test('a transaction that validators refuse is not built, with their reason, and is no failure of the node', async () => {
  const { chain, node, tick, orderUntil } = await start()
  node.endEpoch()
  tick()
  const refused = chain.prepare(orderUntil({ by: 'epoch', at: 0 }))
  const reason = expect.stringContaining('Transaction Expired')
  await expect(refused).rejects.toMatchObject({ code: 'SIMULATION_FAILED', retryable: false, problems: [{ reason }] })
})

test('a transaction that the second node refuses is not built', async () => {
  const [first, second] = [await start(), await start()]
  // The second node does not have the coins of the account.
  const both = createSuiSwapChain({ network, rpcUrls: [first.node.url, second.node.url] })
  await expect(both.prepare(first.orderUntil(null))).rejects.toMatchObject({ code: 'SIMULATION_FAILED' })
})

test('a second node that is behind confirms the transaction once it has caught up', async () => {
  const { node, orderUntil } = await start()
  const [first, second] = [createSuiNode('first', node.url), createSuiNode('second', node.url)]
  const behind = await start()
  let isBehind = true
  const late = {
    ...second,
    simulate: async (bytes: Uint8Array) => {
      if (!isBehind) return second.simulate(bytes)
      isBehind = false
      return createSuiNode('behind', behind.node.url).simulate(bytes)
    },
  }
  const context = { network, nodes: [first, late], sharedVersions: new Map() }
  expect((await prepare(context, orderUntil(null))).simulations).toHaveLength(2)
  expect(isBehind).toBe(false)
})

test('a wrong version of a shared object is forgotten with the build that it spoils', async () => {
  const { node, orderUntil } = await start()
  const order = orderUntil(null)
  const [id = ''] = order.swaps.map(({ pool }) => pool.id)
  const context = { network, nodes: [createSuiNode('node', node.url)], sharedVersions: new Map([[id, 999n]]) }
  await expect(prepare(context, order)).rejects.toMatchObject({ code: 'SIMULATION_FAILED' })
  expect((await prepare(context, order)).simulatedOut).toBeGreaterThan(0n)
})

test('nothing is built while the nodes disagree about the gas price', async () => {
  const { node, orderUntil } = await start()
  const honest = createSuiNode('honest', node.url)
  const other: typeof honest = { ...honest, readGasPrice: async () => 2_000n }
  for (const nodes of [
    [honest, other],
    [other, honest],
  ])
    await expect(prepare({ network, nodes, sharedVersions: new Map() }, orderUntil(null))).rejects.toMatchObject({
      code: 'NETWORK_UNAVAILABLE',
    })
})

test('a gas price above the limit is not believed', async () => {
  const [usual, high] = [
    await startTestNode({ referenceGasPrice: 10_000n }),
    await startTestNode({ referenceGasPrice: 10_001n }),
  ]
  expect(await createSuiNode('usual', usual.node.url).readGasPrice()).toBe(10_000n)
  await expect(createSuiNode('high', high.node.url).readGasPrice()).rejects.toMatchObject({
    ...{ code: 'NETWORK_UNAVAILABLE', message: expect.stringContaining('10001 MIST') },
  })
})
