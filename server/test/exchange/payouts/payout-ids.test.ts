import { afterAll, beforeAll, expect, test } from 'vitest'
import { findGuessableIds, type PublicDeposit } from '../../../../test/privacy/guessable-ids.ts'
import { ltc } from '../money-path.ts'
import { plan, SMALL, startPrivateMoneyPath } from '../private/private-money-path.ts'

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
})
afterAll(() => fixture.close())

test('the payout ids of a private exchange cannot be computed from its deposits', async () => {
  const exchange = await fixture.createExchange({ via: ltc, plan })
  fixture.payDeposit(exchange, SMALL)
  await fixture.mineBlocks(14)
  expect(await fixture.readStatus(exchange)).toBe('finished')
  const deposits = await fixture.database.query<PublicDeposit>('select network, identity from deposits')
  expect(deposits.map(({ network }) => network)).toEqual(expect.arrayContaining(['btc', 'ltc']))
  const ids = (await fixture.listPayouts(exchange)).map(({ id }) => id)
  expect(ids).toHaveLength(2)
  expect(findGuessableIds(ids.join(' '), deposits)).toEqual([])
})

test('a payout that was released before is held, even if the recipient differs', async () => {
  await fixture.store.pauses.pause('payouts:eth', 'the release is recorded later', 'the test')
  const exchange = await fixture.createExchange()
  fixture.payDeposit(exchange, SMALL)
  await fixture.mineBlocks(6)
  expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention: null }])
  const [payout] = await fixture.listPayouts(exchange)
  const release = { network: 'btc', txHash: 'a refund', assetId: 'btc@btc', address: 'elsewhere', memo: null } as const
  await fixture.store.signingJournal.recordMissing([
    { ...release, payoutId: payout?.id ?? '', units: 1n, at: new Date() },
  ])
  await fixture.store.pauses.resume('payouts:eth')
  await fixture.database.query('update payouts set held_until = null where exchange_id = $1', [exchange.id])
  await fixture.runJobs()
  expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'RELEASED' }])
})
