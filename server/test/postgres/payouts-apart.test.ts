import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { btc, eth } from '../../src/exchange/domain/pricing.fixture.ts'
import { createDispatchPayouts } from '../../src/exchange/payouts/dispatch-payouts.ts'
import { COIN, ETHER, startSpine } from './spine.ts'

/* Litecoin and bitcoin put what is due into one transaction. On a network whose transactions show nothing else, that would
 * be what ties payments together: there each leaves by itself while there are coins. */

let spine: Awaited<ReturnType<typeof startSpine>>
beforeAll(async () => {
  spine = await startSpine()
  await spine.fill({ eth: 2_000n * ETHER })
})
afterAll(() => spine.close())
afterEach(() => spine.balanced())

/** The sizes of the transactions in which so many payouts leave at once. */
async function leave(count: number): Promise<number[]> {
  await spine.store.pauses.pause('payouts:btc', 'they leave together', 'the test')
  const orders = await Promise.all(
    Array.from({ length: count }, () =>
      spine.order({ from: eth, to: btc, fromUnits: ETHER / 10n, toUnits: COIN / 500n }),
    ),
  )
  for (const order of orders) spine.deposit(order, ETHER / 10n, 'somebody')
  await spine.blocks(4)
  await spine.store.pauses.resume('payouts:btc')
  await spine.database.query('update payouts set held_until = null where held_until is not null')
  const { chain } = spine.fakes.btc
  const apart = new Map(spine.shared.chains).set('btc', { ...chain, sender: { ...chain.sender, apart: true } })
  await createDispatchPayouts({ ...spine.shared, chains: apart })('btc')
  const sizes = await spine.database.query<{ count: number }>(
    `select count(*)::int from payouts where exchange_id = any($1) and transaction_id is not null
     group by transaction_id order by 1 desc`,
    [orders.map(({ id }) => id)],
  )
  await spine.blocks(6)
  for (const order of orders) expect(await spine.status(order)).toBe('finished')
  return sizes.map(({ count: size }) => size)
}

test('payouts leave together by the last coin, and each by itself where there are coins enough', async () => {
  const hot = spine.fakes.btc.chain.addresses.hot()
  spine.fakes.btc.pay(hot, 10n * COIN)
  await spine.blocks(3)
  expect(await leave(3)).toEqual([3])
  for (let n = 0; n < 8; n++) spine.fakes.btc.pay(hot, COIN)
  await spine.blocks(3)
  expect(await leave(3)).toEqual([1, 1, 1])
})
