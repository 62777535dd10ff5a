import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { partOf } from '../../../../test/support/part.ts'
import { type Checkpoint, exchangeCheckpoints, onCheckpoint } from '../../../src/core/services/checkpoint.ts'
import { btc, eth, makeBook } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, ltc, market } from '../money-path.ts'
import { crashAt, ignoreSimulatedCrash } from '../settlement/crash-at.ts'
import { plan as defaultPlan, SMALL, startPrivateMoneyPath } from './private-money-path.ts'

const legCheckpoints = partOf(
  exchangeCheckpoints.filter((name) => name !== 'create.committed' && name !== 'sweep.planned'),
  2,
)
const plan = { ...defaultPlan, withheldPpm: 3_000 }

let fixture: Awaited<ReturnType<typeof startPrivateMoneyPath>>
beforeAll(async () => {
  fixture = await startPrivateMoneyPath()
})
afterAll(() => fixture.close())
afterEach(() => onCheckpoint(null))

/**
 * The passes through a checkpoint at which the process crashes: on the first leg, between the legs, on the second leg. Two
 * exchanges have four payments, and the test reorganises chains twice.
 */
function passesOf(checkpoint: Checkpoint): readonly number[] {
  if (checkpoint === 'watch.rewound') return [1, 2]
  return /^(step|watch)\.|observed$/.test(checkpoint) ? [1, 3, 6] : [1, 3, 4]
}

/** Mines blocks and runs jobs. Each run may crash and is repeated. */
async function runWithCrashes(blocks: number): Promise<void> {
  const { fakes, runWatchers, takeJobKeys, runJob } = fixture
  for (let n = 0; n < blocks; n++) {
    for (const fake of Object.values(fakes)) fake.mine()
    for (let round = 0; round < 3; round++) {
      await ignoreSimulatedCrash(runWatchers())
      for (const key of await takeJobKeys()) await ignoreSimulatedCrash(runJob(key))
    }
  }
}

const setEtherReserve = (units: bigint) =>
  fixture.books.replace(
    makeBook({ ...market, reserves: { ...market.reserves, 'eth@eth': units }, at: Date.now() + 3_600_000 }),
  )

describe('a process that crashes between the legs', () => {
  for (const checkpoint of legCheckpoints) {
    test.each(passesOf(checkpoint))(`${checkpoint}, pass %i: both recipients are paid once`, async (nth) => {
      const toEther = await fixture.createExchange({ via: ltc, plan })
      const toBitcoin = await fixture.createExchange({ from: ltc, via: eth, to: btc, plan, toUnits: SMALL })
      fixture.payDeposit(toEther, SMALL)
      fixture.fakes.ltc.pay(toBitcoin.deposit.address, 5n * COIN)
      const hasCrashed = crashAt(checkpoint, nth)
      await runWithCrashes(4)
      // The payment in the intermediary and the next payout leave their chains and are mined again.
      fixture.fakes.ltc.reorg(2)
      fixture.fakes.eth.reorg(1)
      await runWithCrashes(9)
      onCheckpoint(null)
      await runWithCrashes(5)
      expect(hasCrashed()).toBe(true)
      expect([await fixture.readStatus(toEther), await fixture.readStatus(toBitcoin)], checkpoint).toEqual([
        'finished',
        'finished',
      ])
      expect(fixture.fakes.eth.listPayments(toEther.recipient?.address ?? '')).toHaveLength(1)
      expect(fixture.fakes.btc.listPayments(toBitcoin.recipient?.address ?? '')).toHaveLength(1)
      for (const exchange of [toEther, toBitcoin]) expect(await fixture.listExecutions(exchange)).toHaveLength(2)
      await fixture.expectBalanced()
    })
  }

  test.each(legCheckpoints.filter((checkpoint) => checkpoint !== 'watch.rewound'))(
    '%s, on the return leg: one refund in the source currency, and no payout',
    async (checkpoint) => {
      const exchange = await fixture.createExchange({ via: ltc, plan })
      fixture.payDeposit(exchange, SMALL)
      await runWithCrashes(3)
      setEtherReserve(10n ** 12n)
      // The only payment after this point is the refund.
      const hasCrashed = crashAt(checkpoint, /^dispatch|broadcast$/.test(checkpoint) ? 1 : 2)
      await runWithCrashes(10)
      onCheckpoint(null)
      await runWithCrashes(5)
      setEtherReserve(100n * ETHER)
      expect(hasCrashed()).toBe(true)
      expect(await fixture.readStatus(exchange), checkpoint).toBe('refunded')
      expect(fixture.fakes.btc.listPayments(exchange.refund?.address ?? '')).toHaveLength(1)
      expect(fixture.fakes.eth.listPayments(exchange.recipient?.address ?? '')).toEqual([])
      await fixture.expectBalanced()
    },
  )
})
