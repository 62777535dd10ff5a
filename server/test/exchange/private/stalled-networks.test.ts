import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Exchange } from '../../../src/exchange/domain/exchange.ts'
import { makeBook, price, usdt } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ltc, market, partnerId } from '../money-path.ts'
import { plan, SMALL, startPrivateMoneyPath } from './private-money-path.ts'

/*
 * A network stalls during a private exchange: the operator paused it, its nodes do not answer, or it has no new blocks. The
 * exchange is paid or refunded, never both.
 */

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
})
afterAll(() => fixture.close())
beforeEach(() => {
  resumeNetworks()
  fixture.fakes.ltc.behaviour.dropsBroadcasts = false
})
afterEach(() => fixture.expectBalanced())

const bookTime = () => Date.now() + 3_600_000
const resumeNetworks = () => fixture.books.replace(makeBook({ ...market, at: bookTime() }))
const pauseNetwork = (network: string) => {
  const book = makeBook({ ...market, at: bookTime() })
  fixture.books.replace({ ...book, pauses: { networks: new Set([network]), assets: new Set() } })
}
/** Removes the fees of the network, which are missing when its nodes do not answer. */
const removeFees = (network: string) => {
  const fees = Object.fromEntries(Object.entries(market.fees).filter(([id]) => id !== network))
  fixture.books.replace(makeBook({ ...market, fees, at: bookTime() }))
}
const stalls: readonly (readonly [string, (network: string) => void])[] = [
  ['is paused', pauseNetwork],
  ['does not answer', removeFees],
]

async function payExchange(units = SMALL): Promise<Exchange> {
  const exchange = await fixture.createExchange({ via: ltc, plan, fromUnits: units })
  fixture.payDeposit(exchange, units)
  return exchange
}
const listStatuses = async (exchange: Exchange) =>
  (await fixture.listExecutions(exchange)).map(({ leg, status }) => `${leg} ${status}`)
const hasSecondLeg = async (exchange: Exchange) => (await fixture.listExecutions(exchange)).length === 2
/** Sets the last change of the executions back by more than the stall limit. */
async function ageExecutions(exchange: Exchange): Promise<void> {
  await fixture.database.query('alter table executions disable trigger execution_status')
  await fixture.database.query(
    "update executions set updated_at = updated_at - interval '2 hours' where exchange_id = $1",
    [exchange.id],
  )
  await fixture.database.query('alter table executions enable trigger execution_status')
}
const listRefundUnits = (exchange: Exchange) =>
  fixture.fakes.btc.listPayments(exchange.refund?.address ?? '').map(({ units }) => units)

describe.each(stalls)('if the intermediary %s before its payment', (state, stopNetwork) => {
  test('the exchange waits, and continues when the network resumes', async () => {
    stopNetwork('ltc')
    const exchange = await payExchange()
    await fixture.mineBlocks(6)
    expect(await listStatuses(exchange)).toEqual(['0 exchanging'])
    resumeNetworks()
    await fixture.mineBlocks(14)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect([fixture.countEtherPayments(exchange), listRefundUnits(exchange)]).toEqual([1, []])
  })

  test('for longer than the stall limit, the deposit is refunded less one fee, unless it was paused', async () => {
    stopNetwork('ltc')
    const exchange = await payExchange()
    await fixture.mineBlocks(4)
    await ageExecutions(exchange)
    await fixture.mineBlocks(6)
    resumeNetworks()
    await fixture.mineBlocks(14)
    // M17: pauses hold, they never refund.
    if (state === 'is paused') {
      expect(await fixture.readStatus(exchange)).toBe('finished')
      expect([fixture.countEtherPayments(exchange), listRefundUnits(exchange)]).toEqual([1, []])
      return
    }
    expect(await fixture.readStatus(exchange)).toBe('refunded')
    expect([fixture.countEtherPayments(exchange), listRefundUnits(exchange)]).toEqual([0, [SMALL - 1_500n]])
  })
})

describe.each(stalls)('if the target %s after the intermediary was paid', (state, stopNetwork) => {
  test('the exchange waits, and continues when the network resumes', async () => {
    const exchange = await payExchange()
    await fixture.mineBlocksUntil(() => hasSecondLeg(exchange))
    stopNetwork('eth')
    await fixture.mineBlocks(8)
    expect(await listStatuses(exchange)).toEqual(['0 finished', '1 exchanging'])
    resumeNetworks()
    await fixture.mineBlocks(10)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect([fixture.countEtherPayments(exchange), listRefundUnits(exchange)]).toEqual([1, []])
  })

  test('for longer than the stall limit, it is refunded in the source currency, unless it was paused', async () => {
    const exchange = await payExchange()
    await fixture.mineBlocksUntil(() => hasSecondLeg(exchange))
    stopNetwork('eth')
    await fixture.mineBlocks(6)
    await ageExecutions(exchange)
    await fixture.mineBlocks(8)
    resumeNetworks()
    await fixture.mineBlocks(10)
    if (state === 'is paused') {
      expect(await fixture.readStatus(exchange)).toBe('finished')
      expect([fixture.countEtherPayments(exchange), listRefundUnits(exchange)]).toEqual([1, []])
      return
    }
    expect(await listStatuses(exchange)).toEqual(['0 finished', '1 refunded'])
    expect(fixture.countEtherPayments(exchange)).toBe(0)
    const [units = 0n, ...otherRefunds] = listRefundUnits(exchange)
    expect(otherRefunds).toEqual([])
    // Less both spreads of 0.4 % and the fees of both payments; the prices are constant.
    expect(units).toBeGreaterThan((SMALL * 98n) / 100n)
  })
})

// M17: only pauses of the leg that an execution converts counted, so that a pause of the target refunded what was on its way.
describe('M17: a pause of the target before the first conversion', () => {
  const whole = () => makeBook({ ...market, at: bookTime() })
  const nothing = { networks: new Set<string>(), assets: new Set<never>() }

  test('of its asset holds the exchange, which continues when the pause ends', async () => {
    fixture.books.replace({ ...whole(), pauses: { ...nothing, assets: new Set(['eth@eth'] as const) } })
    const exchange = await payExchange()
    await fixture.mineBlocks(6)
    expect(await fixture.listExecutions(exchange)).toMatchObject([{ leg: 0, status: 'exchanging', rateKind: null }])
    resumeNetworks()
    await fixture.mineBlocks(14)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect([fixture.countEtherPayments(exchange), listRefundUnits(exchange)]).toEqual([1, []])
  })

  const { ltc: _, ...otherFees } = market.fees
  test.each([
    ['of its network', { ...whole(), pauses: { ...nothing, networks: new Set(['eth']) } }],
    // Pauses of payouts or of a partner hold no conversion; here the intermediary has no fees meanwhile.
    [
      'of its payouts',
      {
        ...makeBook({ ...market, fees: otherFees, at: bookTime() }),
        pauses: { ...nothing, payouts: new Set(['eth']) },
      },
    ],
    [
      'of its partner',
      {
        ...makeBook({ ...market, fees: otherFees, at: bookTime() }),
        pauses: { ...nothing, partners: new Set([partnerId]) },
      },
    ],
  ])('%s stops the stall limit', async (_scope, paused) => {
    fixture.books.replace(paused)
    const exchange = await payExchange()
    await fixture.mineBlocks(4)
    for (let n = 0; n < 2; n++) {
      await ageExecutions(exchange)
      await fixture.mineBlocks(2)
      expect(await listStatuses(exchange)).toEqual(['0 exchanging'])
    }
    resumeNetworks()
    await fixture.mineBlocks(14)
    expect(await fixture.readStatus(exchange)).toBe('finished')
    expect([fixture.countEtherPayments(exchange), listRefundUnits(exchange)]).toEqual([1, []])
  })
})

test('M20: refunds a private exchange whose target is outside of the band for longer than the stall limit', async () => {
  const offPeg = { ...market.prices, usdt: price('0.97', '0.97') }
  fixture.books.replace(makeBook({ ...market, prices: offPeg, at: bookTime() }))
  const exchange = await fixture.createExchange({ via: ltc, to: usdt, plan, fromUnits: SMALL })
  fixture.payDeposit(exchange, SMALL)
  await fixture.mineBlocks(4)
  expect(await listStatuses(exchange)).toEqual(['0 exchanging'])
  await ageExecutions(exchange)
  await fixture.mineBlocks(6)
  expect(await fixture.readStatus(exchange)).toBe('refunded')
  expect(listRefundUnits(exchange)).toEqual([SMALL - 1_500n])
})

describe('an intermediary that stalls after its payment was signed', () => {
  test('keeps the exchange open past the stall limit, and the recipient is paid once', async () => {
    fixture.fakes.ltc.behaviour.dropsBroadcasts = true
    const exchange = await payExchange()
    await fixture.mineBlocksUntil(async () => (await fixture.listExecutions(exchange))[0]?.payout?.state === 'signed')
    await ageExecutions(exchange)
    // Litecoin has no new blocks and accepts no broadcast. The other chains continue.
    for (let n = 0; n < 6; n++) {
      fixture.fakes.btc.mine()
      fixture.fakes.eth.mine()
      await fixture.runWorkers()
    }
    expect(await listStatuses(exchange)).toEqual(['0 sending'])
    expect([fixture.countEtherPayments(exchange), listRefundUnits(exchange)]).toEqual([0, []])
    fixture.fakes.ltc.behaviour.dropsBroadcasts = false
    await fixture.mineBlocks(14)
    expect(await listStatuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect([fixture.countEtherPayments(exchange), listRefundUnits(exchange)]).toEqual([1, []])
  })

  test('causes no refund while the second leg waits for confirmations', async () => {
    const exchange = await payExchange()
    await fixture.mineBlocksUntil(() => hasSecondLeg(exchange))
    for (let n = 0; n < 3; n++) {
      fixture.fakes.btc.mine()
      fixture.fakes.eth.mine()
      await fixture.runWorkers()
    }
    expect((await listStatuses(exchange))[1]).toMatch(/pending|confirming/)
    await ageExecutions(exchange)
    await fixture.mineBlocks(14)
    expect(await listStatuses(exchange)).toEqual(['0 finished', '1 finished'])
    expect([fixture.countEtherPayments(exchange), listRefundUnits(exchange)]).toEqual([1, []])
  })
})

test('a payment that the operator releases has the full stall limit from then on', async () => {
  // Both legs are above the limit of one payment.
  const exchange = await payExchange(COIN / 2n)
  for (const leg of [0, 1]) {
    await fixture.mineBlocksUntil(async () => (await fixture.listExecutions(exchange))[leg]?.status === 'verifying')
    expect(await fixture.readExecution(exchange, leg)).toMatchObject({ reason: 'LIMIT' })
    await ageExecutions(exchange)
    await fixture.decide(exchange, 'release')
  }
  await fixture.mineBlocks(10)
  expect(await listStatuses(exchange)).toEqual(['0 finished', '1 finished'])
  expect([fixture.countEtherPayments(exchange), listRefundUnits(exchange)]).toEqual([1, []])
})
