import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { btc, eth, makeBook } from '../../src/domain/pricing.fixture.ts'
import { type Checkpoint, exchangeCheckpoints, onCheckpoint } from '../../src/lib/checkpoint.ts'
import { SMALL, startPrivateSpine, plan as usual } from './private-spine.ts'
import { COIN, ETHER, ltc, market } from './spine.ts'

const onTheWay = exchangeCheckpoints.filter((name) => name !== 'create.committed' && name !== 'sweep.planned')
const plan = { ...usual, withheldPpm: 3_000 }

let spine: Awaited<ReturnType<typeof startPrivateSpine>>
beforeAll(async () => {
  spine = await startPrivateSpine()
})
afterAll(() => spine.close())
afterEach(() => onCheckpoint(null))

class Death extends Error {}

/** The process dies at the n-th time that it comes to a place. */
function dieAt(place: Checkpoint, nth: number): void {
  let left = nth
  onCheckpoint((name) => {
    if (name === place && left-- === 1) throw new Death(place)
  })
}

async function live(blocks: number): Promise<void> {
  const { fakes, watch, woken, perform } = spine
  const survive = (work: Promise<unknown>) => work.catch((error: unknown) => expect(error).toBeInstanceOf(Death))
  for (let n = 0; n < blocks; n++) {
    for (const fake of Object.values(fakes)) fake.mine()
    for (let round = 0; round < 3; round++) {
      await survive(watch())
      for (const key of await woken()) await survive(perform(key))
    }
  }
}

const withReserve = (units: bigint) =>
  spine.books.replace(
    makeBook({ ...market, reserves: { ...market.reserves, 'eth@eth': units }, at: Date.now() + 3_600_000 }),
  )

describe('a process that dies between the legs', () => {
  for (const place of onTheWay) {
    // The n-th time: on the first leg, between the two, on the second.
    test.each([1, 3, 6])(`${place}, time %i: the recipient is paid once, and a refund comes once`, async (nth) => {
      const paid = await spine.order({ via: ltc, plan })
      const across = await spine.order({ from: ltc, via: eth, to: btc, plan, toUnits: SMALL })
      spine.deposit(paid, SMALL)
      spine.fakes.ltc.pay(across.deposit.address, 5n * COIN)
      dieAt(place, nth)
      await live(4)
      // Both the intermediary's payment and what followed from it leave the chain and come back.
      spine.fakes.ltc.reorg(2)
      spine.fakes.eth.reorg(1)
      await live(9)
      onCheckpoint(null)
      await live(5)
      expect([await spine.status(paid), await spine.status(across)], place).toEqual(['finished', 'finished'])
      expect(spine.fakes.eth.paidTo(paid.recipient?.address ?? '')).toHaveLength(1)
      expect(spine.fakes.btc.paidTo(across.recipient?.address ?? '')).toHaveLength(1)
      for (const exchange of [paid, across]) expect(await spine.executions(exchange)).toHaveLength(2)
      await spine.balanced()
    })
  }

  test.each(onTheWay)(
    '%s, on the way back from the second leg: one refund in the source coin, and no payout',
    async (place) => {
      const exchange = await spine.order({ via: ltc, plan })
      spine.deposit(exchange, SMALL)
      await live(3)
      withReserve(10n ** 12n)
      dieAt(place, 2)
      await live(10)
      onCheckpoint(null)
      await live(5)
      withReserve(100n * ETHER)
      expect(await spine.status(exchange), place).toBe('refunded')
      expect(spine.fakes.btc.paidTo(exchange.refund?.address ?? '')).toHaveLength(1)
      expect(spine.fakes.eth.paidTo(exchange.recipient?.address ?? '')).toEqual([])
      await spine.balanced()
    },
  )
})
