import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createDenyList } from '../../../src/adapters/screening/deny-list.ts'
import type { ScreeningSubject, Verdict } from '../../../src/core/ports/screening.ts'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { createOperateExchanges } from '../../../src/exchange/operations/operate-exchanges.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'

const SMALL = COIN / 200n
const note = { actor: 'anna', reason: 'looked at the papers' }

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
let operate: ReturnType<typeof createOperateExchanges>
let allow: (subject: ScreeningSubject) => Promise<Verdict>
beforeAll(async () => {
  fixture = await startMoneyPath()
  operate = createOperateExchanges(fixture.store)
  allow = fixture.screening.screen
  await fixture.fundWallets({ btc: COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(async () => {
  fixture.screening.screen = allow
  await fixture.expectBalanced()
})

/** The number of payments on the chains, independent of the database. */
const countReceived = ({ recipient, refund }: Exchange) => ({
  paid: fixture.fakes.eth.listPayments(recipient?.address ?? '').length,
  refunded: fixture.fakes.btc.listPayments(refund?.address ?? '').length,
})
const NOTHING = { paid: 0, refunded: 0 }

type CreateScreen = (exchanges: readonly Exchange[]) => (subject: ScreeningSubject) => Promise<Verdict>
/** A deny list that compares the addresses of the chain in memory, which have one encoding each. */
const denyAddresses = (entries: readonly string[]) =>
  createDenyList(entries, (network, address) => `${network}:${address}`.toLowerCase())
/** This verdict for addresses of one direction; allows all others. */
const screenDirection =
  (direction: ScreeningSubject['direction'], verdict: () => Promise<Verdict>): CreateScreen =>
  () =>
  async (subject) =>
    subject.direction === direction ? verdict() : 'allow'

const cases: readonly (readonly [string, CreateScreen])[] = [
  ['a sender on the deny list', () => denyAddresses(['btc:Thief']).screen],
  [
    'a recipient that is denied after the create',
    (exchanges) => denyAddresses(exchanges.map(({ recipient }) => `eth:${recipient?.address}`)).screen,
  ],
  [
    'a refund address that is denied after the create',
    (exchanges) => denyAddresses(exchanges.map(({ refund }) => `btc:${refund?.address}`)).screen,
  ],
  ['a recipient to be reviewed', screenDirection('recipient', async () => 'review')],
  ['a sender to be reviewed', screenDirection('sender', async () => 'review')],
  [
    'a recipient whose screening does not answer',
    screenDirection('recipient', () => Promise.reject(new Error('timeout'))),
  ],
]

test.each(cases)(
  '%s holds the exchange before any payment; a decision pays or refunds it once',
  async (_title, createScreen) => {
    const [released, refunded, undecided] = [
      await fixture.createExchange(),
      await fixture.createExchange(),
      await fixture.createExchange(),
    ]
    const exchanges = [released, refunded, undecided]
    fixture.screening.screen = createScreen(exchanges)
    for (const exchange of exchanges) fixture.payDeposit(exchange, SMALL, 'thief')
    await fixture.mineBlocks(6)
    for (const exchange of exchanges) {
      expect(await fixture.readExecution(exchange)).toMatchObject({
        status: 'verifying',
        reason: 'SCREENING',
        payout: null,
      })
      expect(await fixture.listPayouts(exchange)).toEqual([])
      expect(countReceived(exchange)).toEqual(NOTHING)
    }
    expect((await fixture.listAlarmKinds()).filter((kind) => kind === 'held').length).toBeGreaterThanOrEqual(3)

    // The verdict stays: the operator's decision overrides it for this exchange alone.
    await operate.decide(released.id, 'release', null, note)
    await operate.decide(refunded.id, 'refund', null, note)
    await fixture.mineBlocks(8)
    expect([await fixture.readStatus(released), countReceived(released)]).toEqual([
      'finished',
      { paid: 1, refunded: 0 },
    ])
    expect([await fixture.readStatus(refunded), countReceived(refunded)]).toEqual([
      'refunded',
      { paid: 0, refunded: 1 },
    ])
    expect([await fixture.readStatus(undecided), countReceived(undecided)]).toEqual(['verifying', NOTHING])
    for (const { id } of [released, refunded])
      for (const decision of ['release', 'refund'] as const)
        await expect(operate.decide(id, decision, null, note)).rejects.toThrow('no held execution')
    await fixture.mineBlocks(4)
    expect([countReceived(released), countReceived(refunded), countReceived(undecided)]).toEqual([
      { paid: 1, refunded: 0 },
      { paid: 0, refunded: 1 },
      NOTHING,
    ])
    await operate.decide(undecided.id, 'fail', null, note)
    await fixture.mineBlocks(2)
    expect([await fixture.readStatus(undecided), countReceived(undecided)]).toEqual(['failed', NOTHING])
  },
)

test('a verdict holds one exchange and not another one of the same batch', async () => {
  const [denied, allowed] = [await fixture.createExchange(), await fixture.createExchange()]
  fixture.screening.screen = denyAddresses([`eth:${denied.recipient?.address}`]).screen
  fixture.payDeposit(denied, SMALL, 'somebody')
  fixture.payDeposit(allowed, SMALL, 'somebody')
  await fixture.mineBlocks(8)
  expect([await fixture.readStatus(denied), countReceived(denied)]).toEqual(['verifying', NOTHING])
  expect([await fixture.readStatus(allowed), countReceived(allowed)]).toEqual(['finished', { paid: 1, refunded: 0 }])
})
