import type { Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EvmSwapChain } from '../../../src/adapters/swap-chain/chain.ts'
import type { SwapOrder } from '../../../src/swap/ports/swap-chain.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { startEdr } from '../chains/evm/edr.ts'
import { ether, native, type Stage, sendExact, startStage, via } from './stage.ts'

// T13: swaps are prepared, sent and observed on another client than anvil, which has neither eth_simulateV1 nor access lists.

let stage: Stage
let chain: EvmSwapChain
let a: Hex
let b: Hex
let pools: Readonly<Record<'ab2' | 'ab3' | 'aw2' | 'aw4', Pool>>

beforeAll(async () => {
  stage = await startStage(async () => {
    const node = await startEdr({ chainId: 31_337, hardfork: 'cancun' })
    await node.request('evm_setAutomine', [true])
    return node
  })
  const { dex } = stage
  chain = stage.swaps()
  ;[a, b] = dex.tokens.map((token) => token.toLowerCase()) as [Hex, Hex]
  pools = {
    ab2: await dex.makeV2(a, b, 300_000n * ether, 310_000n * ether),
    ab3: await dex.makeV3(a, b, 500, 10, 2000),
    aw2: await dex.makeV2(a, dex.wrapped, 100_000n * ether, 99_000n * ether),
    aw4: await dex.makeV4(null, a, 3000, 60),
  }
  await dex.write(dex.owner, a, 'transfer', [dex.user, 100_000n * ether])
})
afterAll(() => stage?.dex.stop())

async function trade(order: SwapOrder, expected: bigint): Promise<void> {
  const prepared = await chain.prepare({ ...order, minReceived: expected })
  expect(prepared).toMatchObject({ simulatedOut: expected, approve: null })
  await sendExact(stage, chain, order, prepared, expected)
}

test('swaps native currency for a token over two hops', async () => {
  const recipient = stage.dex.recipient.toLowerCase()
  const terms = { tokenIn: native, tokenOut: b, amountIn: 12n * ether + 7n, recipient }
  const built = stage.order([via(pools.aw4, stage.wrapped), via(pools.ab3, a)], terms)
  await trade(built.order, built.expected)
})

test('swaps a token for native currency with an allowance', async () => {
  await stage.dex.write(stage.dex.user, a, 'approve', [chain.spender, 5n * ether])
  const recipient = '0x00000000000000000000000000000000deadbeef'
  const built = stage.order([via(pools.aw2, a)], { tokenIn: a, tokenOut: native, amountIn: 5n * ether, recipient })
  await trade(built.order, built.expected)
})

test('names the reason of a swap that pays too little', async () => {
  await stage.dex.write(stage.dex.user, a, 'approve', [chain.spender, 5n * ether])
  const { order, expected } = stage.order([via(pools.ab2, a)], { tokenIn: a, tokenOut: b, amountIn: 5n * ether })
  await expect(chain.prepare({ ...order, minReceived: expected + 1n })).rejects.toMatchObject({
    code: 'SIMULATION_FAILED',
    problems: [{ reason: `TooLittle(${expected}, ${expected + 1n})` }],
  })
})

test('does not build a swap whose approval it cannot simulate', async () => {
  await stage.dex.write(stage.dex.user, a, 'approve', [chain.spender, 0n])
  const { order } = stage.order([via(pools.ab2, a)], { tokenIn: a, tokenOut: b, amountIn: 5n * ether })
  await expect(chain.prepare(order)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
})
