import { afterAll, beforeAll, expect, test } from 'vitest'
import { booked } from '../support/facts.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

test.each([
  ['eth@eth', '0.4'],
  ['usdt@eth', '500'],
] as const)('%s moves from its deposit address to the hot wallet', async (currency, amount) => {
  const exchange = await scenario.create({ from: currency, to: 'btc@btc', amount })
  await scenario.deposit(exchange, amount)
  await scenario.settles(exchange, 'finished')
  await scenario.until(
    'the ledger has nothing on deposit addresses',
    async () => (await booked(scenario, 'asset:deposits', currency)) === 0n,
  )
  // Of the coin itself, what the sweep could have cost at most stays behind.
  const left = async () => Number(await scenario.balance(currency, exchange.request.depositAddress))
  await scenario.until(
    'it is swept on chain',
    async () => (await left()) < (currency === 'usdt@eth' ? 0.000_001 : 0.001),
  )
  // Gas that the app itself brought to the address is no payment on its way.
  expect(await scenario.app.database.query('select tx_hash from sightings where gone_at is null')).toEqual([])
  await scenario.invariants()
})
