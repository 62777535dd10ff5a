import fc from 'fast-check'
import { encodeDeployData } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { drawSamples } from '../../../../../test/support/draw-samples.ts'
import { swapExact } from '../../../../src/swap/routing/pool-kinds.ts'
import type { UniswapV2Pool } from '../../../../src/swap/routing/pools/uniswap-v2.ts'
import { magnitude } from '../random-pools.ts'
import { artifact, type Chain, POOLS, RUN_MS, startChain, TRADES } from './chain.ts'

const factories = [
  ['uniswap v2', 3_000, artifact('@uniswap/v2-core', 'build/UniswapV2Factory.json')],
  // PancakeSwap before its V2, with a fee of 0.2 %; V2 takes 0.25 %.
  ['pancakeswap', 2_000, artifact('@pancakeswap-libs/pancake-swap-core', 'build/PancakeFactory.json')],
] as const

const pools = fc.record({
  reserve0: magnitude(20, 108),
  reserve1: magnitude(20, 108),
  trades: fc.array(fc.record({ zeroForOne: fc.boolean(), share: magnitude(0, 24) }), {
    minLength: TRADES,
    maxLength: TRADES,
  }),
})

let chain: Chain
beforeAll(async () => {
  chain = await startChain('ProductHarness')
})
afterAll(() => chain.anvil.stop())

describe('constant products pay what the real pairs pay', () => {
  for (const [name, feePpm, contract] of factories)
    test(`${name}: ${POOLS * TRADES} swaps`, { timeout: RUN_MS }, async () => {
      const { abi, bytecode } = contract
      const factory = await chain.deploy(encodeDeployData({ abi, bytecode, args: [chain.harness] }))
      for (const { reserve0, reserve1, trades } of drawSamples(pools, POOLS)) {
        let pool: UniswapV2Pool = {
          id: name,
          address: '0x0',
          dex: name,
          kind: 'uniswap-v2',
          tokens: ['0xa', '0xb'],
          reserves: [reserve0, reserve1],
          feePpm,
        }
        const claims = trades.map(({ zeroForOne, share }) => {
          const from = zeroForOne ? 0 : 1
          const amountIn = ((pool.reserves[from] as bigint) * share) / (1n << 22n) + 1n
          const result = swapExact(pool, from, 1 - from, amountIn)
          if (result) pool = result.next as UniswapV2Pool
          return { zeroForOne, amountIn, amountOut: result?.amountOut ?? 0n }
        })
        const exact = await chain.ask<boolean[]>('run', [factory, reserve0, reserve1, claims])
        expect(exact, JSON.stringify({ reserve0, reserve1, claims }, stringifyBigint)).toEqual(claims.map(() => true))
      }
    })
})

const stringifyBigint = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
