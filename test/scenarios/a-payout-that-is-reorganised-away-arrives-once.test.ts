import { afterAll, beforeAll, expect, test } from 'vitest'
import { whilePaused } from '../support/mining.ts'
import { nodeCall } from '../support/nodes.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

// A reorganisation of the sandbox's EVM chains drops what everybody paid in it: no other scenario uses this network.
const network = 'uni'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['ltc', network] })
})
afterAll(() => scenario.stop())

test('a payout whose block is replaced is offered again with the same bytes', async () => {
  const { address } = await scenario.wallet(network)
  const exchange = await scenario.create({ from: 'ltc@ltc', to: 'eth@uni', amount: '1', address })
  const first = await whilePaused(scenario, network, async () => {
    await scenario.deposit(exchange, '1')
    const hash = await scenario.until(
      'the payout is signed',
      async () => (await scenario.status(exchange)).exchanges[0]?.payoutHash,
    )
    await scenario.until('the node has it', () => nodeCall(network, 'eth_getTransactionByHash', [hash]))
    await scenario.mine(network, 2)
    await scenario.until(
      'it is mined',
      async () => (await nodeCall(network, 'eth_getTransactionReceipt', [hash]))?.blockNumber,
    )
    await scenario.reorg(network, 2)
    expect(await scenario.balance('eth@uni', address)).toBe('0')
    return hash
  })
  const { exchanges } = await scenario.settles(exchange, 'finished')
  expect(exchanges[0].payoutHash).toBe(first)
  expect(await scenario.balance('eth@uni', address)).toBe(exchanges[0].amountToReceived)
  await scenario.invariants()
})
