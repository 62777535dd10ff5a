import { type Hex, parseTransaction } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { SwapChain, SwapOrder } from '../../../src/swap/ports/swap-chain.ts'
import type { Pool } from '../../../src/swap/routing/pool-kinds.ts'
import { startFaultyNode } from '../chains/evm/faulty-node.ts'
import { coin, native, type Stage, sign, signAs, startStage, user, via } from './stage.ts'

// From sent to final on a chain that mines when it is told to: waiting, replaced, dropped, reorganised.

let stage: Stage
let chain: SwapChain
let pool: Pool
let a: string
let snapshot: unknown
let order: SwapOrder
let expected: bigint

beforeAll(async () => {
  stage = await startStage()
  chain = stage.swaps()
  a = stage.dex.tokens[0].toLowerCase()
  pool = await stage.dex.makeV2(a as Hex, stage.dex.wrapped, 100_000n * coin, 99_000n * coin)
  const made = stage.order([via(pool, stage.wrapped)], { tokenIn: native, tokenOut: a, amountIn: 3n * coin })
  ;({ order, expected } = made)
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

/** Prepared, signed and sent; not mined. */
async function sent() {
  const raw = await sign((await chain.prepare(order)).swap)
  const { hash, signer, nonce } = chain.readSigned(raw)
  expect((await chain.broadcast(raw)).kind).toBe('accepted')
  return { raw, hash, own: { signer, nonce } }
}

test('unseen, pending, included, and deeper with every block', async () => {
  const raw = await sign((await chain.prepare(order)).swap)
  const { hash, signer, nonce } = chain.readSigned(raw)
  const own = { signer, nonce }
  expect(await chain.observe(hash, own)).toEqual({ kind: 'unseen' })
  expect(await chain.lookUp(hash)).toBeNull()
  expect(await chain.broadcast(raw)).toEqual({ kind: 'accepted' })
  expect(await chain.observe(hash, own)).toEqual({ kind: 'pending' })
  expect(await chain.lookUp(hash)).toEqual(chain.readSigned(raw))
  expect(await chain.broadcast(raw)).toEqual({ kind: 'known' })
  await mine()
  expect(await chain.observe(hash, own)).toMatchObject({ kind: 'included', confirmations: 1, received: expected })
  await mine(9)
  expect(await chain.observe(hash)).toMatchObject({ kind: 'included', confirmations: 10, received: expected })
  expect(await chain.broadcast(raw)).toEqual({ kind: 'known' })
})

test('what is not yet mined counts: the next swap has the next nonce', async () => {
  const { own } = await sent()
  const next = chain.readSigned(await sign((await chain.prepare(order)).swap))
  expect(next.nonce).toBe(own.nonce + 1)
})

test('replaced by another transaction of the same nonce: told once that one is final', async () => {
  const { raw, hash, own } = await sent()
  const unsigned = parseTransaction((await chain.prepare(order)).swap as Hex)
  const rival = await signAs(user, {
    ...{ ...unsigned, nonce: own.nonce, to: user.address, value: 1n, data: '0x' },
    maxFeePerGas: 10n * (unsigned.maxFeePerGas ?? 0n),
    maxPriorityFeePerGas: 10n * (unsigned.maxFeePerGas ?? 0n),
  })
  expect((await chain.broadcast(rival)).kind).toBe('accepted')
  await mine()
  expect((await chain.observe(hash, own)).kind).toBe('unseen')
  await mine(10)
  expect(await chain.observe(hash, own)).toEqual({ kind: 'replaced' })
  expect(await chain.observe(hash)).toEqual({ kind: 'unseen' })
  expect(await chain.broadcast(raw)).toMatchObject({ kind: 'rejected', because: 'nonce-used' })
  expect(await chain.observe(chain.readSigned(rival).hash, own)).toMatchObject({ kind: 'included', received: null })
})

test('dropped by every node: unseen again, however long', async () => {
  const { hash, own, raw } = await sent()
  await stage.ask('anvil_dropTransaction', [hash])
  await mine(12)
  expect(await chain.observe(hash, own)).toEqual({ kind: 'unseen' })
  // And it can be sent again.
  expect((await chain.broadcast(raw)).kind).toBe('accepted')
})

test('a reorg under an included swap: unseen, and included again elsewhere', async () => {
  const before = await stage.ask('evm_snapshot')
  const { raw, hash, own } = await sent()
  await mine(2)
  const first = await chain.observe(hash, own)
  expect(first).toMatchObject({ kind: 'included', confirmations: 2 })
  await stage.ask('evm_revert', [before])
  await stage.ask('anvil_dropAllTransactions')
  // The other branch, which is longer.
  await stage.ask('evm_increaseTime', [7])
  await mine(3)
  expect(await chain.observe(hash, own)).toEqual({ kind: 'unseen' })
  expect((await chain.broadcast(raw)).kind).toBe('accepted')
  await mine()
  const second = await chain.observe(hash, own)
  expect(second).toMatchObject({ kind: 'included', confirmations: 1, received: expected })
  if (first.kind === 'included' && second.kind === 'included') expect(second.block.hash).not.toBe(first.block.hash)
})

test('a node that does not have it yet keeps it pending', async () => {
  const late = await startFaultyNode(stage.url)
  const both = stage.swaps({ rpcUrls: [stage.url, late.url] })
  const { hash, own } = await sent()
  await mine(2)
  late.set(({ method }) => (method === 'eth_getTransactionReceipt' ? { result: null } : undefined))
  expect(await both.observe(hash, own)).toEqual({ kind: 'pending' })
  late.set(() => undefined)
  expect(await both.observe(hash, own)).toMatchObject({ kind: 'included', received: expected })
  // One that is silent is no answer at all.
  late.set(() => ({ status: 500 }))
  await expect(both.observe(hash, own)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  // But it keeps nobody from swapping.
  expect((await both.prepare(order)).simulatedOut).toBeGreaterThan(0n)
  await late.stop()
})

test('refusals by what the account has', async () => {
  const { own } = await sent()
  const unsigned = parseTransaction((await chain.prepare(order)).swap as Hex)
  const same = await signAs(user, { ...unsigned, nonce: own.nonce, value: order.amountIn + 1n })
  expect(await chain.broadcast(same)).toMatchObject({ kind: 'rejected', because: 'underpriced' })
  const dear = await signAs(user, { ...unsigned, value: 10n ** 60n })
  expect(await chain.broadcast(dear)).toMatchObject({ kind: 'rejected', because: 'insufficient-funds' })
})
