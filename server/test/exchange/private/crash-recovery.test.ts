import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Checkpoint, exchangeCheckpoints, onCheckpoint } from '../../../src/core/services/checkpoint.ts'
import { btc, eth, makeBook } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, ltc, market } from '../money-path.ts'
import { dieAt, survive } from '../settlement/crash-at.ts'
import { SMALL, startPrivateMoneyPath, plan as usual } from './private-money-path.ts'

const legCheckpoints = exchangeCheckpoints.filter((name) => name !== 'create.committed' && name !== 'sweep.planned')
const plan = { ...usual, withheldPpm: 3_000 }

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
})
afterAll(() => fixture.close())
afterEach(() => onCheckpoint(null))

/**
 * At which pass through a checkpoint the process crashes: on the first leg, between the two, on the second. Two
 * exchanges are four payments, and chains go back twice; all else is passed more often.
 */
function passages(place: Checkpoint): readonly number[] {
  if (place === 'watch.rewound') return [1, 2]
  return /^(step|watch)\.|observed$/.test(place) ? [1, 3, 6] : [1, 3, 4]
}

async function live(blocks: number): Promise<void> {
  const { fakes, watch, woken, perform } = fixture
  for (let n = 0; n < blocks; n++) {
    for (const fake of Object.values(fakes)) fake.mine()
    for (let round = 0; round < 3; round++) {
      await survive(watch())
      for (const key of await woken()) await survive(perform(key))
    }
  }
}

const withReserve = (units: bigint) =>
  fixture.books.replace(
    makeBook({ ...market, reserves: { ...market.reserves, 'eth@eth': units }, at: Date.now() + 3_600_000 }),
  )

describe('a process that crashes between the legs', () => {
  for (const place of legCheckpoints) {
    test.each(passages(place))(
      `${place}, time %i: the recipient is paid once, and a refund comes once`,
      async (nth) => {
        const paid = await fixture.order({ via: ltc, plan })
        const across = await fixture.order({ from: ltc, via: eth, to: btc, plan, toUnits: SMALL })
        fixture.deposit(paid, SMALL)
        fixture.fakes.ltc.pay(across.deposit.address, 5n * COIN)
        const crashed = dieAt(place, nth)
        await live(4)
        // Both the intermediary's payment and what followed from it leave the chain and come back.
        fixture.fakes.ltc.reorg(2)
        fixture.fakes.eth.reorg(1)
        await live(9)
        onCheckpoint(null)
        await live(5)
        expect(crashed()).toBe(true)
        expect([await fixture.status(paid), await fixture.status(across)], place).toEqual(['finished', 'finished'])
        expect(fixture.fakes.eth.paidTo(paid.recipient?.address ?? '')).toHaveLength(1)
        expect(fixture.fakes.btc.paidTo(across.recipient?.address ?? '')).toHaveLength(1)
        for (const exchange of [paid, across]) expect(await fixture.executions(exchange)).toHaveLength(2)
        await fixture.balanced()
      },
    )
  }

  test.each(legCheckpoints.filter((place) => place !== 'watch.rewound'))(
    '%s, on the return from the second leg: one refund in the source currency, and no payout',
    async (place) => {
      const exchange = await fixture.order({ via: ltc, plan })
      fixture.deposit(exchange, SMALL)
      await live(3)
      withReserve(10n ** 12n)
      // Of payments there is but the one back.
      const crashed = dieAt(place, /^dispatch|broadcast$/.test(place) ? 1 : 2)
      await live(10)
      onCheckpoint(null)
      await live(5)
      withReserve(100n * ETHER)
      expect(crashed()).toBe(true)
      expect(await fixture.status(exchange), place).toBe('refunded')
      expect(fixture.fakes.btc.paidTo(exchange.refund?.address ?? '')).toHaveLength(1)
      expect(fixture.fakes.eth.paidTo(exchange.recipient?.address ?? '')).toEqual([])
      await fixture.balanced()
    },
  )
})
