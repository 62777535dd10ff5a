import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toSignificant } from '../../core/domain/amount.ts'
import type { AssetId } from '../../core/domain/asset.ts'
import type { Reserves } from '../../core/domain/book.ts'
import { bookParts, btc, eth, makeBook, NOW, price, usdt } from './pricing.fixture.ts'
import { pricePair } from './pricing.ts'
import { publishReserves } from './published-reserves.ts'

const ID = eth.asset.id
const units = fc.bigInt({ min: 0n, max: 10n ** 30n })
/** What is published of a reserve that promises hold in part; `limit`: the largest payout. */
function publish(freeUnits: bigint, heldUnits: bigint, limit: bigint | null = null) {
  const left = freeUnits - heldUnits
  const exactUnits = limit !== null && limit < left ? limit : left
  const stock = { freeUnits, heldUnits, heldByPartner: new Map([['p', heldUnits]]) }
  const published = publishReserves({
    at: NOW,
    available: new Map([[ID, exactUnits]]),
    fixed: new Map([[ID, stock]]),
  })
  return { exactUnits, shownUnits: published.available.get(ID) ?? 0n, stock: published.fixed?.get(ID) }
}

describe('published reserves', () => {
  test('promise no exact reserve either, and a limit of payouts as it is', () => {
    const published = publishReserves({
      at: NOW,
      available: new Map([
        [ID, 512_345n],
        [btc.asset.id, 512_345n],
        [usdt.asset.id, null],
      ]),
      promised: new Map([
        [ID, 512_345n],
        [btc.asset.id, 412_345n],
        [usdt.asset.id, 312_345n],
      ]),
    })
    expect(published.promised).toEqual(
      new Map([
        [ID, 510_000n],
        [btc.asset.id, 412_345n],
        [usdt.asset.id, 312_345n],
      ]),
    )
  })

  test('have two digits and are never above the exact ones', () => {
    fc.assert(
      fc.property(units, (exactUnits) => {
        const shown = publishReserves({ at: NOW, available: new Map([[ID, exactUnits]]) }).available.get(ID) ?? -1n
        expect(shown).toBe(toSignificant(exactUnits, 'down', 2))
        expect(shown <= exactUnits && shown * 11n >= exactUnits * 10n - 11n).toBe(true)
      }),
    )
  })

  test('are never above the exact ones either if promises or the largest payout limit them', () => {
    const percent = fc.bigInt({ min: 0n, max: 100n })
    fc.assert(
      fc.property(units, percent, fc.option(units), (freeUnits, percentHeld, limit) => {
        const heldUnits = (freeUnits * percentHeld) / 100n
        const { exactUnits, shownUnits, stock } = publish(freeUnits, heldUnits, limit)
        expect(shownUnits).toBeLessThanOrEqual(exactUnits)
        expect((stock?.freeUnits ?? 0n) - (stock?.heldUnits ?? 0n)).toBeLessThanOrEqual(freeUnits - heldUnits)
      }),
    )
  })

  // A partner who creates and cancels fixed rates without a payment would find the reserve at which the figure steps.
  test('step with promises at the same place for every reserve of the same two digits', () => {
    for (let heldUnits = 0n; heldUnits < 400n; heldUnits += 7n) {
      const [least, most] = [1_400n, 1_499n].map((freeUnits) => publish(freeUnits, heldUnits).shownUnits)
      expect(most).toBe(least)
    }
  })

  test('show the limit of the largest payout in place of a larger reserve, and of no limit none', () => {
    expect(publish(9_876n, 0n, 5_555n).shownUnits).toBe(5_500n)
    expect(publishReserves({ at: NOW, available: new Map([[ID, null]]) }).available.get(ID)).toBeNull()
  })
})

describe('bounds from published reserves', () => {
  const currencies = [btc, eth, usdt]
  const makeReserves = (change: bigint): Reserves => ({
    at: NOW,
    available: new Map<AssetId, bigint>([
      ['btc@btc', 512_345_678n + change],
      ['eth@eth', 123_456_789_012_345_678_901n + change],
      ['usdt@eth', 2_345_678_901_234n + change],
    ]),
  })
  /** Everything that a pair shows of its reserve, with the price of ether at `etherUsd`. */
  const boundsOf = (reserves: Reserves, etherUsd: string) => {
    const made = {
      ...makeBook({ ...bookParts, prices: { ...bookParts.prices, eth: price(etherUsd, etherUsd) } }),
      reserves,
    }
    return currencies.flatMap((from) =>
      currencies
        .filter((to) => to !== from)
        .map((to) => pricePair(made, { from, to, flow: 'standard', partnerFeeBps: 0 }, NOW))
        .map(({ minUnits, maxUnits, availableUnits }) => ({ minUnits, maxUnits, availableUnits })),
    )
  }

  test('are the same before and after a payment within the step, for every direction and at every price', () => {
    for (const etherUsd of ['2500', '3999', '4001.5', '5712.25']) {
      const before = boundsOf(publishReserves(makeReserves(0n)), etherUsd)
      for (const change of [1n, -1n, 1_000_000n])
        expect(boundsOf(publishReserves(makeReserves(change)), etherUsd)).toEqual(before)
      // The exact reserves show it.
      expect(boundsOf(makeReserves(1_000_000n), etherUsd)).not.toEqual(boundsOf(makeReserves(0n), etherUsd))
    }
  })
})
