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

test.each([
  'that was released before is held, even if the recipient differs',
  'is held if the refund of its deposit was released before',
])('a payout %s', async (name) => {
  await fixture.store.pauses.pause('payouts:eth', 'the release is recorded later', 'the test')
  const exchange = await fixture.createExchange()
  fixture.payDeposit(exchange, SMALL)
  await fixture.mineBlocks(6)
  expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention: null }])
  const [payout] = await fixture.listPayouts(exchange)
  const { deposit } = await fixture.readExecution(exchange)
  // The lost part of the database had voided the payout before.
  const refundId = fixture.signer.payoutId(await fixture.store.signingJournal.readPayoutOrigin(deposit.id, 0))
  const payoutId = name.includes('refund') ? refundId : (payout?.id ?? '')
  const release = { network: 'btc', txHash: name, assetId: 'btc@btc', address: 'elsewhere', memo: null } as const
  await fixture.store.signingJournal.recordMissing([{ ...release, payoutId, units: 1n, at: new Date() }])
  await fixture.store.pauses.resume('payouts:eth')
  await fixture.database.query('update payouts set held_until = null where exchange_id = $1', [exchange.id])
  await fixture.runJobs()
  expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'RELEASED' }])
})

test('a payout that was released before is held, although an older one to the same address was held for its release', async () => {
  await fixture.store.pauses.pause('payouts:eth', 'restore', 'the test')
  const [older, released] = [await fixture.createExchange(), await fixture.createExchange()]
  for (const exchange of [older, released]) fixture.payDeposit(exchange, SMALL)
  await fixture.mineBlocks(6)
  const [[olderPayout], [payout]] = [await fixture.listPayouts(older), await fixture.listPayouts(released)]
  const to = { address: olderPayout?.address ?? '', memo: null }
  const release = { network: 'eth', txHash: 'by another worker', assetId: 'eth@eth', ...to, units: 1n } as const
  await fixture.store.signingJournal.recordMissing([{ ...release, payoutId: payout?.id ?? '', at: new Date() }])
  await fixture.database.query("update payouts set held_until = now() + interval '1 hour'")
  await fixture.store.pauses.resume('payouts:eth')
  for (const exchange of [older, released]) {
    await fixture.database.query('update payouts set held_until = null where exchange_id = $1', [exchange.id])
    await fixture.runJobs()
    expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'RELEASED' }])
  }
})

test('a refund that was released before pays the same again, so that it is imported, although the network fee has changed', async () => {
  const exchange = await fixture.createExchange()
  fixture.payDeposit(exchange, SMALL)
  await fixture.store.pauses.pause('payouts:btc', 'restore', 'the test')
  await fixture.store.pauses.pause('payouts:eth', 'restore', 'the test')
  await fixture.mineBlocks(6)
  const { deposit } = await fixture.readExecution(exchange)
  const payoutId = fixture.signer.payoutId(await fixture.store.signingJournal.readPayoutOrigin(deposit.id, 0))
  const to = { address: exchange.refund?.address ?? '', memo: null }
  const release = { network: 'btc', txHash: 'the refund', assetId: 'btc@btc', ...to } as const
  await fixture.store.signingJournal.recordMissing([{ ...release, payoutId, units: SMALL - 7n, at: new Date() }])
  await fixture.store.pauses.resume('payouts:eth')
  await fixture.clearHolds()
  await fixture.runJobs()
  expect(await fixture.readExecution(exchange)).toMatchObject({ status: 'verifying', reason: 'OPERATOR' })
  await fixture.decide(exchange, 'refund')
  await fixture.services.step(exchange.id)
  expect(await fixture.listPayouts(exchange)).toMatchObject([
    { state: 'void', purpose: 'payout' },
    { id: payoutId, state: 'reserved', purpose: 'refund', units: (SMALL - 7n).toString() },
  ])
  await fixture.expectBalanced()
})

test('a payout that was approved for its amount is held for its release, and paid after another approval', async () => {
  await fixture.store.pauses.pause('payouts:eth', 'restore', 'the test')
  const exchange = await fixture.createExchange()
  fixture.payDeposit(exchange, SMALL)
  await fixture.mineBlocks(6)
  const [payout] = await fixture.listPayouts(exchange)
  const payoutId = payout?.id ?? ''
  await fixture.store.payouts.approve(payoutId)
  // Two attempts of its transaction, released by another worker.
  const release = { network: 'eth', assetId: 'eth@eth', address: 'elsewhere', memo: null, payoutId, units: 1n } as const
  await fixture.store.signingJournal.recordMissing(
    ['first', 'second'].map((attempt) => ({ ...release, txHash: `the ${attempt} attempt`, at: new Date() })),
  )
  await fixture.store.pauses.resume('payouts:eth')
  await fixture.clearHolds()
  await fixture.runJobs()
  expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'RELEASED' }])
  await fixture.decide(exchange, 'release')
  await fixture.mineBlocks(8)
  expect(await fixture.readStatus(exchange)).toBe('finished')
  expect(fixture.countEtherPayments(exchange)).toBe(1)
})
