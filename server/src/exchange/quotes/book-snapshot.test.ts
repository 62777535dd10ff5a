import { expect, test } from 'vitest'
import { bookParts, btc, eth, makeBook, NOW } from '../domain/pricing.fixture.ts'
import { quoteUnits } from '../domain/pricing.ts'
import { createBookSnapshot } from './book-snapshot.ts'

// A pricing per partner filled the cache, and a full cache is emptied: each quote computed its direction again.
test('partners share the pricing of a fixed rate, and each has its own limit', () => {
  let reads = 0
  const made = makeBook({ ...bookParts, at: NOW })
  const prices = new Proxy(made.prices, {
    get(target, name, receiver) {
      reads++
      return Reflect.get(target, name, receiver)
    },
  })
  const held = new Map([['holder', 40_000_000n]])
  // 30 % of the reserve for all, 33 % of that for each partner.
  const fixed = new Map([[btc.asset.id, { freeUnits: 1_000_000_000n, heldUnits: 40_000_000n, heldByPartner: held }]])
  const snapshot = createBookSnapshot({ ...made, prices, reserves: { ...made.reserves, fixed } })
  const price = (partnerId: string) =>
    snapshot.price({ from: eth, to: btc, flow: 'fixed-rate', partnerFeeBps: 10, partnerId }, NOW)
  expect(price('holder').availableUnits).toBe(59_000_000n)
  const readsOfOne = reads
  for (let n = 0; n < 100; n++) expect(price(`partner-${n}`).availableUnits).toBe(99_000_000n)
  expect(price('partner-7').pair.partnerId).toBe('partner-7')
  expect(reads).toBe(readsOfOne)
})

// Each quote computed its maximum, and what both bounds give, again.
test('the quotes of a floating rate share one pricing with its bounds, until the book changes', () => {
  const snapshot = createBookSnapshot(makeBook(bookParts))
  const price = (partnerId: string) =>
    snapshot.price({ from: eth, to: btc, flow: 'standard', partnerFeeBps: 10, partnerId }, NOW)
  const pricing = price('one')
  expect(price('other')).toBe(pricing)
  const quotes = [10n ** 18n, pricing.minUnits, pricing.maxUnits ?? 0n].map((units) => quoteUnits(pricing, units))
  const [, atMin, atMax] = quotes
  for (const { minToUnits, maxToUnits } of quotes)
    expect([minToUnits, maxToUnits]).toEqual([atMin?.toUnits, atMax?.toUnits])
  snapshot.replace({ reserves: { at: NOW, available: new Map([[btc.asset.id, 100_000_000n]]) } })
  expect(price('one').maxUnits).toBeLessThan(pricing.maxUnits ?? 0n)
  expect(quoteUnits(price('one'), 10n ** 18n).maxToUnits).toBeLessThan(atMax?.toUnits ?? 0n)
})

test('prices from rounded reserves and keeps the exact ones for settlement', () => {
  const snapshot = createBookSnapshot(makeBook(bookParts))
  const replaceReserve = (units: bigint) =>
    snapshot.replace({ reserves: { at: NOW, available: new Map([[btc.asset.id, units]]) } })
  const price = () => snapshot.price({ from: eth, to: btc, flow: 'standard', partnerFeeBps: 0 }, NOW)
  replaceReserve(512_345_678n)
  const before = price()
  expect([before.availableUnits, snapshot.current().reserves.available.get(btc.asset.id)]).toEqual([
    509_998_500n,
    512_345_678n,
  ])
  replaceReserve(510_000_000n)
  expect(price()).toEqual(before)
  replaceReserve(509_999_999n)
  expect(price().availableUnits).toBe(499_998_500n)
})

// The minimum of 0.000 045 BTC costs more than the rounded reserve: an exact maximum there would have shown more digits.
test('a pair whose rounded reserve is below its minimum is not available', () => {
  const snapshot = createBookSnapshot(makeBook(bookParts))
  const price = (units: bigint) => {
    snapshot.replace({ reserves: { at: NOW, available: new Map([[btc.asset.id, units]]) } })
    return snapshot.price({ from: eth, to: btc, flow: 'standard', partnerFeeBps: 0 }, NOW)
  }
  const refused = expect.objectContaining({ code: 'INSUFFICIENT_LIQUIDITY' })
  expect(price(3_100n).maxUnits).toBeGreaterThanOrEqual(price(3_100n).minUnits)
  expect(() => price(3_099n)).toThrow(refused)
  expect(() => price(1_500n)).toThrow(refused)
})
