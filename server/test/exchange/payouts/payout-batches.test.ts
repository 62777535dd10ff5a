import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { createDispatchPayouts } from '../../../src/exchange/payouts/dispatch-payouts.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

/* Bitcoin and litecoin put all due payouts into one transaction. On a private network (Monero) that would link the payouts,
 * so each has its own transaction while the wallet has enough outputs. */

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

/** Signs this many payouts at once. Returns the number of payouts in each transaction. */
async function signPayouts(count: number): Promise<number[]> {
  await fixture.store.pauses.pause('payouts:btc', 'collect the payouts', 'the test')
  const exchanges = await Promise.all(
    Array.from({ length: count }, () => fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER / 10n })),
  )
  for (const exchange of exchanges) fixture.payDeposit(exchange, ETHER / 10n, 'somebody')
  await fixture.mineBlocks(4)
  await fixture.store.pauses.resume('payouts:btc')
  await fixture.clearHolds()
  const { chain } = fixture.fakes.btc
  const chains = new Map(fixture.dependencies.chains).set('btc', {
    ...chain,
    sender: { ...chain.sender, prefersSeparatePayouts: true },
  })
  await createDispatchPayouts({ ...fixture.dependencies, chains })('btc')
  const sizes = await fixture.database.query<{ count: number }>(
    `select count(*)::int from payouts where exchange_id = any($1) and transaction_id is not null
     group by transaction_id order by 1 desc`,
    [exchanges.map(({ id }) => id)],
  )
  await fixture.mineBlocks(6)
  for (const exchange of exchanges) expect(await fixture.readStatus(exchange)).toBe('finished')
  return sizes.map(({ count: size }) => size)
}

test('payouts share a transaction if the wallet has one output, and have separate ones if it has enough', async () => {
  const hot = fixture.fakes.btc.chain.addresses.hot()
  fixture.fakes.btc.pay(hot, 10n * COIN)
  await fixture.mineBlocks(3)
  expect(await signPayouts(3)).toEqual([3])
  for (let n = 0; n < 8; n++) fixture.fakes.btc.pay(hot, COIN)
  await fixture.mineBlocks(3)
  expect(await signPayouts(3)).toEqual([1, 1, 1])
})
