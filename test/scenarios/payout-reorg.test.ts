import { afterAll, beforeAll, expect, test } from 'vitest'
import { whileMiningPaused } from '../support/mining.ts'
import { callNode } from '../support/nodes.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

// A reorganisation of a sandbox EVM chain drops all transactions of its blocks, so no other scenario uses this network.
const network = 'uni'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', network] })
})
afterAll(() => scenario.stop())

test('rebroadcasts the same transaction if the block of a payout is reorganised', async () => {
  const { address } = await scenario.wallet(network)
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@uni', amount: '1', address })
  const first = await whileMiningPaused(scenario, network, async () => {
    await scenario.deposit(exchange, '1')
    const hash = await scenario.until(
      'the payout is signed',
      async () => (await scenario.status(exchange)).exchanges[0]?.payoutHash,
    )
    await scenario.until('the node has the payout', () => callNode(network, 'eth_getTransactionByHash', [hash]))
    await scenario.mine(network, 2)
    await scenario.until(
      'the payout is mined',
      async () => (await callNode(network, 'eth_getTransactionReceipt', [hash]))?.blockNumber,
    )
    await scenario.reorg(network, 2)
    expect(await scenario.balance('eth@uni', address)).toBe('0')
    return hash
  })
  const { exchanges } = await scenario.waitForStatus(exchange, 'finished')
  expect(exchanges[0].payoutHash).toBe(first)
  expect(await scenario.balance('eth@uni', address)).toBe(exchanges[0].amountToReceived)
  await scenario.checkInvariants()
})
