import { afterAll, beforeAll, expect, test } from 'vitest'
import { outputDefaults } from '../../server/src/exchange/domain/output-plan.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

/** The sandbox fills the wallet with five outputs: 35 more are planned, of a fortieth each, and their change is one. */
const READY = 40
const EXPECTED = 36

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({
    networks: ['eth', 'ltc'],
    settings: { outputs: { ...outputDefaults, ready: READY } },
  })
})
afterAll(() => scenario.stop())

test('splits a hot wallet with few outputs on a real node, and pays from them', async () => {
  const countOutputs = async () => {
    const [row] = await scenario.app.database.query<{ count: number }>(
      "select count(*)::int from coins where network = 'ltc' and block_height is not null and spent_by is null",
    )
    return row?.count ?? 0
  }
  await scenario.until('the wallet is split', async () => (await countOutputs()) >= EXPECTED)
  const { address } = await scenario.wallet('ltc')
  const exchange = await scenario.create({ from: 'eth@eth', to: 'ltc@ltc', amount: '0.1', address })
  await scenario.deposit(exchange, '0.1')
  const { exchanges } = await scenario.waitForStatus(exchange, 'finished')
  expect(await scenario.balance('ltc@ltc', address)).toBe(exchanges[0].amountToReceived)
  const kinds = (await scenario.app.store.alarms.list(100)).map(({ subject }) => subject.split(':')[0])
  expect(kinds).not.toContain('intrusion')
  await scenario.checkInvariants()
})
