import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { expectPublishedPayout } from '../support/published-payout.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { computeAmountBelowMin, expectRefund } from '../support/scenario-reads.ts'

describeWith('monerod', 'exchanges between bitcoin and monero', () => {
  let scenario: Scenario
  beforeAll(async () => {
    scenario = await startScenario({ networks: ['btc', 'xmr'] })
  })
  afterAll(() => scenario.stop())

  test('pay monero to several recipients at once', async () => {
    const wallets = await Promise.all([1, 2, 3].map(() => scenario.wallet('xmr')))
    const exchanges = await Promise.all(
      wallets.map(({ address }) => scenario.create({ from: 'btc@btc', to: 'xmr@xmr', amount: '0.004', address })),
    )
    for (const exchange of exchanges) await scenario.deposit(exchange, '0.004')
    for (const [n, exchange] of exchanges.entries()) {
      const { exchanges: items } = await scenario.waitForStatus(exchange, 'finished')
      expect(items).toHaveLength(1)
      expect(items[0].amountFromReceived).toBe('0.004')
      expect(await scenario.balance('xmr@xmr', wallets[n]?.address ?? '')).toBe(items[0].amountToReceived)
    }
    await scenario.checkInvariants()
  })

  test('pay bitcoin for a monero deposit', async () => {
    const { address } = await scenario.wallet('btc')
    const exchange = await scenario.create({ from: 'xmr@xmr', to: 'btc@btc', amount: '2', address })
    await expectPublishedPayout(scenario, { from: 'xmr@xmr', to: 'btc@btc', amounts: ['2'], address }, async () => {
      await scenario.deposit(exchange, '2')
      await scenario.waitForStatus(exchange, 'finished')
    })
    const { exchanges } = await scenario.status(exchange)
    expect(exchanges).toHaveLength(1)
    expect(exchanges[0].amountFromReceived).toBe('2')
    expect(await scenario.balance('btc@btc', address)).toBe(exchanges[0].amountToReceived)
    await scenario.checkInvariants()
  })

  test('refund a monero deposit below the minimum to the refund address', async () => {
    const [recipient, refundWallet] = [await scenario.wallet('btc'), await scenario.wallet('xmr')]
    const exchange = await scenario.create({
      from: 'xmr@xmr',
      to: 'btc@btc',
      amount: '2',
      address: recipient.address,
      refundAddress: refundWallet.address,
    })
    const amount = await computeAmountBelowMin(scenario, 'xmr@xmr', 'btc@btc', 12)
    await expectRefund(
      scenario,
      { currency: 'xmr@xmr', amount, address: refundWallet.address, decimals: 12 },
      async () => {
        await scenario.deposit(exchange, amount)
        const { statusReason } = await scenario.waitForStatus(exchange, 'refunded')
        expect(statusReason).toBe('BELOW_MIN')
      },
    )
    await scenario.checkInvariants()
  })
})
