import { type Hex, keccak256, stringToBytes } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SwapChain } from '../../../src/swap/ports/swap-chain.ts'
import { startFaultyNode } from '../chains/evm/faulty-node.ts'
import { coin, native, type Stage, sendAll, startStage, user, via } from './stage.ts'

// Fees by the router's events: in final blocks, where every node says the same, in as few questions as a node allows.

const BLOCKS = 40

let stage: Stage
let chain: SwapChain
let a: string
let hash: string
let height: number
let units: bigint

beforeAll(async () => {
  stage = await startStage()
  chain = stage.swaps()
  a = stage.dex.tokens[0].toLowerCase()
})
afterAll(() => stage?.dex.stop())

const paid = () => [
  {
    ...{ hash, height, token: a, units, sender: user.address.toLowerCase(), logIndex: expect.any(Number) },
    // The order's reference is text, of which the contract has the hash.
    ref: keccak256(stringToBytes('a swap')),
  },
]

test('a final block has all the confirmations that finality wants', async () => {
  const pool = await stage.dex.makeV2(a as Hex, stage.dex.wrapped, 100_000n * coin, 99_000n * coin)
  const terms = { tokenIn: native, tokenOut: a, amountIn: 3n * coin }
  const { order, expected } = stage.order([via(pool, stage.wrapped)], { ...terms, feePpm: 10_000 })
  hash = await sendAll(chain, await chain.prepare(order))
  units = expected / 100n
  const { block } = (await chain.observe(hash)) as { block: { height: number } }
  height = block.height
  // Without a fee there is nothing to book.
  const free = stage.order([via(pool, stage.wrapped)], terms)
  await sendAll(chain, await chain.prepare(free.order))
  await stage.ask('anvil_mine', [`0x${BLOCKS.toString(16)}`])
  const head = Number(await stage.ask<string>('eth_blockNumber'))
  // Five blocks, of which the newest is one.
  expect(await chain.finalHeight()).toBe(head - 4)
  expect(await chain.paidFees(0, await chain.finalHeight())).toEqual(paid())
  expect(await chain.paidFees(height, height)).toEqual(paid())
  expect(await chain.paidFees(height + 1, height + 20)).toEqual([])
})

test('a node that answers few blocks at once is asked for them by halves', async () => {
  const narrow = await startFaultyNode(stage.url)
  const spanOf = ([filter]: unknown[]) => {
    const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string }
    return Number(toBlock) - Number(fromBlock) + 1
  }
  narrow.set(({ method, params }) =>
    method === 'eth_getLogs' && spanOf(params) > 10
      ? { error: { code: -32602, message: 'range too wide' } }
      : undefined,
  )
  const own = stage.swaps({ rpcUrls: [narrow.url] })
  expect(await own.paidFees(height - 2, height + 37)).toEqual(paid())
  // 40 blocks, two of 20, four of 10.
  expect(narrow.asked('eth_getLogs')).toBe(7)
  await narrow.stop()
})

test('nothing is known where the nodes differ, or one is silent', async () => {
  const late = await startFaultyNode(stage.url)
  const both = stage.swaps({ rpcUrls: [stage.url, late.url] })
  expect(await both.paidFees(height, height + 10)).toEqual(paid())
  late.set(({ method }) => (method === 'eth_getLogs' ? { result: [] } : undefined))
  await expect(both.paidFees(height, height + 10)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  late.set(({ method }) => (method === 'eth_getLogs' ? { status: 500 } : undefined))
  await expect(both.paidFees(height, height + 10)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  // What another contract says is no swap of ours, whatever was asked for.
  late.set(async ({ method }, forward) => {
    if (method !== 'eth_getLogs') return undefined
    const logs = (await forward()) as readonly object[]
    return { result: logs.map((log) => ({ ...log, address: `0x${'ab'.repeat(20)}` })) }
  })
  expect(await stage.swaps({ rpcUrls: [late.url] }).paidFees(height, height + 10)).toEqual([])
  await late.stop()
})
