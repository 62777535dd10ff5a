import { describe, expect, test } from 'vitest'
import { type ChainCosts, matchChains, matchPairs } from './matcher.ts'

/** Keeps the order. */
const drawLast = (limit: number) => limit - 1
const drawFirst = () => 0
const distance = (a = 0, b = 0) => (a - b) ** 2

describe('matchPairs', () => {
  const payers = [1, 2, 3]
  const recipients = [2, 4, 6]
  const compare = (payer: number, recipient: number) => distance(2 * (payers[payer] ?? 0), recipients[recipient])

  test('matches payers and recipients by their costs, in any order', () => {
    expect(matchPairs(3, compare, drawLast)).toEqual({ hits: 3, count: 3, chance: 1 / 3 })
    expect(matchPairs(3, compare, drawFirst)).toEqual({ hits: 3, count: 3, chance: 1 / 3 })
  })

  test('excludes impossible pairs from the matches and from the chance', () => {
    const separate = (payer: number, recipient: number) => (payer < 2 === recipient < 2 ? 0 : null)
    expect(matchPairs(4, separate, drawLast)).toMatchObject({ hits: 4, chance: 0.5 })
  })

  test('rejects costs that call an exchange impossible', () => {
    const wrong = (payer: number, recipient: number) => (payer === 1 && recipient === 1 ? null : 0)
    expect(() => matchPairs(3, wrong)).toThrow('calls exchange 1 impossible')
  })
})

describe('matchChains', () => {
  const none = { first: () => 0, second: () => 0, whole: () => 0 }

  test('matches equal ends through the payment between the legs', () => {
    // Only the middle tells the exchanges apart: each leg is known, the ends alone are equal.
    const costs: ChainCosts = { ...none, candidates: 5, first: distance, second: distance }
    expect(matchChains(5, costs, drawFirst)).toMatchObject({ hits: 5, count: 5 })
  })

  test('assigns each payment between the legs once, although one of them suits all pairs', () => {
    // Through payment 0 all pairs cost the same. Only one pair can have it; the others are cheapest through their own.
    const costs: ChainCosts = {
      ...none,
      candidates: 4,
      whole: (payer, via, recipient) => (via === 0 || (payer === via && via === recipient) ? 0 : 5),
    }
    for (let round = 0; round < 20; round++) expect(matchChains(4, costs).hits).toBe(4)
  })

  test('excludes pairs without any possible payment between the legs', () => {
    const costs: ChainCosts = { ...none, candidates: 3, first: (payer, via) => (payer === via ? 0 : null) }
    expect(matchChains(3, costs, drawLast).chance).toBeCloseTo(1 / 3)
    const exact: ChainCosts = { ...costs, second: (via, recipient) => (via === recipient ? 0 : null) }
    expect(matchChains(3, exact, drawFirst)).toEqual({ hits: 3, count: 3, chance: 1 })
  })

  test('finds the payments between the legs among other candidates', () => {
    // Candidates from 5 on belong to no exchange.
    const costs: ChainCosts = { ...none, candidates: 9, first: distance, second: distance }
    expect(matchChains(5, costs, drawFirst)).toMatchObject({ hits: 5, count: 5 })
  })

  test('rejects costs that call an exchange impossible', () => {
    const costs: ChainCosts = { ...none, candidates: 3, second: (via) => (via === 2 ? null : 0) }
    expect(() => matchChains(3, costs)).toThrow('calls exchange 2 impossible')
  })
})
