import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { checkpoints, onCheckpoint } from '../../../src/core/services/checkpoint.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, startSpine } from '../money-path.ts'
import { dieAt, survive } from './crash-at.ts'

const SMALL = COIN / 200n
/** What the process passes on the way of one exchange from its deposit to its end. */
const onTheWay = checkpoints.filter((name) => name !== 'create.committed' && !/^(swap|approval)\./.test(name))

let spine: Awaited<ReturnType<typeof startSpine>>
beforeAll(async () => {
  spine = await startSpine()
  await spine.fill({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => spine.close())
afterEach(() => onCheckpoint(null))

/** Blocks and workers, each of which may die and is started anew. */
async function live(blocks: number): Promise<void> {
  const { fakes, watch, woken, perform } = spine
  for (let n = 0; n < blocks; n++) {
    fakes.btc.mine()
    fakes.eth.mine()
    for (let round = 0; round < 3; round++) {
      await survive(watch())
      for (const key of await woken()) await survive(perform(key))
    }
  }
  await survive(spine.services.sweep(fakes.eth.chain))
}

describe('a process that dies at any of its places', () => {
  for (const place of onTheWay) {
    test.each([1, 2])(`${place}, time %i: is paid once, and so is its refund`, async (nth) => {
      const [paid, refunded] = [await spine.order(), await spine.order()]
      spine.deposit(paid, SMALL)
      spine.deposit(refunded, 2_900n)
      const died = dieAt(place, nth)
      await live(4)
      // A reorganisation that takes the payout out and brings it back.
      spine.fakes.eth.reorg(2)
      spine.fakes.btc.reorg(1)
      await live(6)
      const happened = died()
      onCheckpoint(null)
      await live(3)
      expect([await spine.status(paid), await spine.status(refunded)], `${place} ${happened}`).toEqual([
        'finished',
        'refunded',
      ])
      expect(spine.fakes.eth.paidTo(paid.recipient?.address ?? '')).toHaveLength(1)
      expect(spine.fakes.btc.paidTo(refunded.refund?.address ?? '')).toHaveLength(1)
      await spine.balanced()
    })
  }

  test('passes every place', async () => {
    const seen = new Set<string>()
    onCheckpoint((name) => seen.add(name))
    const [one, other] = [await spine.order(), await spine.order()]
    spine.deposit(one, SMALL)
    spine.deposit(other, SMALL)
    const account = await spine.order({ from: eth, to: btc, fromUnits: ETHER })
    spine.fakes.eth.pay(account.deposit.address, ETHER)
    await live(3)
    spine.fakes.eth.reorg(1)
    await live(12)
    expect(onTheWay.filter((name) => !seen.has(name))).toEqual([])
  })
})
