import { afterAll, beforeAll, expect, test } from 'vitest'
import { priceUnits, transferLamports } from '../../../src/adapters/solana/instructions.ts'
import { associatedToken, tokenProgram } from '../../../src/adapters/solana/program-address.ts'
import { decodeTransaction, encodeUnsigned } from '../../../src/adapters/solana/transaction.ts'
import type { AppError } from '../../../src/core/domain/errors.ts'
import { executeRoute, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import { createUser, type Market, orderOf, SOL, startMarket, tokenOf, type User } from './solana-market.fixture.ts'

/* What a built transaction pays besides its swap. */

let market: Market

beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market?.stop())

const amountIn = 100_000_000n

function swapOf(amount: bigint, [from, to]: readonly [string, string] = [tokenOf('USDC'), SOL]) {
  const [pool] = market.poolsOf('SOL', 'USDC').filter(({ dex }) => dex === 'raydium-cpmm')
  if (pool === undefined) throw new Error('no pool')
  const swap = { pool, tokenIn: pool.tokens.indexOf(from), tokenOut: pool.tokens.indexOf(to) }
  const executed = executeRoute([{ ...swap, share: SHARE_ALL }], from, to, amount)
  if (executed.amountOut === null) throw new Error('the pool cannot trade')
  return { pool, executed, amountOut: executed.amountOut }
}

const isPayable = (address: string, token: string, units: bigint, opensAccount = false) =>
  market.chain.isPayable?.(address, { token, units, opensAccount })

async function payPriority(user: User, pool: string, price: bigint, blocks: number): Promise<void> {
  for (let block = 0; block < blocks; block++) {
    const { hash } = market.node.bank.blockAt('processed')
    const instructions = [priceUnits(price), transferLamports(user.address, pool, 1_000_000n + BigInt(block))]
    const raw = market.sign(user, encodeUnsigned(user.address, hash, instructions).toString('base64'))
    expect(await market.chain.broadcast(raw)).toEqual({ kind: 'accepted' })
    market.mine(1)
  }
}

test('a swap offers the priority fee that recent blocks took for its pools, and pays what was quoted besides', async () => {
  await market.pools.advance()
  const { pool, executed, amountOut } = swapOf(amountIn)
  const user = await market.createFunded(5_000_000_000n, { USDC: amountIn })
  await payPriority(user, pool.address, 70_000n, 60)
  // Balances are those of confirmed blocks.
  market.mine(3)
  const before = await market.chain.readBalance(user.address, SOL)
  const { swap, simulatedOut } = await market.chain.prepare(orderOf(user, [tokenOf('USDC'), SOL], executed.swaps))
  expect(simulatedOut).toBe(amountOut)
  const [limit, price] = decodeTransaction(Buffer.from(swap, 'base64')).instructions
  const units = BigInt(Buffer.from(limit?.data ?? []).readUInt32LE(1))
  expect(Buffer.from(price?.data ?? []).readBigUInt64LE(1)).toBe(70_000n)
  const { seen } = await market.send(user, swap)
  expect(seen).toMatchObject({ kind: 'included', ok: true, received: amountOut })
  const fee = 5_000n + (units * 70_000n + 999_999n) / 1_000_000n
  expect(fee).toBeGreaterThan(5_000n)
  expect((await market.chain.readBalance(user.address, SOL)) - before).toBe(amountOut - fee)
})

test('a fee in SOL is payable where the account then has the least balance that the chain accepts', async () => {
  const least = 890_880n
  const [fresh, poor] = [createUser().address, createUser().address]
  const { executed } = swapOf(amountIn)
  const user = await market.createFunded(5_000_000_000n, { USDC: amountIn })
  await market.node.deposit(poor as never, least)
  market.mine(40)
  /** Whether the chain executes a swap with such a fee to this address. */
  const pays = async (feeTo: string, feePpm: number) => {
    const order = orderOf(user, [tokenOf('USDC'), SOL], executed.swaps, { feePpm, feeTo, minReceived: 1n })
    const fee = (executed.amountOut ?? 0n) * BigInt(feePpm)
    const isPaid = await market.chain.prepare(order).then(
      () => true,
      (error: AppError) => error.message,
    )
    return [await isPayable(feeTo, SOL, fee / 1_000_000n), isPaid]
  }
  // 100 dollars are about 0.6 SOL: a tenth of a percent of it is less than the least balance, a percent is more.
  const refusal = 'the swap would fail: an account would hold less than the least balance of an account'
  expect(await pays(fresh, 1_000)).toEqual([false, refusal])
  expect(await pays(fresh, 10_000)).toEqual([true, true])
  expect(await pays(poor, 1_000)).toEqual([true, true])
  expect(await isPayable(fresh, SOL, least - 1n)).toBe(false)
  expect(await isPayable(fresh, SOL, least)).toBe(true)
})

test('D10: a user pays for no account of a token that a partner could close again, and for one of the operator', async () => {
  const [partner, usdc] = [createUser().address, tokenOf('USDC')]
  expect([await isPayable(partner, usdc, 1n), await isPayable(partner, usdc, 1n, true)]).toEqual([false, true])
  // Lamports at the address of that account do not open it.
  await market.node.deposit(associatedToken(partner, usdc, tokenProgram) as never, 5_000_000n)
  market.mine(40)
  expect(await isPayable(partner, usdc, 1n)).toBe(false)
  const { address } = await market.createFunded(5_000_000_000n, { USDC: 1n })
  expect(await isPayable(address, usdc, 1n)).toBe(true)
  expect(await isPayable(address, createUser().address, 1n)).toBe(false)
})

test.each([
  ['USDC', 'SOL', amountIn],
  ['SOL', 'USDC', 1_000_000_000n],
])('a fee of %s for %s that the user gets is not counted to the output as well', async (from, to, units) => {
  await market.pools.advance()
  const pair = [tokenOf(from), tokenOf(to)] as const
  const { executed, amountOut } = swapOf(units, pair)
  const user = await market.createFunded(5_000_000_000n, { USDC: amountIn })
  const order = orderOf(user, pair, executed.swaps, { feePpm: 30_000, feeTo: user.address, minReceived: 1n })
  // Three percent, rounded down.
  const fee = (amountOut * 3n) / 100n
  const { swap, simulatedOut } = await market.chain.prepare(order)
  expect(simulatedOut).toBe(amountOut - fee)
  const { hash, seen } = await market.send(user, swap)
  expect(seen).toMatchObject({ kind: 'included', ok: true, received: amountOut - fee, fee })
  const height = seen.kind === 'included' ? seen.block.height : 0
  const { fees } = await market.chain.listPaidFees({ from: height, to: height, feeTo: [user.address] })
  expect(fees).toMatchObject([{ hash, sender: user.address, feeTo: user.address, units: fee }])
})

test('a new token account that the swap pays and that takes the fee is charged once', async () => {
  await market.pools.advance()
  const units = 1_000_000_000n
  const pair = [SOL, tokenOf('USDC')] as const
  const { executed, amountOut } = swapOf(units, pair)
  // Two accounts of 165 bytes, of wrapped SOL and of USDC, the least balance of the payer, and less than a third account for the network.
  const tokenRent = 2_039_280n
  const user = await market.createFunded(units + 2n * tokenRent + 890_880n + tokenRent / 2n)
  const order = orderOf(user, pair, executed.swaps, { feePpm: 30_000, feeTo: user.address, minReceived: 1n })
  const { swap, simulatedOut } = await market.chain.prepare(order)
  const fee = (amountOut * 3n) / 100n
  expect(simulatedOut).toBe(amountOut - fee)
  const { seen } = await market.send(user, swap)
  expect(seen).toMatchObject({ kind: 'included', ok: true, received: amountOut - fee })
})
