import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, type ExchangeOptions, ltc } from '../money-path.ts'
import { plan, startPrivateMoneyPath } from './private-money-path.ts'

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
  await fixture.setRefundToSender(true)
})
afterAll(() => fixture.close())
afterEach(async () => {
  fixture.screening.verdict = 'allow'
  await fixture.expectBalanced()
})

const UNITS = ETHER / 10n
const SHARED_ADDRESS = 'one account on all networks'
const recipient = { address: SHARED_ADDRESS, memo: null }

/** An exchange of ether to bitcoin that the operator decides to refund. */
async function refundExchange(options: ExchangeOptions, sender: string): Promise<Exchange> {
  const exchange = await fixture.createExchange({
    from: eth,
    to: btc,
    fromUnits: UNITS,
    toUnits: COIN / 1_000n,
    ...options,
  })
  fixture.screening.verdict = 'review'
  fixture.payDeposit(exchange, UNITS, sender)
  await fixture.mineBlocks(4)
  fixture.screening.verdict = 'allow'
  await fixture.decide(exchange, 'refund')
  await fixture.mineBlocks(8)
  return exchange
}
const countPaidOnEther = (address: string) => fixture.fakes.eth.listPayments(address).length

test.each([
  ['to a payer who is the recipient waits for another address', null],
  ['to an address that is the recipient’s waits for another address', recipient],
])('a private refund %s', async (_title, refund) => {
  const countBefore = countPaidOnEther(SHARED_ADDRESS)
  const exchange = await refundExchange({ via: ltc, plan, recipient, refund }, SHARED_ADDRESS)
  expect(await fixture.readExecution(exchange)).toMatchObject({
    status: 'verifying',
    reason: 'REFUND_ADDRESS_REQUIRED',
  })
  const other = { address: `another-${exchange.id}`, memo: null }
  await fixture.store.operator.setRefund(exchange.id, other)
  await fixture.mineBlocks(8)
  expect(await fixture.readStatus(exchange)).toBe('refunded')
  expect([countPaidOnEther(SHARED_ADDRESS) - countBefore, countPaidOnEther(other.address)]).toEqual([0, 1])
})

test('a private refund without an address is paid to a payer who is not the recipient', async () => {
  const exchange = await refundExchange({ via: ltc, plan, recipient, refund: null }, 'the payer alone')
  expect([await fixture.readStatus(exchange), countPaidOnEther('the payer alone')]).toEqual(['refunded', 1])
})

test('a standard refund is paid to a payer who is the recipient', async () => {
  const countBefore = countPaidOnEther(SHARED_ADDRESS)
  const exchange = await refundExchange({ recipient, refund: null }, SHARED_ADDRESS)
  expect([await fixture.readStatus(exchange), countPaidOnEther(SHARED_ADDRESS) - countBefore]).toEqual(['refunded', 1])
})
