import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Json, startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['eth', 'btc'] })
})
afterAll(() => world.stop())

async function createFixed(address: string): Promise<Json> {
  const { rateId, toAmount } = await world.rate('eth@eth', 'btc@btc', '0.4', 'fixed-rate')
  const exchange = await world.create({
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

test('the quoted deposit in time is paid with exactly the quoted amount', async () => {
  const { address } = await world.wallet('btc')
  const exchange = await createFixed(address)
  await world.deposit(exchange, '0.4')
  const { exchanges } = await world.settles(exchange, 'finished')
  expect(exchanges[0].amountToReceived).toBe(exchange.request.amountToRequested)
  expect(await world.balance('btc@btc', address)).toBe(exchange.request.amountToRequested)
  await world.invariants()
})

test('half a percent less is paid pro rata at the fixed rate', async () => {
  const { address } = await world.wallet('btc')
  const exchange = await createFixed(address)
  await world.deposit(exchange, '0.398')
  await world.settles(exchange, 'finished')
  const proRata = (parseUnits(exchange.request.amountToRequested, 8) * 995n) / 1000n
  expect(parseUnits(await world.balance('btc@btc', address), 8)).toBe(proRata)
  await world.invariants()
})
