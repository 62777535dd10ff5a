import { parseUnits } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type World } from '../support/scenario.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ networks: ['eth', 'btc'] })
})
afterAll(() => world.stop())

test('the quoted amount is paid at the fixed rate and the excess at the live one', async () => {
  const { address } = await world.wallet('btc')
  const { rateId } = await world.rate('eth@eth', 'btc@btc', '0.4', 'fixed-rate')
  const exchange = await world.create({
    from: 'eth@eth',
    to: 'btc@btc',
    amount: '0.4',
    flow: 'fixed-rate',
    rateId,
    address,
  })
  const live = await world.rate('eth@eth', 'btc@btc', '0.1')
  await world.deposit(exchange, '0.5')
  await world.settles(exchange, 'finished')
  // The excess travels in the same payout: it bears no network fee of its own.
  const excess = parseUnits(live.toAmount.toFixed(8), 8) + parseUnits(live.fees.network, 8)
  expect(parseUnits(await world.balance('btc@btc', address), 8)).toBe(
    parseUnits(exchange.request.amountToRequested, 8) + excess,
  )
  await world.invariants()
})
