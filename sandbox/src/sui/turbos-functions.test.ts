import { Transaction } from '@mysten/sui/transactions'
import { SQRT_PRICE_MAX, SQRT_PRICE_MIN } from '@swapyard/lib/pools/sui/q64-tick.ts'
import { turbosPoolSchema } from '@swapyard/lib/pools/sui/turbos-objects.ts'
import { expect, test } from 'vitest'
import { suiTokens } from './coins.ts'
import { createSuiMarket, dexFunctions, turbosFeeType, turbosPackage } from './market.ts'
import { SUI, startTestNode } from './sui-node.fixture.ts'
import { addTurbosSwap } from './turbos-swap.ts'

const usdc = suiTokens[0]?.type ?? ''

async function start() {
  const started = await startTestNode({ functions: dexFunctions })
  const { node, client, createFunded } = started
  const market = createSuiMarket(node)
  const pool = market.pools.find(({ dex }) => dex === 'turbos')?.id ?? ''
  const { keypair } = createFunded(2_000_000n * SUI)
  return {
    ...{ ...started, pool },
    readPool: async () => {
      const { object } = await client.getObject({ objectId: pool, include: { content: true } })
      return turbosPoolSchema.parse(object.content)
    },
    /** Swaps SUI of a coin for USDC; what the pool pays, and what is left of the coin. */
    async swap(
      swap: Partial<Omit<Parameters<typeof addTurbosSwap>[2], 'coin' | 'types'>>,
      held = 100n * SUI,
    ): Promise<readonly [bigint, bigint]> {
      const recipient = `0x${(node.readTip().height + 11).toString(16).padStart(64, '0')}`
      const t = new Transaction()
      const [coin] = t.splitCoins(t.gas, [held])
      if (coin === undefined) throw new Error('a split returns a coin')
      const ids = { address: turbosPackage, versioned: market.turbosVersioned, pool, clock: market.clock }
      const [paid, rest] = addTurbosSwap(t, ids, {
        ...{ a2b: true, amount: 100n * SUI, sqrtPriceLimit: SQRT_PRICE_MIN, recipient, coin },
        types: ['0x2::sui::SUI', usdc, turbosFeeType(3_000)],
        ...swap,
      })
      t.transferObjects([paid, rest], recipient)
      await client.signAndExecuteTransaction({ transaction: t, signer: keypair })
      node.addCheckpoints(1)
      return [node.readBalance(recipient, usdc), node.readBalance(recipient, '0x2::sui::SUI')]
    },
  }
}

test('a swap pays the output, takes the input and changes the pool', async () => {
  const { swap, readPool } = await start()
  const before = await readPool()
  const [received, rest] = await swap({}, 103n * SUI)
  // 100 SUI at 1.92 dollars, USDC at 0.9999, less the fee of 0.3 % and a small price impact.
  expect(Number(received) / 1e6).toBeGreaterThan(191.3)
  expect(Number(received) / 1e6).toBeLessThan(191.45)
  expect(rest).toBe(3n * SUI)
  const after = await readPool()
  expect(BigInt(after.coinA) - BigInt(before.coinA)).toBe(100n * SUI)
  expect(BigInt(before.coinB) - BigInt(after.coinB)).toBe(received)
  // A fifth of the fee of 0.3 SUI.
  expect(after.protocolFeesA).toBe('60000000')
})

test('a price limit ends the swap, and the rest of the coin comes back', async () => {
  const { swap, readPool } = await start()
  const { sqrtPrice } = await readPool()
  const sqrtPriceLimit = (BigInt(sqrtPrice) * 999n) / 1_000n
  const [, rest] = await swap({ sqrtPriceLimit, amount: 100_000n * SUI }, 100_000n * SUI)
  expect(rest).toBeGreaterThan(0n)
  expect((await readPool()).sqrtPrice).toBe(sqrtPriceLimit.toString())
})

test.for([
  ['a coin that is too small', {}, 99n * SUI, /abort code: 7,.*swap_router/],
  ['a price limit on the wrong side', { sqrtPriceLimit: SQRT_PRICE_MAX }, 100n * SUI, /abort code: 20,.*pool/],
  ['a price limit out of bounds', { sqrtPriceLimit: 1n }, 100n * SUI, /abort code: 19,.*pool/],
  ['an output below the minimum', { threshold: 192_000_000n }, 100n * SUI, /abort code: 4,.*swap_router/],
  ['a deadline in the past', { deadlineMs: 1_799_999_999_999n }, 100n * SUI, /abort code: 2,.*swap_router/],
] as const)('a swap fails with %s', async ([, changes, held, message]) => {
  const { swap } = await start()
  await expect(swap(changes, held)).rejects.toThrow(message)
})

test('a swap crosses the end of a position', async () => {
  const { swap, readPool } = await start()
  const { sqrtPrice, liquidity } = await readPool()
  // 4 % below the price: beyond the position within 2 % of it.
  const sqrtPriceLimit = (BigInt(sqrtPrice) * 98n) / 100n
  await swap({ sqrtPriceLimit, amount: 1_500_000n * SUI }, 1_500_000n * SUI)
  const after = await readPool()
  expect(after.sqrtPrice).toBe(sqrtPriceLimit.toString())
  expect(BigInt(after.liquidity)).toBeLessThan(BigInt(liquidity))
})
