import { Transaction } from '@mysten/sui/transactions'
import { cetusPoolSchema } from '@swapyard/lib/pools/sui/cetus-objects.ts'
import { SQRT_PRICE_MAX, SQRT_PRICE_MIN } from '@swapyard/lib/pools/sui/q64-tick.ts'
import { expect, test } from 'vitest'
import { createCetusFunctions } from './cetus-functions.ts'
import { addCetusSwap } from './cetus-swap.ts'
import { suiTokens } from './coins.ts'
import { cetusPackage, createSuiMarket } from './market.ts'
import { SUI, startTestNode } from './sui-node.fixture.ts'

const usdc = suiTokens[0]?.type ?? ''

async function startWithMarket() {
  const started = await startTestNode({ functions: createCetusFunctions(cetusPackage) })
  const market = createSuiMarket(started.node)
  const [pool] = market.pools
  if (pool === undefined) throw new Error('the market has a pool')
  return { ...started, market, pool: pool.id }
}

type Ids = Readonly<{ market: { cetusConfig: string; clock: string }; pool: string }>

/** Swaps SUI for USDC, and splits `minimum` off the output. */
function buildSwap(
  { market, pool }: Ids,
  { amount = 100n * SUI, held = 100n * SUI, minimum = 1n, sqrtPriceLimit = SQRT_PRICE_MIN },
  to: string,
): Transaction {
  const t = new Transaction()
  t.setSender(to)
  const [coin] = t.splitCoins(t.gas, [held])
  if (coin === undefined) throw new Error('a split returns a coin')
  const ids = { address: cetusPackage, config: market.cetusConfig, pool, clock: market.clock }
  const types = ['0x2::sui::SUI', usdc] as const
  const out = addCetusSwap(t, ids, { types, a2b: true, coin, amount, sqrtPriceLimit })
  const [least] = t.splitCoins(out, [minimum])
  t.transferObjects([out, coin, least as never], to)
  return t
}

test('a swap pays the output, takes the input and changes the pool', async () => {
  const started = await startWithMarket()
  const { client, createFunded, pool } = started
  const { keypair, address } = createFunded(200n * SUI)
  const readPool = async () => {
    const { object } = await client.getObject({ objectId: pool, include: { content: true } })
    return cetusPoolSchema.parse(object.content)
  }
  const before = await readPool()
  const transaction = buildSwap(started, {}, address)
  const include = { balanceChanges: true } as const
  const result = await client.signAndExecuteTransaction({ transaction, signer: keypair, include })
  const changes = result.Transaction?.balanceChanges ?? []
  const received = BigInt(changes.find(({ coinType }) => coinType.endsWith('USDC'))?.amount ?? 0)
  // 100 SUI at 1.92 dollars, less the fee of 0.25 % and a small price impact.
  expect(Number(received) / 1e6).toBeGreaterThan(191.3)
  expect(Number(received) / 1e6).toBeLessThan(191.54)
  const after = await readPool()
  expect(BigInt(after.coinA) - BigInt(before.coinA)).toBe(100n * SUI)
  expect(BigInt(before.coinB) - BigInt(after.coinB)).toBe(received)
  expect(BigInt(after.sqrtPrice)).toBeLessThan(BigInt(before.sqrtPrice))
})

test.for([
  ['a payment that is too small', { held: 99n * SUI }, /abort code: 2/],
  ['a price limit on the wrong side', { sqrtPriceLimit: SQRT_PRICE_MAX }, /abort code: 11/],
  ['an output below the minimum', { minimum: 192_000_000n }, /InsufficientCoinBalance/],
] as const)('a swap fails with %s', async ([, swap, message]) => {
  const started = await startWithMarket()
  const { address } = started.createFunded(200n * SUI)
  await expect(buildSwap(started, swap, address).build({ client: started.client })).rejects.toThrow(message)
})
