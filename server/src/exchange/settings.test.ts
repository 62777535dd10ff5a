import { describe, expect, test } from 'vitest'
import { networks } from '../../networks/index.ts'
import { resolveNetwork } from '../core/domain/network.ts'
import {
  fixedInclusionMsOf,
  guardDefaults,
  requiredConfirmations,
  requiredFinalityTag,
  stuckAfterMs,
  tierUsd,
} from './settings.ts'

const USD = 10n ** 12n

describe('what a deposit waits for', () => {
  test.each([
    [1_000n * USD, 12],
    [1_000n * USD + 1n, 24],
    [50_000n * USD, 24],
    [50_000n * USD + 1n, 48],
    [null, 48],
  ])('is the tier of its value: %s', (usd, confirmations) => {
    expect(requiredConfirmations(12, 96, usd)).toBe(confirmations)
  })

  test('is never deeper than what the network calls final, nor less than its own depth', () => {
    expect(requiredConfirmations(12, 30, null)).toBe(30)
    expect(requiredConfirmations(12, 6, 0n)).toBe(12)
  })

  test('M15: is the tier of a tenth of what its partner has in flight, if that is more', () => {
    expect(tierUsd(999n, 9_990n, 10)).toBe(999n)
    expect(tierUsd(999n, 20_000n, 10)).toBe(2_000n)
    expect(tierUsd(999n, 20_000n, 4)).toBe(5_000n)
    expect(tierUsd(null, 20_000n, 10)).toBeNull()
  })

  const tiers = { safeAboveUsd: 1_000n, finalizedAboveUsd: 50_000n }
  test.each([
    [0n, null],
    [1_000n * USD, null],
    [1_000n * USD + 1n, 'safe'],
    [50_000n * USD, 'safe'],
    [50_000n * USD + 1n, 'finalized'],
    [null, 'finalized'],
  ])("is the chain's tag where its network names tiers: %s", (usd, tag) => {
    expect(requiredFinalityTag(tiers, usd)).toBe(tag)
    expect(requiredFinalityTag({}, usd)).toBeNull()
    expect(requiredFinalityTag(undefined, usd)).toBeNull()
    expect(requiredFinalityTag({ safeAboveUsd: 1_000n }, usd)).toBe(tag === null ? null : 'safe')
  })

  test('M15: is a tag on the second layers in production, and nowhere in the sandbox', () => {
    const tagged = (environment: 'production' | 'sandbox') =>
      networks
        .filter((definition) => requiredFinalityTag(resolveNetwork(definition, environment).evm, null) !== null)
        .map(({ id }) => id)
        .sort()
    expect(tagged('production')).toEqual(['arbitrum', 'base', 'celo', 'linea', 'op', 'uni'])
    expect(tagged('sandbox')).toEqual([])
  })
})

test('M1: a payment has three block intervals to get into a block, at least 5 and at most 60 minutes', () => {
  const minutesOf = (id: string) => {
    const [definition] = networks.filter((network) => network.id === id)
    return (
      definition && fixedInclusionMsOf(guardDefaults, resolveNetwork(definition, 'production').blockTimeMs) / 60_000
    )
  }
  expect(['btc', 'ltc', 'xmr', 'doge', 'eth'].map(minutesOf)).toEqual([30, 7.5, 6, 5, 5])
  expect(fixedInclusionMsOf(guardDefaults, 40 * 60_000)).toBe(3_600_000)
  expect(fixedInclusionMsOf({ ...guardDefaults, fixedInclusionMs: 1_000 }, 600_000)).toBe(1_000)
})

/* M26: bitcoin waited 200 minutes, 20 of its block intervals. */
test('M26: a transaction gets a higher fee after four block intervals on the bitcoin family, and 20 elsewhere', () => {
  const minutes = Object.fromEntries(
    networks
      .filter(({ id }) => ['btc', 'ltc', 'doge', 'eth'].includes(id))
      .map((network) => [network.id, stuckAfterMs(resolveNetwork(network, 'production'), 60_000) / 60_000]),
  )
  expect(minutes).toEqual({ btc: 40, ltc: 10, doge: 4, eth: 4 })
  const [btc] = networks.filter(({ id }) => id === 'btc').map((network) => resolveNetwork(network, 'production'))
  expect(btc && stuckAfterMs(btc, 3_600_000)).toBe(3_600_000)
})
