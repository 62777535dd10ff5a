import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { belowMin, expectRefund } from '../support/facts.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'

const CONFIRMED_MS = 120_000

describeWith('monerod', 'bitcoin and monero', () => {
  let scenario: Scenario
  beforeAll(async () => {
    scenario = await startScenario({ networks: ['btc', 'xmr'] })
  })
  afterAll(() => scenario.stop())

  test('bitcoin arrives as monero, to several recipients at once', async () => {
    const wallets = await Promise.all([1, 2, 3].map(() => scenario.wallet('xmr')))
    const exchanges = await Promise.all(
      wallets.map(({ address }) => scenario.create({ from: 'btc@btc', to: 'xmr@xmr', amount: '0.004', address })),
    )
    for (const exchange of exchanges) await scenario.deposit(exchange, '0.004')
    for (const [n, exchange] of exchanges.entries()) {
      const { exchanges: items } = await scenario.settles(exchange, 'finished', CONFIRMED_MS)
      expect(items).toHaveLength(1)
      expect(items[0].amountFromReceived).toBe('0.004')
      expect(await scenario.balance('xmr@xmr', wallets[n]?.address ?? '')).toBe(items[0].amountToReceived)
    }
    await scenario.invariants()
  })

  test('monero arrives as bitcoin, and what was deposited pays the next', async () => {
    const { address } = await scenario.wallet('btc')
    const exchange = await scenario.create({ from: 'xmr@xmr', to: 'btc@btc', amount: '2', address })
    await scenario.deposit(exchange, '2')
    const { exchanges } = await scenario.settles(exchange, 'finished', CONFIRMED_MS)
    expect(exchanges).toHaveLength(1)
    expect(exchanges[0].amountFromReceived).toBe('2')
    expect(await scenario.balance('btc@btc', address)).toBe(exchanges[0].amountToReceived)
    await scenario.invariants()
  })

  test('too little goes back to a refund address of monero', async () => {
    const [target, back] = [await scenario.wallet('btc'), await scenario.wallet('xmr')]
    const exchange = await scenario.create({
      from: 'xmr@xmr',
      to: 'btc@btc',
      amount: '2',
      address: target.address,
      refundAddress: back.address,
    })
    const amount = await belowMin(scenario, 'xmr@xmr', 'btc@btc', 12)
    await expectRefund(
      scenario,
      { currency: 'xmr@xmr', amount, address: back.address, quoteFrom: 'btc@btc', decimals: 12 },
      async () => {
        await scenario.deposit(exchange, amount)
        const { statusReason } = await scenario.settles(exchange, 'refunded', CONFIRMED_MS)
        expect(statusReason).toBe('BELOW_MIN')
      },
    )
    await scenario.invariants()
  })
})
