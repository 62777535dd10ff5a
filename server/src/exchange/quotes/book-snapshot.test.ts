import { expect, test } from 'vitest'
import { bookParts, btc, eth, makeBook, NOW } from '../domain/pricing.fixture.ts'
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
