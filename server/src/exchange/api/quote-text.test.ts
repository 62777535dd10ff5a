import { RateQuote } from '@swapyard/schema'
import fc from 'fast-check'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import type { IssuedQuote } from '../domain/rate-quote.ts'
import { presentRateQuote } from './present.ts'
import { rateQuoteText } from './quote-text.ts'

const units = fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 15n }), fc.bigInt({ min: 0n, max: 10n ** 40n }))
const asset = fc.record({
  id: fc.constant('coin@net' as const),
  ticker: fc.string({ unit: 'binary' }),
  network: fc.string(),
  decimals: fc.nat({ max: 24 }),
  contract: fc.constant(null),
})
const issued: fc.Arbitrary<IssuedQuote> = fc.record({
  quote: fc.record({
    from: asset,
    to: asset,
    flow: fc.constant('standard' as const),
    fromUnits: units,
    toUnits: units,
    minUnits: units,
    maxUnits: fc.option(units),
    fromUsd: units,
    toUsd: units,
    fees: fc.record({ serviceUnits: units, partnerUnits: units, networkUnits: units }),
    withinBounds: fc.boolean(),
  }),
  rateId: fc.option(fc.stringMatching(/^[A-Za-z0-9_-]{20,100}$/)),
  validUntil: fc.option(fc.date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true })),
})

test('the text of a quote says what the published schema makes of it, member by member in its order', async () => {
  let current: object = {}
  const app = Fastify()
  app.get('/', { schema: { response: { 200: RateQuote } } }, () => current)
  await fc.assert(
    fc.asyncProperty(issued, async (quote) => {
      current = presentRateQuote(quote)
      const { body } = await app.inject('/')
      const text = rateQuoteText(quote)
      expect(text).toMatch(/^[ -~]*$/)
      expect(JSON.parse(text)).toEqual(JSON.parse(body))
      expect(Object.keys(JSON.parse(text))).toEqual(Object.keys(JSON.parse(body)))
    }),
  )
})

test('what quotes of one direction share is written anew when it changes', async () => {
  const [one, two] = fc.sample(asset, { numRuns: 2, seed: 1 })
  if (!one || !two) throw new Error('two assets are drawn')
  const shared = fc.record({ minUnits: units, maxUnits: fc.option(units), fees: fc.record({ networkUnits: units }) })
  await fc.assert(
    fc.property(issued, fc.array(shared, { minLength: 2 }), (base, changes) => {
      for (const { fees, ...bounds } of changes) {
        const quote = { ...base.quote, ...bounds, from: one, to: two, fees: { ...base.quote.fees, ...fees } }
        const answer = { ...base, quote }
        expect(JSON.parse(rateQuoteText(answer))).toEqual(JSON.parse(JSON.stringify(presentRateQuote(answer))))
        // The same figures once more.
        expect(rateQuoteText(answer)).toBe(rateQuoteText({ ...answer }))
      }
    }),
  )
})
