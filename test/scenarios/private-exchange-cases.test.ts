import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { LOCK_MS } from '../support/market-lock.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { createMovablePrices } from '../support/prices.ts'
import {
  createPrivateExchange,
  expectPrivatePayout,
  hasLitecoin,
  intermediaryNetworks,
  intermediaryProgram,
  PRIVATE_FINISH_MS,
  readPrivateQuote,
  startPrivateScenario,
} from '../support/private-exchanges.ts'
import type { Json, Scenario } from '../support/scenario.ts'

describeWith(intermediaryProgram, 'a private exchange in more cases', { timeout: 3 * PATIENCE_MS }, () => {
  let scenario: Scenario
  const prices = createMovablePrices()
  beforeAll(async () => {
    scenario = await startPrivateScenario(prices)
  }, LOCK_MS)
  afterAll(() => scenario?.stop())

  describeWith('monerod', 'through monero', () => {
    test('pays bitcoin for ether', async () => {
      await expectPrivatePayout(scenario, 'eth@eth', 'btc@btc', '0.5', 'privatePlus')
    })

    test.skipIf(!hasLitecoin)('pays litecoin for USDC on Base', async () => {
      await expectPrivatePayout(scenario, 'usdc@base', 'ltc@ltc', '300', 'privatePlus')
    })
  })

  test('pays ether on Ethereum for USDC on Base from a wallet with another key', async () => {
    await expectPrivatePayout(scenario, 'usdc@base', 'eth@eth', '300', 'efficient')
    const hot = ['base', 'eth'].map((network) => scenario.app.chains.get(network)?.addresses.hot())
    expect(hot[0]).not.toBe(hot[1])
  })

  test('refunds the source currency from the second leg if the target has too little liquidity', async () => {
    const [{ address }, refundWallet] = [await scenario.wallet('eth'), await scenario.wallet('btc')]
    const exchange = await createPrivateExchange(scenario, 'btc@btc', 'pepe@eth', '0.01', {
      address,
      refundAddress: refundWallet.address,
    })
    const isAmountAvailable = async () =>
      (await readPrivateQuote(scenario, 'btc@btc', 'pepe@eth', '0.01', 'efficient')).body.max >= 0.01
    const { database, store } = scenario.app
    // Pause the payouts between the legs until the price has fallen.
    const scopes = intermediaryNetworks.map((network) => `payouts:${network}`)
    for (const scope of scopes) await store.pauses.pause(scope, 'the price falls first', 'the test')
    try {
      await scenario.deposit(exchange, '0.01')
      const reserved = "select 1 from payouts where exchange_id = $1 and leg = 0 and state = 'reserved'"
      const isConverted = async () => (await database.query(reserved, [exchange.id])).length === 1
      await scenario.until('the first leg is converted', isConverted, PRIVATE_FINISH_MS)
      expect(await isAmountAvailable()).toBe(true)
      // At a hundredth of its value the currency's reserve no longer covers the amount.
      prices.move('pepe', -99n)
      await scenario.until('the price has fallen', async () => !(await isAmountAvailable()))
    } finally {
      for (const scope of scopes) await store.pauses.resume(scope)
    }
    const { exchanges } = await scenario.waitForStatus(exchange, 'refunded', PRIVATE_FINISH_MS).finally(async () => {
      prices.move('pepe', 0n)
      await scenario.until('the price is restored', isAmountAvailable)
    })
    expect(exchanges.map(({ status }: Json) => status)).toEqual(['finished', 'refunded'])
    const { refund } = exchanges[1]
    expect(refund).toMatchObject({ currency: 'btc', network: 'btc', address: refundWallet.address })
    expect(await scenario.balance('btc@btc', refundWallet.address)).toBe(refund.amount)
    expect(await scenario.balance('pepe@eth', address)).toBe('0')
    // The refund is reduced only by two spreads and two network fees.
    expect(Number(refund.amount)).toBeGreaterThan(0.0097)
    await scenario.checkInvariants()
  })

  describeWith('monerod', 'with monero', () => {
    test('pays once if a reorganisation removes the monero between the legs', async () => {
      const { address } = await scenario.wallet('eth')
      const exchange = await createPrivateExchange(scenario, 'btc@btc', 'eth@eth', '0.01', {
        address,
        privateType: 'privatePlus',
      })
      await scenario.deposit(exchange, '0.01')
      await scenario.until(
        'the second leg has a deposit',
        async () => (await scenario.status(exchange)).exchanges.length === 2,
        PRIVATE_FINISH_MS,
      )
      await scenario.reorg('xmr', 3)
      const { exchanges } = await scenario.waitForStatus(exchange, 'finished', PRIVATE_FINISH_MS)
      expect(exchanges).toHaveLength(2)
      expect(exchanges[1].payinHash).toBe(exchanges[0].payoutHash)
      expect(await scenario.balance('eth@eth', address)).toBe(exchanges[1].amountToReceived)
      await scenario.checkInvariants()
    })

    test('rejects privatePlus from or to monero, and uses another intermediary for efficient (B099)', async () => {
      for (const [from, to] of [
        ['xmr@xmr', 'eth@eth'],
        ['eth@eth', 'xmr@xmr'],
      ] as const) {
        const { status, body } = await readPrivateQuote(scenario, from, to, '1', 'privatePlus')
        expect([status, body.code, body.errors[0].field]).toEqual([422, 'PAIR_UNAVAILABLE', 'privateType'])
        expect(body.message).toContain('use privateType efficient')
      }
      await expectPrivatePayout(scenario, 'xmr@xmr', 'eth@eth', '2', 'efficient')
      await expectPrivatePayout(scenario, 'eth@eth', 'xmr@xmr', '0.5', 'efficient')
    })
  })

  // Last, because it uses the whole available amount.
  test('accepts exactly the minimum and exactly the maximum', async () => {
    for (const bound of ['min', 'max'] as const) {
      const { body } = await readPrivateQuote(scenario, 'eth@eth', 'btc@btc', '0.5', 'efficient')
      const { address } = await scenario.wallet('btc')
      const amount = String(body[bound])
      const exchange = await createPrivateExchange(scenario, 'eth@eth', 'btc@btc', amount, { address })
      await scenario.deposit(exchange, amount)
      const { exchanges } = await scenario.waitForStatus(exchange, 'finished', PRIVATE_FINISH_MS)
      expect(exchanges).toHaveLength(2)
      expect(await scenario.balance('btc@btc', address)).toBe(exchanges[1].amountToReceived)
      await scenario.checkInvariants()
    }
  })
})
