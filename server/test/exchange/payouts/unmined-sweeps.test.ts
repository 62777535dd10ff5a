import { afterAll, beforeAll, expect, test } from 'vitest'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

let path: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  path = await startMoneyPath()
  await path.fundWallets({ btc: 200n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => path.close())

// A customer who paid in parts: the node refused the second sweep, which could pay its fee only before the first one was mined.
test('a sweep pays its fee from what an earlier sweep of its address leaves, or is planned again', async () => {
  const { chain, behaviour } = path.fakes.eth
  const exchange = await path.createExchange({ from: eth, to: btc, fromUnits: ETHER })
  const { address } = exchange.deposit
  await path.store.pauses.pause('payouts:eth', 'test', 'test')
  for (let n = 0; n < 2; n++) {
    path.payDeposit(exchange, ETHER)
    await path.mineBlocks(12)
    await path.services.sweep(chain)
  }
  const listSweeps = () =>
    path.database.query<{ units: string; fee: string }>(
      `select p.units, a.fee_units as fee from payouts p join attempts a on a.transaction_id = p.transaction_id
       where p.purpose = 'sweep' order by p.created_at`,
    )
  // The fee rises after both were planned.
  behaviour.feeRate *= 4n
  await path.store.pauses.resume('payouts:eth')
  await path.services.dispatch('eth')
  const signed = await listSweeps()
  expect(signed).toHaveLength(1)
  const taken = signed.reduce((sum, { units, fee }) => sum + BigInt(units) + BigInt(fee), 0n)
  expect(taken).toBeLessThanOrEqual(path.fakes.eth.balanceOf(address, null))
  await path.mineBlocks(4)
  await path.database.query('update sweep_candidates set postponed_until = null where address = $1', [address])
  await path.services.sweep(chain)
  await path.mineBlocks(4)
  expect(await listSweeps()).toHaveLength(2)
  expect(path.fakes.eth.balanceOf(address, null)).toBeLessThan(ETHER / 100n)
})
