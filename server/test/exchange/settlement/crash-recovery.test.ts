import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { checkpoints, onCheckpoint } from '../../../src/core/services/checkpoint.ts'
import { btc, eth } from '../../../src/exchange/domain/pricing.fixture.ts'
import { COIN, ETHER, startMoneyPath } from '../money-path.ts'
import { dieAt, survive } from './crash-at.ts'

const SMALL = COIN / 200n
/** What the process passes on the way of one exchange from its deposit to its end. */
const exchangeSteps = checkpoints.filter((name) => name !== 'create.committed' && !/^(swap|approval)\./.test(name))

let fixture: Awaited<ReturnType<typeof startMoneyPath>>
beforeAll(async () => {
  fixture = await startMoneyPath()
  await fixture.fill({ btc: 50n * COIN, eth: 2_000n * ETHER })
})
afterAll(() => fixture.close())
afterEach(() => onCheckpoint(null))

/** Runs blocks and workers; each may crash and is started again. */
async function live(blocks: number): Promise<void> {
  const { fakes, watch, woken, perform } = fixture
  for (let n = 0; n < blocks; n++) {
    fakes.btc.mine()
    fakes.eth.mine()
    for (let round = 0; round < 3; round++) {
      await survive(watch())
      for (const key of await woken()) await survive(perform(key))
    }
  }
  await survive(fixture.services.sweep(fakes.eth.chain))
}

describe('a process that crashes at any checkpoint', () => {
  for (const place of exchangeSteps) {
    test.each([1, 2])(`${place}, time %i: is paid once, and so is its refund`, async (nth) => {
      const [paid, refunded] = [await fixture.order(), await fixture.order()]
      fixture.deposit(paid, SMALL)
      fixture.deposit(refunded, 2_900n)
      const crashed = dieAt(place, nth)
      await live(4)
      // A reorganisation that takes the payout out and brings it back.
      fixture.fakes.eth.reorg(2)
      fixture.fakes.btc.reorg(1)
      await live(6)
      const happened = crashed()
      onCheckpoint(null)
      await live(3)
      expect([await fixture.status(paid), await fixture.status(refunded)], `${place} ${happened}`).toEqual([
        'finished',
        'refunded',
      ])
      expect(fixture.fakes.eth.paidTo(paid.recipient?.address ?? '')).toHaveLength(1)
      expect(fixture.fakes.btc.paidTo(refunded.refund?.address ?? '')).toHaveLength(1)
      await fixture.balanced()
    })
  }

  test('passes every place', async () => {
    const seen = new Set<string>()
    onCheckpoint((name) => seen.add(name))
    const [one, other] = [await fixture.order(), await fixture.order()]
    fixture.deposit(one, SMALL)
    fixture.deposit(other, SMALL)
    const account = await fixture.order({ from: eth, to: btc, fromUnits: ETHER })
    fixture.fakes.eth.pay(account.deposit.address, ETHER)
    await live(3)
    fixture.fakes.eth.reorg(1)
    await live(12)
    expect(exchangeSteps.filter((name) => !seen.has(name))).toEqual([])
  })
})
