import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createDenyList } from '../../../src/adapters/screening/deny-list.ts'
import type { ScreeningSubject, Verdict } from '../../../src/core/ports/screening.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { createOperateExchanges } from '../../../src/exchange/operations/operate-exchanges.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const SMALL = COIN / 200n
const word = { actor: 'anna', reason: 'looked at the papers' }

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let operate: ReturnType<typeof createOperateExchanges>
let allow: (subject: ScreeningSubject) => Promise<Verdict>
beforeAll(async () => {
  fixture = await startMoneyPath()
  operate = createOperateExchanges(fixture.store)
  allow = fixture.screening.screen
  await fixture.fill({ btc: COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(async () => {
  fixture.screening.screen = allow
  await fixture.balanced()
})

/** What arrived on the chains, whatever the database says. */
const arrived = ({ recipient, refund }: Exchange) => ({
  paid: fixture.fakes.eth.paidTo(recipient?.address ?? '').length,
  refunded: fixture.fakes.btc.paidTo(refund?.address ?? '').length,
})
const none = { paid: 0, refunded: 0 }

type Ask = (exchanges: readonly Exchange[]) => (subject: ScreeningSubject) => Promise<Verdict>
/** A source that has no word on one kind of address, or none at all today. */
const ofDirection =
  (direction: ScreeningSubject['direction'], verdict: () => Promise<Verdict>): Ask =>
  () =>
  async (subject) =>
    subject.direction === direction ? verdict() : 'allow'

const cases: readonly (readonly [string, Ask])[] = [
  ['a sender on the list of the denied', () => createDenyList(['btc:Thief']).screen],
  [
    'a recipient that was denied after the create',
    (exchanges) => createDenyList(exchanges.map(({ recipient }) => `eth:${recipient?.address}`)).screen,
  ],
  [
    'a refund address that was denied after the create',
    (exchanges) => createDenyList(exchanges.map(({ refund }) => `btc:${refund?.address}`)).screen,
  ],
  ['a recipient to be reviewed', ofDirection('recipient', async () => 'review')],
  ['a sender to be reviewed', ofDirection('sender', async () => 'review')],
  ['a recipient whose screening does not answer', ofDirection('recipient', () => Promise.reject(new Error('timeout')))],
]

test.each(cases)('%s is held before anything is paid; released it is paid once, refunded once', async (_, ask) => {
  const [kept, returned, untouched] = [await fixture.order(), await fixture.order(), await fixture.order()]
  const exchanges = [kept, returned, untouched]
  fixture.screening.screen = ask(exchanges)
  for (const exchange of exchanges) fixture.deposit(exchange, SMALL, 'thief')
  await fixture.blocks(6)
  for (const exchange of exchanges) {
    expect(await fixture.execution(exchange)).toMatchObject({ status: 'verifying', reason: 'SCREENING', payout: null })
    expect(await fixture.payouts(exchange)).toEqual([])
    expect(arrived(exchange)).toEqual(none)
  }
  expect((await fixture.alarms()).filter((kind) => kind === 'held').length).toBeGreaterThanOrEqual(3)

  // The verdict stays: the operator's decision overrides it for this exchange alone.
  await operate.decide(kept.id, 'release', null, word)
  await operate.decide(returned.id, 'refund', null, word)
  await fixture.blocks(8)
  expect([await fixture.status(kept), arrived(kept)]).toEqual(['finished', { paid: 1, refunded: 0 }])
  expect([await fixture.status(returned), arrived(returned)]).toEqual(['refunded', { paid: 0, refunded: 1 }])
  expect([await fixture.status(untouched), arrived(untouched)]).toEqual(['verifying', none])
  for (const { id } of [kept, returned])
    for (const decision of ['release', 'refund'] as const)
      await expect(operate.decide(id, decision, null, word)).rejects.toThrow('no held execution')
  await fixture.blocks(4)
  expect([arrived(kept), arrived(returned), arrived(untouched)]).toEqual([
    { paid: 1, refunded: 0 },
    { paid: 0, refunded: 1 },
    none,
  ])
  await operate.decide(untouched.id, 'fail', null, word)
  await fixture.blocks(2)
  expect([await fixture.status(untouched), arrived(untouched)]).toEqual(['failed', none])
})

test('one verdict holds one exchange: its neighbour of the same moment is paid', async () => {
  const [held, free] = [await fixture.order(), await fixture.order()]
  fixture.screening.screen = createDenyList([`eth:${held.recipient?.address}`]).screen
  fixture.deposit(held, SMALL, 'somebody')
  fixture.deposit(free, SMALL, 'somebody')
  await fixture.blocks(8)
  expect([await fixture.status(held), arrived(held)]).toEqual(['verifying', none])
  expect([await fixture.status(free), arrived(free)]).toEqual(['finished', { paid: 1, refunded: 0 }])
})
