import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, ltc, type Order } from '../money-path.ts'
import { plan, startPrivateMoneyPath } from './private-money-path.ts'

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
})
afterAll(() => fixture.close())
afterEach(async () => {
  fixture.screening.verdict = 'allow'
  await fixture.balanced()
})

const UNITS = ETHER / 10n
const SAME = 'one account on all networks'
const recipient = { address: SAME, memo: null }

/** Ether for bitcoin that a person decides to send back. */
async function sentBack(rest: Order, sender: string): Promise<Exchange> {
  const exchange = await fixture.order({ from: eth, to: btc, fromUnits: UNITS, toUnits: COIN / 1_000n, ...rest })
  fixture.screening.verdict = 'review'
  fixture.deposit(exchange, UNITS, sender)
  await fixture.blocks(4)
  fixture.screening.verdict = 'allow'
  await fixture.decide(exchange, 'refund')
  await fixture.blocks(8)
  return exchange
}
const paidOnEther = (address: string) => fixture.fakes.eth.paidTo(address).length

test.each([
  ['of a payer who is the recipient waits for another address', null],
  ['whose address is the recipient’s waits for another one', recipient],
])('a private refund %s', async (_name, refund) => {
  const before = paidOnEther(SAME)
  const exchange = await sentBack({ via: ltc, plan, recipient, refund }, SAME)
  expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'NO_REFUND_ADDRESS' })
  const other = { address: `another-${exchange.id}`, memo: null }
  await fixture.store.operator.setRefund(exchange.id, other)
  await fixture.decide(exchange, 'refund')
  await fixture.blocks(8)
  expect(await fixture.status(exchange)).toBe('refunded')
  expect([paidOnEther(SAME) - before, paidOnEther(other.address)]).toEqual([0, 1])
})

test('a private refund without an address goes to a payer who is not the recipient', async () => {
  const exchange = await sentBack({ via: ltc, plan, recipient, refund: null }, 'the payer alone')
  expect([await fixture.status(exchange), paidOnEther('the payer alone')]).toEqual(['refunded', 1])
})

test('a standard refund goes to a payer who is the recipient', async () => {
  const before = paidOnEther(SAME)
  const exchange = await sentBack({ recipient, refund: null }, SAME)
  expect([await fixture.status(exchange), paidOnEther(SAME) - before]).toEqual(['refunded', 1])
})
