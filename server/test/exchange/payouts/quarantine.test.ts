import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createOperatePayouts } from '../../../src/exchange/operations/operate-payouts.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

test('M8: an input that no node lets us spend is quarantined, and the payout is signed with others', async () => {
  const { chain, behaviour, pay } = fixture.fakes.btc
  const hot = chain.addresses.hot()
  // Outputs are chosen largest first.
  behaviour.unsignableOutpoint = `${pay(hot, 3n * COIN)}:0`
  pay(hot, COIN)
  await fixture.mineBlocks(3)
  const exchange = await fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER / 10n })
  fixture.payDeposit(exchange, ETHER / 10n, 'somebody')
  await fixture.mineBlocks(12)
  expect(await fixture.readStatus(exchange)).toBe('finished')
  expect(await fixture.listAlarmKinds()).toContain('quarantine')
  const [released] = await fixture.database.query(
    `select count(*)::int as count from attempts where network = 'btc' and sent_at is not null`,
  )
  expect(released).toEqual({ count: 1 })

  const operate = createOperatePayouts(fixture.store)
  const note = { actor: 'the test', reason: 'another input was the cause' }
  await operate.releaseInput('btc', behaviour.unsignableOutpoint, note)
  await expect(operate.releaseInput('btc', behaviour.unsignableOutpoint, note)).rejects.toThrow('not quarantined')
})
