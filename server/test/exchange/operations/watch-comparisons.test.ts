import { afterAll, beforeAll, expect, test } from 'vitest'
import { createReconcile } from '../../../src/exchange/operations/reconcile.ts'
import { createWatchComparisons, UNCOMPARED_MS } from '../../../src/exchange/operations/watch-comparisons.ts'
import { startMoneyPath } from '../money-path.ts'

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
})
afterAll(() => fixture.close())

test('a network whose wallets are not compared with the ledger is an alarm, until they are', async () => {
  const { store, dependencies, fakes, database } = fixture
  const networks = ['btc', 'eth']
  const watch = createWatchComparisons({ store, networks, startedAt: Number.NEGATIVE_INFINITY })
  const reconcile = createReconcile({ ...dependencies, addressesEveryMs: 0, onDifference: () => undefined })
  const readSubjects = async () => (await store.alarms.list(10)).map(({ subject }) => subject)
  const age = () =>
    database.query("update turns set at = at - $1 * interval '1 ms' where name like 'comparison:%'", [UNCOMPARED_MS])
  await fixture.mineBlocks(1)
  await reconcile(fakes.btc.chain)
  // eth was never compared: the time counts from now.
  await watch()
  expect(await readSubjects()).toEqual([])

  await age()
  await reconcile(fakes.btc.chain)
  await watch()
  expect(await readSubjects()).toEqual(['uncompared:eth'])
  expect(await store.alarms.find('uncompared:eth')).toMatchObject({
    alarm: 'the ledger is not compared with the wallets of a network',
    detail: { network: 'eth', since: expect.stringMatching(/^20..-..-..T..:..:..Z$/) },
  })

  await reconcile(fakes.eth.chain)
  await watch()
  expect(await readSubjects()).toEqual([])

  // After a pause of all processes.
  await age()
  await createWatchComparisons({ store, networks })()
  expect(await readSubjects()).toEqual([])
})
