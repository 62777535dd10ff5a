import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Account } from './chart.ts'
import { type JournalEntry, journalEntry, reversalOf } from './journal.ts'

const account = fc.constantFrom<Account>(
  'asset:wallet',
  'asset:outgoing',
  'liability:exchange:1',
  'income:spread',
  'equity:inventory',
)
const posting = fc
  .record({
    debit: account,
    credit: account,
    assetId: fc.constantFrom('btc@btc' as const, 'eth@eth' as const),
    units: fc.bigInt({ min: 0n, max: 10n ** 77n }),
  })
  .filter(({ debit, credit }) => debit !== credit)
const entry = fc.array(posting, { maxLength: 12 }).map((postings) => journalEntry('an event', 'event', null, postings))

/** Debits less credits, by account and asset. */
function balancesOf(...entries: readonly JournalEntry[]): Map<string, bigint> {
  const balances = new Map<string, bigint>()
  const add = (name: string, units: bigint) => balances.set(name, (balances.get(name) ?? 0n) + units)
  for (const { debit, credit, assetId, units } of entries.flatMap(({ postings }) => postings)) {
    add(`${debit} ${assetId}`, units)
    add(`${credit} ${assetId}`, -units)
  }
  return balances
}

describe('journalEntry', () => {
  test('is balanced in every asset for any postings', () => {
    fc.assert(
      fc.property(entry, (one) => {
        const byAsset = new Map<string, bigint>()
        for (const [name, units] of balancesOf(one)) {
          const asset = name.split(' ')[1] ?? ''
          byAsset.set(asset, (byAsset.get(asset) ?? 0n) + units)
        }
        for (const sum of byAsset.values()) expect(sum).toBe(0n)
      }),
    )
  })

  test('drops zero postings', () => {
    fc.assert(fc.property(entry, ({ postings }) => postings.every(({ units }) => units > 0n)))
  })

  test('rejects negative postings and postings to the same account', () => {
    const posting = { debit: 'asset:wallet', credit: 'income:spread', assetId: 'btc@btc' } as const
    expect(() => journalEntry('x', 'event', null, [{ ...posting, units: -1n }])).toThrow('posting of x')
    expect(() => journalEntry('x', 'event', null, [{ ...posting, credit: 'asset:wallet', units: 1n }])).toThrow(
      'posting of x',
    )
  })

  test('cancels with its reversal', () => {
    fc.assert(
      fc.property(entry, (one) => {
        for (const units of balancesOf(one, reversalOf(one, 'reversal', 'reversed')).values()) expect(units).toBe(0n)
      }),
    )
  })
})
