import { expect, test } from 'vitest'
import { present } from '../../lib/assert.ts'
import type { ScannedBlock } from '../ports/chain.ts'
import { prefetchBlocks } from './prefetch-blocks.ts'

const HEAD = 100

const blockAt = (height: number, { fork = 'a', transactions = 0 } = {}): ScannedBlock => ({
  height,
  hash: `${fork}${height}`,
  parentHash: `${fork}${height - 1}`,
  time: height,
  transfers: [],
  transactions: Array.from({ length: transactions }, (_, n) => ({
    txHash: `${height}:${n}`,
    sender: null,
    nonce: null,
    spends: [],
  })),
})

/** A reader that answers when the test says so. */
function createReader() {
  const open: { height: number; answer(block: ScannedBlock | null | Error): void }[] = []
  const block = (height: number) =>
    new Promise<ScannedBlock | null>((resolve, reject) => {
      const one = {
        height,
        answer: (result: ScannedBlock | null | Error) => {
          open.splice(open.indexOf(one), 1)
          if (result instanceof Error) reject(result)
          else resolve(result)
        },
      }
      open.push(one)
    })
  return {
    block,
    listOpen: () => open.map(({ height }) => height).sort((a, b) => a - b),
    answer: (height: number, result: ScannedBlock | null | Error = blockAt(height)) =>
      present(
        open.find((one) => one.height === height),
        `an open read of block ${height}`,
      ).answer(result),
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

/** Reads blocks 1 to 3, so that four are read at the same time from now on. */
async function startReading(transactions = 0) {
  const reader = createReader()
  const blocks = prefetchBlocks(reader, HEAD)
  for (const height of [1, 2, 3]) {
    const next = blocks.next(blockAt(height - 1))
    for (const open of reader.listOpen()) reader.answer(open, blockAt(open, { transactions }))
    expect(await next).toEqual(blockAt(height, { transactions }))
  }
  return { reader, blocks }
}

// M27.5: a watcher read one block after the other.
test('M27.5: reads up to four blocks at the same time, and returns them in order', async () => {
  const reader = createReader()
  const blocks = prefetchBlocks(reader, HEAD)
  const opened: (readonly number[])[] = []
  for (const height of [1, 2, 3, 4, 5]) {
    const next = blocks.next(blockAt(height - 1))
    opened.push(reader.listOpen())
    // The later one answers first.
    for (const open of reader.listOpen().reverse()) reader.answer(open)
    expect(await next).toEqual(blockAt(height))
  }
  expect(opened).toEqual([[1], [2, 3], [4, 5], [6, 7], [8]])
})

test('has four open reads while the nodes do not answer', async () => {
  const { reader, blocks } = await startReading()
  const next = blocks.next(blockAt(3))
  expect(reader.listOpen()).toEqual([6, 7])
  expect(await next).toEqual(blockAt(4))
  void blocks.next(blockAt(4))
  void blocks.next(blockAt(5))
  expect(reader.listOpen()).toEqual([6, 7, 8, 9])
})

test('reads no block above the head', async () => {
  const reader = createReader()
  const blocks = prefetchBlocks(reader, 2)
  for (const height of [1, 2]) {
    const next = blocks.next(blockAt(height - 1))
    expect(reader.listOpen()).toEqual([height])
    reader.answer(height)
    await next
  }
})

test('reads a block again that was read early and does not follow the cursor', async () => {
  const { reader, blocks } = await startReading()
  const next = blocks.next(blockAt(3, { fork: 'b' }))
  await settle()
  reader.answer(4, blockAt(4, { fork: 'b' }))
  expect(await next).toEqual(blockAt(4, { fork: 'b' }))
})

test('reads a block again whose early read failed, and reports the second failure', async () => {
  const { reader, blocks } = await startReading()
  const fourth = blocks.next(blockAt(3))
  reader.answer(6, new Error('the node does not answer'))
  reader.answer(7)
  expect(await fourth).toEqual(blockAt(4))
  expect(await blocks.next(blockAt(4))).toEqual(blockAt(5))
  const sixth = blocks.next(blockAt(5))
  await settle()
  reader.answer(6, new Error('the node does not answer'))
  await expect(sixth).rejects.toThrow('the node does not answer')
})

test('reads full blocks one by one', async () => {
  const { reader, blocks } = await startReading(6_000)
  const next = blocks.next(blockAt(3))
  expect(reader.listOpen()).toEqual([4])
  reader.answer(4)
  await next
})
