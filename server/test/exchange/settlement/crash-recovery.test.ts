import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { partOf } from '../../../../test/support/part.ts'
import { exchangeCheckpoints, onCheckpoint } from '../../../src/core/services/checkpoint.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'
import { crashAt, ignoreSimulatedCrash } from './crash-at.ts'

const SMALL = COIN / 200n
/** The checkpoints between the deposit and the end of an exchange. */
const testedCheckpoints = partOf(
  exchangeCheckpoints.filter((name) => name !== 'create.committed'),
  2,
)

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fundWallets({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => onCheckpoint(null))

const createFromEther = () => fixture.createExchange({ from: eth, to: btc, fromUnits: ETHER })

/** Mines blocks and runs jobs. Each run may crash and is repeated. */
async function runWithCrashes(blocks: number): Promise<void> {
  const { fakes, runWatchers, takeJobKeys, runJob } = fixture
  for (let n = 0; n < blocks; n++) {
    fakes.btc.mine()
    fakes.eth.mine()
    for (let round = 0; round < 3; round++) {
      await ignoreSimulatedCrash(runWatchers())
      for (const key of await takeJobKeys()) await ignoreSimulatedCrash(runJob(key))
    }
  }
  await ignoreSimulatedCrash(fixture.services.sweep(fakes.eth.chain))
}

describe('a process that crashes at any checkpoint', () => {
  for (const checkpoint of testedCheckpoints) {
    test.each([1, 2])(`${checkpoint}, pass %i: pays one exchange and refunds the other, each once`, async (nth) => {
      const [valid, tooSmall] = [await fixture.createExchange(), await fixture.createExchange()]
      fixture.payDeposit(valid, SMALL)
      fixture.payDeposit(tooSmall, 2_900n)
      // Only deposits of ether are swept. Each pass needs one.
      const swept = checkpoint === 'sweep.planned' ? [await createFromEther(), await createFromEther()] : []
      for (const { deposit } of swept) fixture.fakes.eth.pay(deposit.address, ETHER)
      const hasCrashed = crashAt(checkpoint, nth)
      await runWithCrashes(4)
      // The payout leaves its chain and is mined again.
      fixture.fakes.eth.reorg(2)
      fixture.fakes.btc.reorg(1)
      await runWithCrashes(6)
      expect(hasCrashed(), `pass ${nth} of ${checkpoint}`).toBe(true)
      onCheckpoint(null)
      await runWithCrashes(3)
      expect([await fixture.readStatus(valid), await fixture.readStatus(tooSmall)]).toEqual(['finished', 'refunded'])
      for (const exchange of swept) {
        expect(await fixture.readStatus(exchange)).toBe('finished')
        expect(fixture.fakes.btc.listPayments(exchange.recipient?.address ?? '')).toHaveLength(1)
      }
      expect(fixture.fakes.eth.listPayments(valid.recipient?.address ?? '')).toHaveLength(1)
      expect(fixture.fakes.btc.listPayments(tooSmall.refund?.address ?? '')).toHaveLength(1)
      await fixture.expectBalanced()
    })
  }

  test('passes every checkpoint', async () => {
    const passed = new Set<string>()
    onCheckpoint((name) => passed.add(name))
    const [first, second] = [await fixture.createExchange(), await fixture.createExchange()]
    fixture.payDeposit(first, SMALL)
    fixture.payDeposit(second, SMALL)
    const fromEther = await createFromEther()
    fixture.fakes.eth.pay(fromEther.deposit.address, ETHER)
    await runWithCrashes(3)
    fixture.fakes.eth.reorg(1)
    await runWithCrashes(12)
    expect(testedCheckpoints.filter((name) => !passed.has(name))).toEqual([])
  })
})
