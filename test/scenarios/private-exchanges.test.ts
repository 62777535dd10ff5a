import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { LOCK_MS } from '../support/market-lock.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { createMovablePrices } from '../support/prices.ts'
import {
  createPrivateExchange,
  expectPrivatePayout,
  intermediaryProgram,
  PRIVATE_FINISH_MS,
  readPrivateQuote,
  startPrivateScenario,
  toPair,
} from '../support/private-exchanges.ts'
import type { Scenario } from '../support/scenario.ts'

describeWith(intermediaryProgram, 'a private exchange', { timeout: 3 * PATIENCE_MS }, () => {
  let scenario: Scenario
  beforeAll(async () => {
    scenario = await startPrivateScenario(createMovablePrices())
  }, LOCK_MS)
  afterAll(() => scenario?.stop())

  test('pays ether for bitcoin and bitcoin for ether through the cheapest intermediary', async () => {
    await expectPrivatePayout(scenario, 'btc@btc', 'eth@eth', '0.01', 'efficient')
    await expectPrivatePayout(scenario, 'eth@eth', 'btc@btc', '0.5', 'efficient')
  })

  describeWith('monerod', 'through monero', () => {
    test('pays ether for bitcoin', async () => {
      await expectPrivatePayout(scenario, 'btc@btc', 'eth@eth', '0.01', 'privatePlus')
    })
  })

  test('rejects quotes and creates within one network and suggests a standard exchange', async () => {
    const quoteAnswer = await readPrivateQuote(scenario, 'usdt@eth', 'eth@eth', '100', 'efficient')
    const created = await scenario.call('POST', '/v1/cross-chain/exchange/private', {
      ...toPair('usdt@eth', 'eth@eth'),
      fromAmount: '100',
    })
    for (const { status, body } of [quoteAnswer, created]) {
      expect([status, body.code, body.errors[0].field]).toEqual([422, 'PAIR_UNAVAILABLE', 'toNetwork'])
      expect(body.message).toMatch(/^both sides use the hot wallet of eth, .*: use a standard exchange$/)
    }
  })

  test('ignores a rateId and does not use it up', async () => {
    const { address } = await scenario.wallet('eth')
    const { rateId } = await scenario.rate('btc@btc', 'eth@eth', '0.01', 'fixed-rate')
    const first = await createPrivateExchange(scenario, 'btc@btc', 'eth@eth', '0.01', { address, rateId })
    const second = await createPrivateExchange(scenario, 'btc@btc', 'eth@eth', '0.02', { address, rateId })
    expect(second.id).not.toBe(first.id)
    await createPrivateExchange(scenario, 'btc@btc', 'eth@eth', '0.01', { address, rateId: 'none of ours' })
    const standard = await scenario.create({
      from: 'btc@btc',
      to: 'eth@eth',
      amount: '0.01',
      flow: 'fixed-rate',
      rateId,
    })
    expect(standard).toMatchObject({ exchangeType: 'standard', request: { flow: 'fixed-rate' } })
  })

  test('refunds a deposit below the minimum on its first leg', async () => {
    const { address } = await scenario.wallet('eth')
    const refundWallet = await scenario.wallet('btc')
    const exchange = await createPrivateExchange(scenario, 'btc@btc', 'eth@eth', '0.01', {
      address,
      refundAddress: refundWallet.address,
    })
    const { body } = await readPrivateQuote(scenario, 'btc@btc', 'eth@eth', '0.01', 'efficient')
    await scenario.deposit(exchange, (body.min * 0.9).toFixed(8))
    const { exchanges } = await scenario.waitForStatus(exchange, 'refunded', PRIVATE_FINISH_MS)
    expect(exchanges).toHaveLength(1)
    expect(await scenario.balance('btc@btc', refundWallet.address)).toBe(exchanges[0].refund.amount)
    await scenario.checkInvariants()
  })
})
