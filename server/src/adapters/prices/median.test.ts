import { describe, expect, it } from 'vitest'
import { AppError } from '../../core/domain/errors.ts'
import type { Prices } from '../../core/ports/prices.ts'
import { createMedianPrices } from './median.ts'
import type { PriceSource } from './price-source.ts'

const NOW = 1_800_000_000_000
type Answer = { bid: unknown; ask: unknown } | Error | 'hangs'

/** A source that returns `answer()` at each read. */
function source(id: string, answer: () => Answer, ageMs = 0, time = { now: NOW }): PriceSource {
  const read: PriceSource['read'] = async () => {
    const result = answer()
    if (result === 'hangs') return new Promise<never>(() => {})
    if (result instanceof Error) throw result
    return [
      { priceKey: 'btc', quoteCurrency: 'usd', at: time.now - ageMs, price: result as { bid: bigint; ask: bigint } },
    ]
  }
  return { id, read }
}
const at = (bid: bigint, ask = bid + 1_000n): Answer => ({
  bid: bid * 10n ** 12n,
  ask: ask === bid + 1_000n ? (bid + 10n) * 10n ** 12n : ask,
})

function combine(answers: readonly (Answer | (() => Answer))[], quorum = 2, time = { now: NOW }) {
  const dropped: string[] = []
  const prices = createMedianPrices({
    sources: answers.map((answer, index) =>
      source(`${index}`, typeof answer === 'function' ? answer : () => answer, 0, time),
    ),
    quorum,
    now: () => time.now,
    timeoutMs: 20,
    onDropped: ({ source: id, reason }) => dropped.push(`${id} ${reason}`),
  })
  return { prices, dropped, btc: async () => (await prices.read()).usd.get('btc') }
}
const timeOf = async (prices: Prices) => (await prices.read()).times.get('btc')
const dollars = (bid: bigint, ask: bigint) => ({ bid: bid * 10n ** 12n, ask: ask * 10n ** 12n })
const unavailable = expect.objectContaining({ code: 'RATES_UNAVAILABLE' })

describe('the price of several sources', () => {
  it('M20: is the lowest bid and the highest ask of those that agree: a source that lags widens it and does not move it', async () => {
    expect(await combine([at(100_200n), at(100_000n), at(100_100n)]).btc()).toEqual(dollars(100_000n, 100_210n))
    expect(await combine([at(100_200n), at(100_000n)]).btc()).toEqual(dollars(100_000n, 100_210n))
  })

  it('is as old as the last of as many sources as are needed, so that a slow third one does not age it', async () => {
    const sources = [12_000, 1_000, 3_000].map((ageMs, n) => source(`${n}`, () => at(100_000n), ageMs))
    const readAt = async (quorum: number) => timeOf(createMedianPrices({ sources, quorum, now: () => NOW }))
    expect(await readAt(2)).toBe(NOW - 3_000)
    expect(await readAt(3)).toBe(NOW - 12_000)
  })

  it('M20: needs sources within 25 basis points of the median', async () => {
    // 25 of 10 000 of 100 005, the middle of 100 000 and 100 010, are 250.0125.
    expect(await combine([at(100_000n), at(100_250n)]).btc()).toEqual(dollars(100_000n, 100_260n))
    const { btc, dropped } = combine([at(100_000n), at(100_251n)])
    await expect(btc()).rejects.toEqual(unavailable)
    expect(dropped).toEqual(['1 deviating'])
    expect(await combine([at(99_700n), at(100_000n), at(100_100n)]).btc()).toEqual(dollars(100_000n, 100_110n))
  })

  it('M20: needs a price with a wide spread within half of that spread', async () => {
    // The middle of 99 500 and 101 300 is 100 400, 395 above 100 005; half of the spread is 900.
    expect(await combine([at(100_000n), dollars(99_500n, 101_300n)]).btc()).toEqual(dollars(99_500n, 101_300n))
    // The middle of 100 300 and 100 900 is 100 600, 595 above; half of the spread is 300.
    await expect(combine([at(100_000n), dollars(100_300n, 100_900n)]).btc()).rejects.toEqual(unavailable)
  })

  it('M20: excludes a snapshot of more than two seconds in the future, which would never become stale', async () => {
    const dropped: string[] = []
    const readEarly = (earlyMs: number) =>
      timeOf(
        createMedianPrices({
          sources: [source('a', () => at(100_000n)), source('b', () => at(100_100n), -earlyMs)],
          quorum: 2,
          now: () => NOW,
          onDropped: ({ source: id, reason }) => dropped.push(`${id} ${reason}`),
        }),
      )
    expect(await readEarly(2_000)).toBe(NOW)
    await expect(readEarly(2_001)).rejects.toEqual(unavailable)
    expect(dropped).toEqual(['b future'])
  })

  // B051: zero, negative, crossed, not a number, a factor of 10^9.
  it.each([
    ['zero', { bid: 0n, ask: 0n }, 'implausible'],
    ['negative', { bid: -5n, ask: 5n }, 'implausible'],
    ['crossed', dollars(100_100n, 100_000n), 'implausible'],
    ['half open', dollars(1n, 100_000n), 'implausible'],
    ['not a number', { bid: Number.NaN, ask: Number.NaN }, 'implausible'],
    ['a float', { bid: 100_100.5, ask: 100_101.5 }, 'implausible'],
    ['10^9 times', at(100_100n * 10n ** 9n), 'deviating'],
    ['a tenth', at(10_010n), 'deviating'],
    ['an error', new AppError('RATES_UNAVAILABLE', 'unavailable'), 'failed'],
    ['nothing', 'hangs', 'failed'],
  ] as const)('is unchanged by a source that says %s', async (_, answer, reason) => {
    const { btc, dropped } = combine([at(100_000n), answer as Answer, at(100_000n)])
    expect(await btc()).toEqual(dollars(100_000n, 100_010n))
    expect(dropped).toEqual([`1 ${reason}`])
  })

  it('does not exist if fewer than the quorum agree', async () => {
    await expect(combine([at(100_000n), at(150_000n)]).btc()).rejects.toEqual(unavailable)
    await expect(combine([at(100_000n), new Error('unavailable')]).btc()).rejects.toEqual(unavailable)
    await expect(combine([at(1n), at(100_000n), at(200_000n)]).btc()).rejects.toEqual(unavailable)
    await expect(combine([]).btc()).rejects.toEqual(unavailable)
  })

  it('has the time of its oldest price, and excludes prices older than 30 s', async () => {
    const with3 = (age: number) =>
      createMedianPrices({
        sources: [
          source('a', () => at(100_000n), 5_000),
          source('b', () => at(100_000n), age),
          source('c', () => at(100_000n)),
        ],
        quorum: 3,
        now: () => NOW,
      })
    expect(await timeOf(with3(30_000))).toBe(NOW - 30_000)
    await expect(with3(30_001).read()).rejects.toEqual(unavailable)
  })
})

describe('a single source', () => {
  it('may move slowly, but not jump', async () => {
    let answer = at(100_000n)
    const time = { now: NOW }
    const { btc, dropped } = combine([() => answer], 1, time)
    expect(await btc()).toEqual(dollars(100_000n, 100_010n))
    answer = at(119_000n)
    expect(await btc()).toEqual(dollars(119_000n, 119_010n))
    for (const bad of [at(119_000n * 10n ** 9n), at(150_000n), at(90_000n)]) {
      answer = bad
      await expect(btc()).rejects.toEqual(unavailable)
    }
    expect(dropped).toEqual(['0 jump', '0 jump', '0 jump'])
    // 26 % up: after ten minutes 30 % are allowed, 20 and one a minute.
    answer = at(150_000n)
    time.now += 300_000
    await expect(btc()).rejects.toEqual(unavailable)
    time.now += 300_000
    expect(await btc()).toEqual(dollars(150_000n, 150_010n))
  })

  it('is accepted if a second one agrees', async () => {
    let answer = at(100_000n)
    const { btc } = combine([() => answer, () => answer])
    await btc()
    answer = at(200_000n)
    expect(await btc()).toEqual(dollars(200_000n, 200_010n))
  })
})
