import { afterAll, beforeAll, expect, test } from 'vitest'
import { AppError } from '../../../src/core/domain/errors.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { present } from '../../../src/lib/assert.ts'
import { COIN, startMoneyPath } from '../money-path.ts'

const BLOCKS = 20
const PAID = COIN / 200n

let path: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  path = await startMoneyPath()
})
afterAll(() => path.close())

/** Mines blocks that no watcher reads meanwhile, one deposit each. */
async function mineDeposits(exchange: Exchange): Promise<void> {
  for (let n = 0; n < BLOCKS; n++) {
    path.payDeposit(exchange, PAID)
    path.fakes.btc.mine()
  }
}

/** Records the blocks of btc. `onRead` is called before each read of a block. */
const record = (onRead: (height: number) => void) => {
  const { chain } = path.fakes.btc
  const block = async (height: number) => {
    onRead(height)
    return chain.reader.block(height)
  }
  return path.services.record({ ...chain, reader: { ...chain.reader, block } })
}
const readHeight = async () => present(await path.store.chainLog.cursor('btc'), 'a cursor of btc').height
/** Whether each deposit of the exchange is in a block of the node's best chain. */
async function expectRecorded(exchange: Exchange): Promise<void> {
  const { reader } = path.fakes.btc.chain
  const rows = await path.database.query<{ tx_hash: string; block_height: string; block_hash: string }>(
    'select tx_hash, block_height, block_hash from deposits where exchange_id = $1 order by id',
    [exchange.id],
  )
  expect(rows).toHaveLength(BLOCKS)
  for (const { tx_hash, block_height, block_hash } of rows) {
    const block = await reader.block(Number(block_height))
    expect(block?.hash).toBe(block_hash)
    expect(block?.transactions.map(({ txHash }) => txHash)).toContain(tx_hash)
  }
}

test('a watcher that is behind reads the following blocks while it waits for one (T56)', async () => {
  const exchange = await path.createExchange()
  const first = (await readHeight()) + 1
  await mineDeposits(exchange)
  const failing = first + 9
  const reads: number[] = []
  const failed = record((height) => {
    reads.push(height)
    if (height === failing) throw new AppError('NETWORK_UNAVAILABLE', 'the node does not answer')
  })
  await expect(failed).rejects.toMatchObject({ code: 'NETWORK_UNAVAILABLE' })
  expect(await readHeight()).toBe(failing - 1)
  expect(Math.max(...reads)).toBe(failing + 3)
  await record(() => undefined)
  await expectRecorded(exchange)
})

test('a reorganisation of blocks that were read early is followed', async () => {
  const exchange = await path.createExchange()
  const first = (await readHeight()) + 1
  await mineDeposits(exchange)
  let isReplaced = false
  await record((height) => {
    if (isReplaced || height !== first + 12) return
    isReplaced = true
    path.fakes.btc.reorg(BLOCKS - 5)
  })
  expect(isReplaced).toBe(true)
  path.fakes.btc.mine()
  await record(() => undefined)
  await expectRecorded(exchange)
})
