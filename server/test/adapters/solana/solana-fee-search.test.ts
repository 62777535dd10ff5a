import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { transferLamports, writeMemo } from '../../../src/adapters/solana/instructions.ts'
import { createSolanaNodes } from '../../../src/adapters/solana/nodes.ts'
import { listPaidFees } from '../../../src/adapters/solana/paid-fees.ts'
import { encodeUnsigned } from '../../../src/adapters/solana/transaction.ts'
import { executeRoute, SHARE_ALL } from '../../../src/swap/routing/execute.ts'
import { type FaultyNode, startFaultyNode } from '../chains/evm/faulty-node.ts'
import { createUser, type Market, orderOf, SOL, startMarket, tokenOf, type User } from './solana-market.fixture.ts'

/* Strangers name a fee address in transactions, for the price of a signature. */

const amountIn = 1_000_000_000n
const UNSUPPORTED_VERSION = -32_015

let market: Market
let node: FaultyNode
let user: User
let feeTo: string
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market?.stop())
beforeEach(async () => {
  node = await startFaultyNode(market.node.rpcUrl)
  user = await market.createFunded(100n * amountIn)
  feeTo = createUser().address
})
afterEach(() => node?.stop())

/** A swap of SOL for USDC with a fee of one percent, in a final block. */
async function sendSwap() {
  await market.pools.advance()
  const usdc = tokenOf('USDC')
  const [pool] = market.poolsOf('SOL', 'USDC').filter(({ kind }) => kind === 'raydium-cpmm')
  if (pool === undefined) throw new Error('the sandbox has no pool of CPMM')
  const tokenIn = pool.tokens.indexOf(SOL)
  const executed = executeRoute([{ pool, tokenIn, tokenOut: 1 - tokenIn, share: SHARE_ALL }], SOL, usdc, amountIn)
  if (executed.amountOut === null) throw new Error('the pool cannot trade')
  const order = orderOf(user, [SOL, usdc], executed.swaps, { feePpm: 10_000, feeTo })
  const { hash, seen } = await market.send(user, (await market.chain.prepare(order)).swap)
  if (seen.kind !== 'included') throw new Error('the swap is in no block')
  return { hash, slot: seen.block.height }
}

/** A payment to the fee address, with a memo or without one. */
async function sendDust(memo?: string): Promise<void> {
  const { hash } = market.node.bank.blockAt('processed')
  const instructions = [
    transferLamports(user.address, feeTo, amountIn),
    ...(memo === undefined ? [] : [writeMemo(memo)]),
  ]
  const { seen } = await market.send(user, encodeUnsigned(user.address, hash, instructions).toString('base64'))
  expect(seen).toMatchObject({ kind: 'included', ok: true })
}

test('a transaction without a memo in the form of ours is not read', async () => {
  await sendDust()
  await sendDust('for coffee')
  const { hash, slot } = await sendSwap()
  const chain = market.createChain(node.url)
  const query = { from: 0, to: slot, feeTo: [feeTo] }
  expect(await chain.listPaidFees(query)).toMatchObject({ fees: [{ hash, height: slot }], to: slot })
  expect(node.callCount('getTransaction')).toBe(1)
  // A memo in that form alone is no swap.
  await sendDust(`${'a'.repeat(43)}:10000`)
  const later = { ...query, to: market.node.bank.heightOf('finalized') }
  expect((await chain.listPaidFees(later)).fees).toMatchObject([{ hash }])
  expect(node.callCount('getTransaction')).toBe(3)
})

test('one node that lists no memos hides no fee', async () => {
  const { hash, slot } = await sendSwap()
  node.set(async ({ method }, forward) => {
    if (method !== 'getSignaturesForAddress') return undefined
    return { result: ((await forward()) as object[]).map((row) => ({ ...row, memo: null })) }
  })
  for (const urls of [
    [node.url, market.node.rpcUrl],
    [market.node.rpcUrl, node.url],
  ]) {
    const { fees } = await market.createChain(...urls).listPaidFees({ from: 0, to: slot, feeTo: [feeTo] })
    expect(fees).toMatchObject([{ hash }])
  }
})

test('of many transactions the first are read, and the search continues with the later slots', async () => {
  const { hash, slot } = await sendSwap()
  const memo = `[49] ${'a'.repeat(43)}:10000`
  // Three in each slot before that of the swap, from the newest to the oldest.
  const dust = Array.from({ length: 900 }, (_, n) => ({
    ...{ signature: `dust ${n}`, slot: slot - 1 - Math.floor(n / 3), err: null, memo },
  }))
  node.set(async ({ method, params }, forward) => {
    const isDust = String(params[0]).startsWith('dust')
    if (method === 'getTransaction' && isDust) return { error: { code: UNSUPPORTED_VERSION, message: 'version 1' } }
    if (method !== 'getSignaturesForAddress') return undefined
    return { result: [...((await forward()) as object[]), ...dust] }
  })
  const chain = market.createChain(node.url)
  const query = { from: slot - 300, to: slot, feeTo: [feeTo] }
  const first = await chain.listPaidFees(query)
  // 166 slots have 498 transactions, and the next one has the 501st.
  expect(first).toEqual({ fees: [], to: slot - 300 + 165 })
  expect(node.callCount('getTransaction')).toBe(498)
  const second = await chain.listPaidFees({ ...query, from: first.to + 1 })
  expect(second).toMatchObject({ fees: [{ hash }], to: slot })
  expect(node.callCount('getTransaction')).toBe(901)
})

test('a slot with more transactions than are read at a time is read whole', async () => {
  const { slot } = await sendSwap()
  const row = { slot, err: null, memo: `[49] ${'a'.repeat(43)}:10000` }
  node.set(({ method }) => {
    if (method === 'getTransaction') return { error: { code: UNSUPPORTED_VERSION, message: 'version 1' } }
    if (method !== 'getSignaturesForAddress') return undefined
    return { result: Array.from({ length: 600 }, (_, n) => ({ ...row, signature: `dust ${n}` })) }
  })
  const chain = market.createChain(node.url)
  expect(await chain.listPaidFees({ from: slot, to: slot + 5, feeTo: [feeTo] })).toEqual({ fees: [], to: slot })
  expect(node.callCount('getTransaction')).toBe(600)
})

test('a list without an end is not read for ever', async () => {
  const rows = Array.from({ length: 1_000 }, (_, n) => ({ signature: `dust ${n}`, slot: 900, err: null, memo: null }))
  node.set(({ method }) => (method === 'getSignaturesForAddress' ? { result: rows } : undefined))
  const nodes = createSolanaNodes('sol', [node.url])
  const pagesMax = 3
  await expect(listPaidFees(nodes, { from: 1, to: 2, feeTo: [feeTo] }, pagesMax)).rejects.toMatchObject({
    code: 'NETWORK_UNAVAILABLE',
  })
  expect(node.callCount('getSignaturesForAddress')).toBe(pagesMax)
})
