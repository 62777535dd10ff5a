import { afterAll, beforeAll, expect, test } from 'vitest'
import { whileMiningPaused } from '../support/mining.ts'
import { callNode } from '../support/nodes.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'ltc'], settings: { stuckMs: 1_000 } })
})
afterAll(() => scenario.stop())

test('replaces a payout that stays unmined by one with a higher fee, and only the replacement is mined', async () => {
  const { address } = await scenario.wallet('ltc')
  const exchange = await scenario.create({ from: 'eth@eth', to: 'ltc@ltc', amount: '0.1', address })
  const payoutHash = async (): Promise<string> => (await scenario.status(exchange)).exchanges[0]?.payoutHash
  const first = await whileMiningPaused(scenario, 'ltc', async () => {
    await scenario.deposit(exchange, '0.1')
    const hash = await scenario.until('the payout is signed', payoutHash)
    await scenario.until('the payout is in the mempool', async () =>
      (await callNode('ltc', 'getrawmempool')).includes(hash),
    )
    // A negative fee delta keeps only this transaction out of blocks.
    await callNode('ltc', 'prioritisetransaction', [hash, 0, -100_000_000])
    return hash
  })
  const { exchanges } = await scenario.waitForStatus(exchange, 'finished')
  expect(exchanges[0].payoutHash).not.toBe(first)
  expect(await scenario.balance('ltc@ltc', address)).toBe(exchanges[0].amountToReceived)
  await expect(callNode('ltc', 'getrawtransaction', [first, true])).rejects.toThrow(
    'No such mempool or blockchain transaction',
  )
  await scenario.checkInvariants()
})
