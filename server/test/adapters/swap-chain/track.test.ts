import { type Hex, parseTransaction } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { EvmSwapChain } from '../../../src/adapters/swap-chain/chain.ts'
import type { SwapOrder } from '../../../src/swap/ports/swap-chain.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { startFaultyNode } from '../chains/evm/faulty-node.ts'
import { ether, native, type Stage, sign, signAs, startStage, user, via } from './stage.ts'

// Follows a transaction from sent to final on a chain with manual mining: pending, replaced, dropped, reorganised.

let stage: Stage
let chain: EvmSwapChain
let pool: Pool
let a: string
let snapshot: unknown
let order: SwapOrder
let expected: bigint

beforeAll(async () => {
  stage = await startStage()
  chain = stage.swaps()
  a = stage.dex.tokens[0].toLowerCase()
  pool = await stage.dex.makeV2(a as Hex, stage.dex.wrapped, 100_000n * ether, 99_000n * ether)
  const built = stage.order([via(pool, stage.wrapped)], { tokenIn: native, tokenOut: a, amountIn: 3n * ether })
  ;({ order, expected } = built)
})
beforeEach(async () => {
  snapshot = await stage.ask('evm_snapshot')
  await stage.ask('evm_setAutomine', [false])
})
afterEach(async () => {
  await stage.ask('evm_revert', [snapshot])
  await stage.ask('anvil_dropAllTransactions')
  await stage.ask('evm_setAutomine', [true])
})
afterAll(() => stage?.dex.stop())

const mine = (blocks = 1) => stage.ask('anvil_mine', [`0x${blocks.toString(16)}`])

/** Prepares, signs and broadcasts a swap without mining it. */
async function sendSwap() {
  const raw = await sign((await chain.prepare(order)).swap)
  const { hash, signer, nonce } = chain.readSigned(raw)
  expect((await chain.broadcast(raw)).kind).toBe('accepted')
  return { raw, hash, own: { signer, nonce } }
}

test('a swap is unseen, pending, then included with growing confirmations', async () => {
  const raw = await sign((await chain.prepare(order)).swap)
  const { hash, signer, nonce } = chain.readSigned(raw)
  const own = { signer, nonce }
  expect(await chain.observe(hash, own)).toEqual({ kind: 'unseen' })
  expect(await chain.findTransaction(hash)).toBeNull()
  expect(await chain.broadcast(raw)).toEqual({ kind: 'accepted' })
  expect(await chain.observe(hash, own)).toEqual({ kind: 'pending' })
  expect(await chain.findTransaction(hash)).toEqual(chain.readSigned(raw))
  expect(await chain.broadcast(raw)).toEqual({ kind: 'known' })
  await mine()
  expect(await chain.observe(hash, own)).toMatchObject({ kind: 'included', confirmations: 1, received: expected })
  await mine(9)
  expect(await chain.observe(hash)).toMatchObject({ kind: 'included', confirmations: 10, received: expected })
  expect(await chain.broadcast(raw)).toEqual({ kind: 'known' })
})

test('a pending swap counts: the next swap has the next nonce', async () => {
  const { own } = await sendSwap()
  const next = chain.readSigned(await sign((await chain.prepare(order)).swap))
  expect(next.nonce).toBe(own.nonce + 1)
})

test('a swap is replaced once a conflicting transaction with its nonce is final', async () => {
  const { raw, hash, own } = await sendSwap()
  const unsigned = parseTransaction((await chain.prepare(order)).swap as Hex)
  const conflicting = await signAs(user, {
    ...{ ...unsigned, nonce: own.nonce, to: user.address, value: 1n, data: '0x' },
    maxFeePerGas: 10n * (unsigned.maxFeePerGas ?? 0n),
    maxPriorityFeePerGas: 10n * (unsigned.maxFeePerGas ?? 0n),
  })
  expect((await chain.broadcast(conflicting)).kind).toBe('accepted')
  await mine()
  expect((await chain.observe(hash, own)).kind).toBe('unseen')
  await mine(10)
  expect(await chain.observe(hash, own)).toEqual({ kind: 'replaced' })
  expect(await chain.observe(hash)).toEqual({ kind: 'unseen' })
  expect(await chain.broadcast(raw)).toMatchObject({ kind: 'rejected', because: 'nonce-used' })
  expect(await chain.observe(chain.readSigned(conflicting).hash, own)).toMatchObject({
    kind: 'included',
    received: null,
  })
})

test('a swap that every node dropped is unseen and can be sent again', async () => {
  const { hash, own, raw } = await sendSwap()
  await stage.ask('anvil_dropTransaction', [hash])
  await mine(12)
  expect(await chain.observe(hash, own)).toEqual({ kind: 'unseen' })
  expect((await chain.broadcast(raw)).kind).toBe('accepted')
})

test('a reorg makes an included swap unseen; it can be included in another block', async () => {
  const before = await stage.ask('evm_snapshot')
  const { raw, hash, own } = await sendSwap()
  await mine(2)
  const first = await chain.observe(hash, own)
  expect(first).toMatchObject({ kind: 'included', confirmations: 2 })
  await stage.ask('evm_revert', [before])
  await stage.ask('anvil_dropAllTransactions')
  // A longer branch.
  await stage.ask('evm_increaseTime', [7])
  await mine(3)
  expect(await chain.observe(hash, own)).toEqual({ kind: 'unseen' })
  expect((await chain.broadcast(raw)).kind).toBe('accepted')
  await mine()
  const second = await chain.observe(hash, own)
  expect(second).toMatchObject({ kind: 'included', confirmations: 1, received: expected })
  if (first.kind === 'included' && second.kind === 'included') expect(second.block.hash).not.toBe(first.block.hash)
})

test('a swap stays pending while one node does not have it', async () => {
  const late = await startFaultyNode(stage.url)
  const both = stage.swaps({ rpcUrls: [stage.url, late.url] })
  const { hash, own } = await sendSwap()
  await mine(2)
  late.set(({ method }) => (method === 'eth_getTransactionReceipt' ? { result: null } : undefined))
  expect(await both.observe(hash, own)).toEqual({ kind: 'pending' })
  late.set(() => undefined)
  expect(await both.observe(hash, own)).toMatchObject({ kind: 'included', received: expected })
  // A failing node makes the observation fail.
  late.set(() => ({ status: 500 }))
  await expect(both.observe(hash, own)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  // A failing node does not prevent new swaps.
  expect((await both.prepare(order)).simulatedOut).toBeGreaterThan(0n)
  await late.stop()
})

test('names the cause of a refusal from the account’s state', async () => {
  const { own } = await sendSwap()
  const unsigned = parseTransaction((await chain.prepare(order)).swap as Hex)
  const same = await signAs(user, { ...unsigned, nonce: own.nonce, value: order.amountIn + 1n })
  expect(await chain.broadcast(same)).toMatchObject({ kind: 'rejected', because: 'underpriced' })
  const unaffordable = await signAs(user, { ...unsigned, value: 10n ** 60n })
  expect(await chain.broadcast(unaffordable)).toMatchObject({ kind: 'rejected', because: 'insufficient-funds' })
})
