import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { whileMiningPaused } from '../support/mining.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { waitForItems } from '../support/scenario-reads.ts'

type Case = readonly [from: string, amount: string]

/** Pays, mines one block, and compares the wallets with the nodes before the deposit is credited. */
async function expectUncredited(scenario: Scenario, [from, amount]: Case): Promise<void> {
  const [, network = ''] = from.split('@')
  const exchange = await scenario.create({ from, to: 'btc@btc', amount })
  await whileMiningPaused(scenario, network, async () => {
    await scenario.deposit(exchange, amount)
    await scenario.mine(network, 1)
    await waitForItems(scenario, exchange, 1, 'confirming')
    const read = () =>
      scenario.app.database.query<{ status: string }>('select status from deposits where exchange_id = $1', [
        exchange.id,
      ])
    await scenario.checkInvariants()
    expect(await read()).toEqual([{ status: 'seen' }])
  })
  await scenario.waitForStatus(exchange, 'finished')
  await scenario.checkInvariants()
}

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'eth'] })
})
afterAll(() => scenario?.stop())

test.each<Case>([
  ['eth@eth', '0.4'],
  ['usdt@eth', '400'],
])('a deposit of %s that is not credited is found at its address on the node', async (...one) => {
  await expectUncredited(scenario, one)
})

describeWith('monerod', 'a deposit of Monero that is not credited', () => {
  let monero: Scenario
  beforeAll(async () => {
    monero = await startScenario({ networks: ['btc', 'xmr'] })
  })
  afterAll(() => monero?.stop())

  test('is found by a wallet that is restored from the keys', async () => {
    await expectUncredited(monero, ['xmr@xmr', '2'])
  })
})
