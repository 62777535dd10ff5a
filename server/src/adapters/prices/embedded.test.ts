import { expect, it } from 'vitest'
import { currencies } from '../../../currencies/index.ts'
import { createEmbeddedPrices } from './embedded.ts'

const NOON = Date.UTC(2026, 10, 20, 12)

async function readAt(at: number, still = false) {
  return (await createEmbeddedPrices({ now: () => at, still }).read()).usd
}

/** The middle in parts of a dollar: for comparison only. */
const middle = (price: { bid: bigint; ask: bigint } | undefined) =>
  Number((price?.bid ?? 0n) + (price?.ask ?? 0n)) / 2e12

it('has a price for every listing', async () => {
  const usd = await readAt(NOON)
  expect(currencies.filter(({ priceKey }) => !usd.has(priceKey))).toEqual([])
  expect(currencies.length).toBeGreaterThan(20)
})

it('has a bid below an ask, by little', async () => {
  for (const [key, { bid, ask }] of await readAt(NOON)) {
    expect(bid > 0n && bid < ask, key).toBe(true)
    expect((ask - bid) * 1_000n, key).toBeLessThan(ask * 2n)
  }
})

it('is the same in every process, and another one every second', async () => {
  const now = await readAt(NOON)
  expect(await readAt(NOON + 999)).toEqual(now)
  const next = await readAt(NOON + 1_000)
  for (const [key, price] of now) expect(next.get(key), key).not.toEqual(price)
})

it('walks smoothly within a few percent of its base', async () => {
  const still = await readAt(NOON, true)
  let before = await readAt(NOON)
  const values = new Map<string, number[]>()
  for (let second = 1; second <= 3_600; second += 1) {
    const usd = await readAt(NOON + second * 1_000)
    for (const key of ['btc', 'shib', 'usdt', 'wbtc']) {
      const value = middle(usd.get(key))
      expect(Math.abs(value / middle(before.get(key)) - 1), key).toBeLessThan(0.0005)
      expect(Math.abs(value / middle(still.get(key)) - 1), key).toBeLessThan(key === 'usdt' ? 0.0003 : 0.03)
      values.set(key, [...(values.get(key) ?? []), value])
    }
    expect(Math.abs(middle(usd.get('wbtc')) / middle(usd.get('btc')) - 1)).toBeLessThan(0.002)
    before = usd
  }
  const btc = values.get('btc') ?? []
  expect(Math.max(...btc) / Math.min(...btc)).toBeGreaterThan(1.001)
})

it('fixes the price of every listing of a ticker', async () => {
  const fixed = new Map([['usdc', 2n * 10n ** 12n]])
  const { usd } = await createEmbeddedPrices({ now: () => NOON, still: true, readFixed: async () => fixed }).read()
  const listings = currencies.filter(({ ticker }) => ticker === 'usdc')
  expect(listings.length).toBeGreaterThan(10)
  for (const { network, priceKey } of listings) expect(middle(usd.get(priceKey)), network).toBeCloseTo(2, 9)
  // The controls know tickers, the prices keys.
  expect(currencies.filter(({ ticker, priceKey }) => priceKey !== ticker)).toEqual([])
})

it('stays at its base if configured, with the time of the read', async () => {
  const prices = (at: number) => createEmbeddedPrices({ now: () => at, still: true }).read()
  const [first, later] = [await prices(NOON), await prices(NOON + 3_600_000)]
  expect(later.usd).toEqual(first.usd)
  expect(new Set(later.times.values())).toEqual(new Set([NOON + 3_600_000]))
})

it('is the fixed price where the controls set one, with the usual spread', async () => {
  const readFixed = async () => new Map([['btc', 50_000n * 10n ** 12n]])
  const { usd } = await createEmbeddedPrices({ now: () => NOON, still: true, readFixed }).read()
  // 4 basis points between bid and ask.
  expect(usd.get('btc')).toEqual({ bid: 49_990n * 10n ** 12n - 1n, ask: 50_010n * 10n ** 12n + 1n })
  expect(usd.get('eth')).toEqual((await readAt(NOON, true)).get('eth'))
})
