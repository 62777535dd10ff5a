import { expect, test } from 'vitest'
import type { Fleet } from './fleet.ts'
import { mineAndRemove } from './inclusion.ts'

const PAYMENT = { network: 'eth', hash: '0xpayment' }

/** A chain of eth whose next block includes the payment, and an app that records at once what is in a block. */
function createFleet({ missedBlocks = 0, includesAgain = false, minesAlone = 0 } = {}) {
  const blocks = ['0xgenesis']
  const reorganised: number[] = []
  let count = 0
  let height: number | null = null
  const mine = (includes: boolean) => {
    blocks.push(`0xblock${count++}`)
    if (includes) height ??= blocks.length - 1
  }
  const results: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
    eth_getTransactionReceipt: () => (height === null ? null : { blockNumber: `0x${height.toString(16)}` }),
    eth_getBlockByNumber: ([number]) => ({ hash: blocks[Number(number)] }),
    eth_blockNumber: () => `0x${(blocks.length - 1).toString(16)}`,
  }
  const fleet = {
    cluster: {
      call: async (_network: string, method: string, params: readonly unknown[] = []) => results[method]?.(params),
      control: async () => {
        for (let mined = 0; mined <= minesAlone; mined++) mine(true)
      },
      reorganize: async (_network: string, depth: number) => {
        reorganised.push(depth)
        const kept = blocks.length - depth + missedBlocks
        blocks.length = kept
        if (height !== null && height >= kept) height = null
        for (let mined = 0; mined <= depth; mined++) mine(includesAgain)
      },
    },
    database: {
      query: async (_sql: string, [, , hash]: readonly unknown[]) =>
        height !== null && blocks[height] === hash ? [{}] : [],
    },
  } as unknown as Fleet
  return { fleet, reorganised }
}

test.each([1, 2, 5])('mines a payment %i blocks deep, looks, and replaces its block', async (depth) => {
  const { fleet, reorganised } = createFleet()
  const look = async () => {
    expect(reorganised).toEqual([])
    return fleet.cluster.call('eth', 'eth_blockNumber')
  }
  expect(await mineAndRemove(fleet, PAYMENT, depth, look)).toBe(`0x${depth}`)
  expect(reorganised).toEqual([depth])
})

test.each([
  ['ends above the block of the payment', { missedBlocks: 1 }, /the block is still on its chain/],
  ['includes the payment again', { includesAgain: true }, /is in a block after the reorganisation/],
  ['comes after blocks that the case did not mine', { minesAlone: 3 }, /blocks that this case did not mine/],
] as const)('fails if the reorganisation %s', async (_what, options, message) => {
  const { fleet } = createFleet(options)
  await expect(mineAndRemove(fleet, PAYMENT, 2, async () => null)).rejects.toThrow(message)
})
