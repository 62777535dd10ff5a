import { parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { convertAtLiveRate } from '../support/published-prices.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { readNetworkFee } from '../support/scenario-reads.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'eth'] })
})
afterAll(() => scenario.stop())

test('exchanges bitcoin to ether at the published prices, spread and network fee', async () => {
  const readFee = async () => parseEther(await readNetworkFee(scenario, 'eth@eth', 'btc@btc', '0.01'))
  const { address } = await scenario.wallet('eth')
  const exchange = await scenario.create({ from: 'btc@btc', to: 'eth@eth', amount: '0.01', address })
  const feeBefore = await readFee()
  await scenario.deposit(exchange, '0.01')
  const finished = await scenario.waitForStatus(exchange, 'finished')
  const feeAfter = await readFee()
  const [item] = finished.exchanges
  expect(finished.exchanges).toHaveLength(1)
  expect(item.amountFromReceived).toBe('0.01')
  const received = await scenario.balance('eth@eth', address)
  expect(received).toBe(item.amountToReceived)
  const worth = convertAtLiveRate('btc@btc', 'eth@eth', 1_000_000n)
  const fee = worth - parseEther(received)
  // The base fee moves by up to an eighth per block, so the fee at the credit may differ from both quotes.
  const [least, most] = feeBefore < feeAfter ? [feeBefore, feeAfter] : [feeAfter, feeBefore]
  expect(fee).toBeGreaterThanOrEqual((least * 3n) / 4n)
  expect(fee).toBeLessThanOrEqual((most * 5n) / 4n)
  // The fee is small against the amount, so that an error of the price or the spread shows.
  expect(most).toBeLessThan(worth / 100n)
  await scenario.checkInvariants()
})
