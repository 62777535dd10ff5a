import { type Hex, keccak256, stringToBytes } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EvmSwapChain } from '../../../src/adapters/swap-chain/chain.ts'
import type { SwapChain } from '../../../src/swap/ports/swap-chain.ts'
import { startFaultyNode } from '../chains/evm/faulty-node.ts'
import { ether, native, type Stage, sendAll, startStage, user, via } from './stage.ts'

// Fees from the router's events: in final blocks, if all nodes agree, with as few queries as a node allows.

const BLOCKS = 40

let stage: Stage
let chain: EvmSwapChain
let a: string
let hash: string
let height: number
let units: bigint
let feeTo: string

beforeAll(async () => {
  stage = await startStage()
  chain = stage.swaps()
  a = stage.dex.tokens[0].toLowerCase()
  feeTo = stage.dex.partner.toLowerCase()
})
afterAll(() => stage?.dex.stop())

const listFees = async (on: SwapChain, from: number, to: number) =>
  (await on.listPaidFees({ from, to, feeTo: [feeTo] })).fees

const expectedFees = () => [
  {
    ...{ hash, height, token: a, units, sender: user.address.toLowerCase(), logIndex: expect.any(Number) },
    // The order's reference is text; the contract has its hash.
    ref: keccak256(stringToBytes('a swap')),
    ...{ feeTo, executor: chain.executor },
  },
]

test('lists fees up to the newest block with the confirmations of finality', async () => {
  const pool = await stage.dex.makeV2(a as Hex, stage.dex.wrapped, 100_000n * ether, 99_000n * ether)
  const terms = { tokenIn: native, tokenOut: a, amountIn: 3n * ether }
  const { order, expected } = stage.order([via(pool, stage.wrapped)], { ...terms, feePpm: 10_000 })
  hash = await sendAll(chain, await chain.prepare(order))
  units = expected / 100n
  const { block } = (await chain.observe(hash)) as { block: { height: number } }
  height = block.height
  // A swap without a fee is not listed.
  const free = stage.order([via(pool, stage.wrapped)], terms)
  await sendAll(chain, await chain.prepare(free.order))
  await stage.ask('anvil_mine', [`0x${BLOCKS.toString(16)}`])
  const head = Number(await stage.ask<string>('eth_blockNumber'))
  // Finality needs five blocks, including the newest.
  expect(await chain.readFinalHeight()).toBe(head - 4)
  expect(await listFees(chain, 0, await chain.readFinalHeight())).toEqual(expectedFees())
  expect(await listFees(chain, height, height)).toEqual(expectedFees())
  expect(await listFees(chain, height + 1, height + 20)).toEqual([])
  // Fees of other recipients, and no recipient: nothing is looked up.
  const others = [[user.address.toLowerCase()], []]
  for (const feeTo of others)
    expect(await chain.listPaidFees({ from: 0, to: height, feeTo })).toEqual({ fees: [], to: height })
})

test('halves the range for a node that refuses large ranges', async () => {
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
  expect(await listFees(own, height - 2, height + 37)).toEqual(expectedFees())
  // 40 blocks, two of 20, four of 10.
  expect(narrow.callCount('eth_getLogs')).toBe(7)
  await narrow.stop()
})

test('throws if the nodes disagree or one fails', async () => {
  const late = await startFaultyNode(stage.url)
  const both = stage.swaps({ rpcUrls: [stage.url, late.url] })
  expect(await listFees(both, height, height + 10)).toEqual(expectedFees())
  late.set(({ method }) => (method === 'eth_getLogs' ? { result: [] } : undefined))
  await expect(listFees(both, height, height + 10)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  late.set(({ method }) => (method === 'eth_getLogs' ? { status: 500 } : undefined))
  await expect(listFees(both, height, height + 10)).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  // Events of another contract are ignored, even if the query did not request them.
  late.set(async ({ method }, forward) => {
    if (method !== 'eth_getLogs') return undefined
    const logs = (await forward()) as readonly object[]
    return { result: logs.map((log) => ({ ...log, address: `0x${'ab'.repeat(20)}` })) }
  })
  expect(await listFees(stage.swaps({ rpcUrls: [late.url] }), height, height + 10)).toEqual([])
  await late.stop()
})
