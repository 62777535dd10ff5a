import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PublicDeposit, writtenIds } from '../../../../test/privacy/guessed-ids.ts'
import { ltc } from '../money-path.ts'
import { plan, SMALL, startPrivateMoneyPath } from '../private/private-money-path.ts'

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
})
afterAll(() => fixture.close())

test('the ids of a private exchange’s payouts are none that anybody can compute of its deposits', async () => {
  const exchange = await fixture.order({ via: ltc, plan })
  fixture.deposit(exchange, SMALL)
  await fixture.blocks(14)
  expect(await fixture.status(exchange)).toBe('finished')
  const deposits = await fixture.database.query<PublicDeposit>('select network, identity from deposits')
  expect(deposits.map(({ network }) => network)).toEqual(expect.arrayContaining(['btc', 'ltc']))
  const ids = (await fixture.payouts(exchange)).map(({ id }) => id)
  expect(ids).toHaveLength(2)
  expect(writtenIds(ids.join(' '), deposits)).toEqual([])
})

test('a payout whose deposit was paid under an earlier id is put aside, whatever the recipient', async () => {
  await fixture.store.pauses.pause('payouts:eth', 'its journal comes later', 'the test')
  const exchange = await fixture.order()
  fixture.deposit(exchange, SMALL)
  await fixture.blocks(6)
  expect(await fixture.payouts(exchange)).toMatchObject([{ state: 'reserved', attention: null }])
  const [plain] = await fixture.database.query<{ id: string }>(
    'select plain_payout_id(network, identity, 0, 0) as id from deposits where exchange_id = $1',
    [exchange.id],
  )
  const left = { network: 'btc', txHash: 'a refund', assetId: 'btc@btc', address: 'elsewhere', memo: null } as const
  await fixture.store.signingJournal.recordMissing([{ ...left, payoutId: plain?.id ?? '', units: 1n, at: new Date() }])
  await fixture.store.pauses.resume('payouts:eth')
  await fixture.database.query('update payouts set held_until = null where exchange_id = $1', [exchange.id])
  await fixture.work()
  expect(await fixture.payouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'RELEASED' }])
})
