import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { parseAddress } from '../../../src/adapters/chains/evm/address.ts'
import { createOperatePayouts } from '../../../src/exchange/operations/operate-payouts.ts'
import { createWatchOutflow } from '../../../src/exchange/operations/watch-outflow.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const USD = 10n ** 12n
const MERCHANT = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
const OTHER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 10n * COIN, eth: 100n * ETHER })
  Object.assign(fixture.fakes.eth.chain.addresses, { parse: (text: string) => parseAddress(text) })
  Object.assign(fixture.settings.limits, { hourUsd: 10_000n * USD, dayUsd: 10_000n * USD, partnerPercent: 100 })
})
afterAll(() => fixture.close())
afterEach(() => fixture.expectBalanced())

/** A deposit of 1 500 dollars by a customer of a partner of its own. The share of a recipient is 2 500. */
async function payTo(address: string) {
  const partnerId = randomUUID()
  const exchange = await fixture.createExchange({ partnerId, partnerFeeBps: 0, recipient: { address, memo: null } })
  fixture.payDeposit(exchange, (COIN * 15n) / 1_000n)
  await fixture.mineBlocks(6)
  return exchange
}
const readState = async (id: string) =>
  (await fixture.database.query<{ state: string }>('select state from payouts where id = $1', [id]))[0]?.state

// T43: nothing bounded what left to one address, so an error that pays one address again and again ended with the whole limit.
test('T43: a payout above the share of its recipient waits, in any case of the address, and one to another address is paid', async () => {
  const first = await payTo(MERCHANT)
  expect(await fixture.readStatus(first)).toBe('finished')
  const second = await payTo(MERCHANT.toLowerCase())
  expect(await fixture.listPayouts(second)).toMatchObject([{ state: 'reserved', attention: null }])
  const alarm = `limit:recipient:eth:${MERCHANT}`
  const [payout] = await fixture.listPayouts(second)
  expect(await fixture.store.alarms.find(alarm)).toMatchObject({ detail: { window: 'hour', payoutId: payout?.id } })
  expect(await fixture.readStatus(await payTo(OTHER))).toBe('finished')
  expect(await fixture.listAlarmKinds()).toEqual(['limit'])

  // A person has looked at it.
  await createOperatePayouts(fixture.store).release(payout?.id ?? '', { actor: 'test', reason: 'a merchant' })
  await fixture.mineBlocks(6)
  expect(await fixture.readStatus(second)).toBe('finished')
  await createWatchOutflow(fixture)()
  expect(await fixture.store.alarms.find(alarm)).toBeNull()
})

test('a payout above the share of its recipient alone waits for the operator', async () => {
  Object.assign(fixture.settings.limits, { recipientPercent: 10 })
  const exchange = await payTo('0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359')
  Object.assign(fixture.settings.limits, { recipientPercent: 25 })
  expect(await fixture.listPayouts(exchange)).toMatchObject([{ state: 'reserved', attention: 'LIMIT' }])
})

test('T43: a payout above the share of its network waits, and one of another network is paid', async () => {
  await fixture.database.query('delete from outflows')
  Object.assign(fixture.settings.limits, { networkPercent: 50 })
  const insert = (network: 'btc' | 'eth', units: bigint) => fixture.insertPayout(network, units, OTHER, 'withdrawal')
  // 4 000 dollars of 5 000, then 2 000; the recipient of a balance has no share.
  const ids = [await insert('eth', ETHER), await insert('eth', ETHER / 2n), await insert('btc', COIN / 50n)]
  for (const network of ['eth', 'btc'] as const) await fixture.services.dispatch(network)
  expect(await Promise.all(ids.map(readState))).toEqual(['signed', 'reserved', 'signed'])
  expect(await fixture.store.alarms.find('limit:network:eth')).toMatchObject({ detail: { payoutId: ids[1] } })
  Object.assign(fixture.settings.limits, { networkPercent: 100 })
  await fixture.clearHolds()
  await fixture.services.dispatch('eth')
  expect(await readState(ids[1] ?? '')).toBe('signed')
})
