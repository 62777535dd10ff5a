import fc from 'fast-check'
import { encodeDeployData, type Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { drawSamples } from '../../../../../test/support/draw-samples.ts'
import { type Pool, swapExact } from '../../../../src/swap/routing/pool-kinds.ts'
import { concentratedOf, holdingOf, magnitude, positionedPools } from '../random-pools.ts'
import { artifact, type Chain, POOLS, RUN_MS, startChain, TRADES } from './chain.ts'

const manager = artifact('@uniswap/v4-core', 'out/PoolManager.sol/PoolManager.json')

const pools = fc.record({
  pool: positionedPools(),
  native: fc.boolean(),
  lpFeePpm: fc.integer({ min: 0, max: 100_000 }),
  protocol: fc.tuple(fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: 0, max: 1_000 })),
  trades: fc.array(fc.record({ zeroForOne: fc.boolean(), share: magnitude(0, 24) }), {
    minLength: TRADES,
    maxLength: TRADES,
  }),
})

let chain: Chain
beforeAll(async () => {
  chain = await startChain('ManagerHarness')
  // A practically unlimited balance of the native coin.
  await chain.anvil.request('anvil_setBalance', [chain.harness, `0x${'f'.repeat(50)}`])
})
afterAll(() => chain.anvil.stop())

test(`uniswap v4 pays what the real pool manager pays: ${POOLS * TRADES} swaps`, { timeout: RUN_MS }, async () => {
  const at: Hex = await chain.deploy(encodeDeployData({ ...manager, args: [chain.harness] }))
  for (const { pool, native, lpFeePpm, protocol, trades } of drawSamples(pools, POOLS)) {
    const start: Pool = {
      id: 'v4',
      address: at,
      dex: 'uniswap-v4',
      tokens: ['0xa', '0xb'],
      ...concentratedOf(pool),
      kind: 'uniswap-v4',
      lpFeePpm,
      protocolFeePpm: protocol,
    }
    let state: Pool = start
    const outputs: bigint[] = []
    const swaps = trades.map(({ zeroForOne, share }) => {
      const from = zeroForOne ? 0 : 1
      const amountIn = (holdingOf(start, from) * share) / (1n << 22n) + 1n
      const result = swapExact(state, from, 1 - from, amountIn)
      if (result) state = result.next
      outputs.push(result?.amountOut ?? 0n)
      return { zeroForOne, amountIn }
    })
    const setup = {
      manager: at,
      native,
      fee: lpFeePpm,
      protocolFee: (protocol[1] << 12) | protocol[0],
      spacing: pool.tickSpacing,
      price: pool.sqrtPrice,
    }
    expect(await chain.ask('run', [setup, pool.positions, swaps])).toEqual(outputs)
  }
})
