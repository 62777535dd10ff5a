import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundBitcoinWallet } from '../support/bitcoin-wallet.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

let scenario: Scenario
beforeAll(async () => {
  scenario = await startScenario({ networks: ['btc', 'eth'] })
})
afterAll(() => scenario.stop())

test('D4: credits two exchanges from one transaction, each with its own output', async () => {
  const amounts = ['0.01', '0.02']
  const wallets = [await scenario.wallet('eth'), await scenario.wallet('eth')]
  const exchanges = await Promise.all(
    wallets.map(({ address }, n) =>
      scenario.create({ from: 'btc@btc', to: 'eth@eth', amount: amounts[n] ?? '', address }),
    ),
  )
  const wallet = await fundBitcoinWallet(scenario, 'btc', '0.1')
  await wallet.send(
    wallet.sign(
      exchanges.map((exchange, n) => ({ address: exchange.request.depositAddress, amount: amounts[n] ?? '' })),
    ),
  )
  for (const [n, exchange] of exchanges.entries()) {
    const finished = await scenario.waitForStatus(exchange, 'finished')
    expect(finished.exchanges).toHaveLength(1)
    expect(finished.exchanges[0].amountFromReceived).toBe(amounts[n])
    expect(await scenario.balance('eth@eth', wallets[n]?.address ?? '')).toBe(finished.exchanges[0].amountToReceived)
  }
  await scenario.checkInvariants()
})
