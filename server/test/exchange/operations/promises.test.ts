import { afterAll, beforeAll, expect, test } from 'vitest'
import { createWatchPromises } from '../../../src/exchange/operations/watch-promises.ts'
import { ETHER, startMoneyPath } from '../money-path.ts'

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let watch: () => Promise<void>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ eth: 10n * ETHER })
  watch = createWatchPromises({ store: fixture.store })
})
afterAll(() => fixture.close())

const readAlarms = async () => (await fixture.store.alarms.list(10)).map(({ subject, detail }) => ({ subject, detail }))

// M12: nothing compared what is promised with what is there.
test('M12: promises and debts above what the wallets hold are an alarm until they end', async () => {
  const exchange = await fixture.createExchange({ flow: 'fixed-rate', toUnits: 8n * ETHER })
  await watch()
  expect(await readAlarms()).toEqual([])
  // Four of the ten ether are owed to somebody else now.
  const payout = await fixture.insertPayout('eth', 4n * ETHER, 'somebody', 'withdrawal')
  await watch()
  const alarm = { subject: 'overpromised:eth@eth', detail: { missing: (2n * ETHER).toString() } }
  expect(await readAlarms()).toEqual([alarm])
  // Paying a debt changes nothing.
  await fixture.runWorkers()
  await fixture.mineBlocks(4)
  const [{ state } = { state: '' }] = await fixture.database.query<{ state: string }>(
    'select state from payouts where id = $1',
    [payout],
  )
  expect(state).toBe('confirmed')
  await watch()
  const fee = fixture.fakes.eth.balanceOf('eth-hot', null)
  expect(await readAlarms()).toEqual([{ ...alarm, detail: { missing: (8n * ETHER - fee).toString() } }])
  await fixture.store.inventory.release(`hold:${exchange.id}`)
  await watch()
  expect(await readAlarms()).toEqual([])
})
