import { afterAll, beforeAll, expect, test } from 'vitest'
import { guardDefaults } from '../../server/src/exchange/settings.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  const guards = { ...guardDefaults, fixedInclusionMs: 1_000 }
  scenario = await startScenario({
    networks: ['eth', 'btc'],
    settings: { expiryMs: 4_000, fixedLockMs: 2_000, guards },
  })
})
afterAll(() => scenario.stop())

test('an exchange without a deposit fails at its expiry', async () => {
  const exchange = await scenario.create({ from: 'eth@eth', to: 'btc@btc', amount: '0.4' })
  expect((await scenario.status(exchange)).status).toBe('pending')
  const failed = await scenario.waitForStatus(exchange, 'failed')
  expect(failed.statusReason).toBe('EXPIRED')
  expect(failed.exchanges).toEqual([])
  await scenario.checkInvariants()
})

test('releases the reserve of a fixed-rate exchange when its promise ends', async () => {
  const readAvailable = async () => (await scenario.app.store.inventory.available()).get('btc@btc')
  const before = await readAvailable()
  const { rateId } = await scenario.rate('eth@eth', 'btc@btc', '0.4', 'fixed-rate')
  const exchange = await scenario.create({ from: 'eth@eth', to: 'btc@btc', amount: '0.4', flow: 'fixed-rate', rateId })
  await scenario.waitForStatus(exchange, 'failed')
  await scenario.until('the reserve is free again', async () => (await readAvailable()) === before)
  await scenario.checkInvariants()
})
