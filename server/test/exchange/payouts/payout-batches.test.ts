import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createDispatchPayouts } from '../../../src/exchange/payouts/dispatch-payouts.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

/* Litecoin and bitcoin put what is due into one transaction. On a network whose transactions show nothing else, that would
 * link payments: there each leaves alone while there are outputs. */

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fill({ eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.balanced())

/** The sizes of the transactions in which so many payouts leave at once. */
async function leave(count: number): Promise<number[]> {
  await fixture.store.pauses.pause('payouts:btc', 'they leave together', 'the test')
  const orders = await Promise.all(
    Array.from({ length: count }, () =>
      fixture.order({ from: eth, to: btc, fromUnits: ETHER / 10n, toUnits: COIN / 500n }),
    ),
  )
  for (const order of orders) fixture.deposit(order, ETHER / 10n, 'somebody')
  await fixture.blocks(4)
  await fixture.store.pauses.resume('payouts:btc')
  await fixture.database.query('update payouts set held_until = null where held_until is not null')
  const { chain } = fixture.fakes.btc
  const apart = new Map(fixture.shared.chains).set('btc', {
    ...chain,
    sender: { ...chain.sender, prefersSeparatePayouts: true },
  })
  await createDispatchPayouts({ ...fixture.shared, chains: apart })('btc')
  const sizes = await fixture.database.query<{ count: number }>(
    `select count(*)::int from payouts where exchange_id = any($1) and transaction_id is not null
     group by transaction_id order by 1 desc`,
    [orders.map(({ id }) => id)],
  )
  await fixture.blocks(6)
  for (const order of orders) expect(await fixture.status(order)).toBe('finished')
  return sizes.map(({ count: size }) => size)
}

test('payouts share a transaction when only one output is left, and leave alone while there are enough', async () => {
  const hot = fixture.fakes.btc.chain.addresses.hot()
  fixture.fakes.btc.pay(hot, 10n * COIN)
  await fixture.blocks(3)
  expect(await leave(3)).toEqual([3])
  for (let n = 0; n < 8; n++) fixture.fakes.btc.pay(hot, COIN)
  await fixture.blocks(3)
  expect(await leave(3)).toEqual([1, 1, 1])
})
