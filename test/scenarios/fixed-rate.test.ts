import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Json, type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['eth', 'btc'] })
})
afterAll(() => scenario.stop())

async function createFixed(address: string): Promise<Json> {
  const { rateId, toAmount } = await scenario.rate('eth@eth', 'btc@btc', '0.4', 'fixed-rate')
  const exchange = await scenario.create({
    from: 'eth@eth',
    to: 'btc@btc',
    amount: '0.4',
    flow: 'fixed-rate',
    rateId,
    address,
  })
  expect(Number(exchange.request.amountToRequested)).toBe(toAmount)
  return exchange
}

test('pays exactly the quoted amount for the quoted deposit before the lock ends', async () => {
  const { address } = await scenario.wallet('btc')
  const exchange = await createFixed(address)
  await scenario.deposit(exchange, '0.4')
  const { exchanges } = await scenario.waitForStatus(exchange, 'finished')
  expect(exchanges[0].amountToReceived).toBe(exchange.request.amountToRequested)
  expect(await scenario.balance('btc@btc', address)).toBe(exchange.request.amountToRequested)
  await scenario.checkInvariants()
})

test('pays a deposit that is 0.5 % too small pro rata at the fixed rate', async () => {
  const { address } = await scenario.wallet('btc')
  const exchange = await createFixed(address)
  await scenario.deposit(exchange, '0.398')
  await scenario.waitForStatus(exchange, 'finished')
  const proRata = (parseUnits(exchange.request.amountToRequested, 8) * 995n) / 1000n
  expect(parseUnits(await scenario.balance('btc@btc', address), 8)).toBe(proRata)
  await scenario.checkInvariants()
})
