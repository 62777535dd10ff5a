import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRecordBlocks } from '../../../src/exchange/deposits/record-blocks.ts'
import { createWatchCursors, STALLED_MS } from '../../../src/exchange/operations/watch-cursors.ts'
import { startMoneyPath } from '../money-path.ts'

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
})
afterAll(() => fixture.close())

// T6: a watcher that stood still was a warning in the log, once a turn, and a gauge.
test('M27.4, M27.5: a network whose blocks are not recorded is an alarm, until they are', async () => {
  const watch = createWatchCursors({ store: fixture.store, networks: ['btc', 'eth'] })
  const read = () => fixture.store.alarms.find('stalled:eth')
  await fixture.mineBlocks(1)
  await watch()
  expect(await read()).toBeNull()

  const { reader } = fixture.fakes.eth.chain
  const { block } = reader
  reader.block = async () => {
    throw new Error('no node returns this block whole')
  }
  fixture.fakes.eth.mine()
  await expect(fixture.services.record(fixture.fakes.eth.chain)).rejects.toThrow('whole')
  await fixture.database.query(
    "update cursors set caught_up_at = caught_up_at - $1 * interval '1 ms' where network = 'eth'",
    [STALLED_MS],
  )
  await watch()
  const { height } = (await fixture.store.chainLog.cursor('eth')) ?? {}
  expect(await read()).toMatchObject({
    severity: 'warning',
    alarm: 'new blocks of a network are not recorded',
    detail: { height, since: expect.stringMatching(/^20..-..-..T..:..:..Z$/) },
  })

  reader.block = block
  // A new watcher: it writes at most every five seconds that it is at the head.
  await createRecordBlocks(fixture.dependencies)(fixture.fakes.eth.chain)
  await watch()
  expect(await read()).toBeNull()
})
