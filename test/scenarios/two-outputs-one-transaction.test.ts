import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundBitcoinWallet } from '../support/bitcoin-wallet.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { waitForItems } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'eth'] })
})
afterAll(() => scenario.stop())

test('D3: executes each of two outputs that one transaction pays to a deposit address', async () => {
  const { address } = await scenario.wallet('eth')
  const exchange = await scenario.create({ from: 'btc@btc', to: 'eth@eth', amount: '0.01', address })
  const { depositAddress } = exchange.request
  const wallet = await fundBitcoinWallet(scenario, 'btc', '0.1')
  const payment = wallet.sign([
    { address: depositAddress, amount: '0.01' },
    { address: depositAddress, amount: '0.02' },
  ])
  await wallet.send(payment)
  const finished = await waitForItems(scenario, exchange, 2, 'finished')
  expect(finished.map((item) => item.amountFromReceived).sort()).toEqual(['0.01', '0.02'])
  expect(finished.map((item) => item.payinHash)).toEqual([payment.txid, payment.txid])
  const paidUnits = finished.reduce((sum, item) => sum + parseUnits(item.amountToReceived, 18), 0n)
  expect(parseUnits(await scenario.balance('eth@eth', address), 18)).toBe(paidUnits)
  await scenario.checkInvariants()
})
