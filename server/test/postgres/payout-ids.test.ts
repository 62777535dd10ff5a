import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PublicDeposit, writtenIds } from '../../../test/privacy/guessed-ids.ts'
import { plan, SMALL, startPrivateSpine } from './private-spine.ts'
import { ltc } from './spine.ts'

let spine: Awaited<ReturnType<typeof startPrivateSpine>>
beforeAll(async () => {
  spine = await startPrivateSpine()
})
afterAll(() => spine.close())

test('the ids of a private exchange’s payouts are none that anybody can compute of its deposits', async () => {
  const exchange = await spine.order({ via: ltc, plan })
  spine.deposit(exchange, SMALL)
  await spine.blocks(14)
  expect(await spine.status(exchange)).toBe('finished')
  const deposits = await spine.database.query<PublicDeposit>('select network, identity from deposits')
  expect(deposits.map(({ network }) => network)).toEqual(expect.arrayContaining(['btc', 'ltc']))
  const ids = (await spine.payouts(exchange)).map(({ id }) => id)
  expect(ids).toHaveLength(2)
  expect(writtenIds(ids.join(' '), deposits)).toEqual([])
})

test('a payout whose deposit was paid under an id of before, to whomever, is put aside', async () => {
  await spine.store.pauses.pause('payouts:eth', 'its journal comes later', 'the test')
  const exchange = await spine.order()
  spine.deposit(exchange, SMALL)
  await spine.blocks(6)
  expect(await spine.payouts(exchange)).toMatchObject([{ state: 'reserved', attention: null }])
  const [plain] = await spine.database.query<{ id: string }>(
    'select plain_payout_id(network, identity, 0, 0) as id from deposits where exchange_id = $1',
    [exchange.id],
  )
  const left = { network: 'btc', txHash: 'a refund', assetId: 'btc@btc', address: 'elsewhere', memo: null } as const
  await spine.store.signingJournal.note([{ ...left, payoutId: plain?.id ?? '', units: 1n, at: new Date() }])
  await spine.store.pauses.resume('payouts:eth')
  await spine.database.query('update payouts set held_until = null where exchange_id = $1', [exchange.id])
  await spine.work()
  expect(await spine.payouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'RELEASED' }])
})
