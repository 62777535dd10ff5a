import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AssetId } from '../asset.ts'
import {
  conversionEntry,
  conversionId,
  conversionReversalEntry,
  depositEntry,
  depositLossEntry,
  depositLossReversalEntry,
  depositRecoveryEntry,
  depositReversalEntry,
  dustEntry,
  exchangeAccount,
  feePaidEntry,
  fundingEntry,
  invalidatedEntry,
  networkFeeEntry,
  type Outgoing,
  partnerAccount,
  refundFeeEntry,
  sentEntry,
  signedEntry,
  swapFeeEntry,
  swapFeeFinalEntry,
  swapFeeReversalEntry,
  toPartnerEntry,
  unclaimedEntry,
} from './entries.ts'
import type { JournalEntry } from './journal.ts'

const exchangeId = 'b2c6ad4e-0a5f-7d1e-9d53-6a6b4f1e2d10'
const units = fc.bigInt({ min: 1n, max: 10n ** 30n })
const location = fc.constantFrom('wallet' as const, 'deposits' as const)
const deposit = fc
  .record({ units, location })
  .map((one) => ({ ...one, depositId: '7', credits: 1, exchangeId, assetId: 'btc@btc' as AssetId }))
const conversion = fc.record({
  give: units,
  due: units,
  /** Below zero: a loss. */
  spread: fc.bigInt({ min: -(10n ** 28n), max: 10n ** 28n }),
  partner: fc.bigInt({ min: 0n, max: 10n ** 28n }),
  network: fc.bigInt({ min: 0n, max: 10n ** 28n }),
})

function balance(account: string, assetId: string, entries: readonly JournalEntry[]): bigint {
  const of = (side: 'debit' | 'credit') =>
    entries
      .flatMap(({ postings }) => postings)
      .filter((one) => one[side] === account && one.assetId === assetId)
      .reduce((sum, one) => sum + one.units, 0n)
  return of('debit') - of('credit')
}

const owed = (assetId: string, ...entries: readonly JournalEntry[]) =>
  -balance(exchangeAccount(exchangeId), assetId, entries)

type Parts = { give: bigint; due: bigint; spread: bigint; partner: bigint; network: bigint }
const convert = ({ give, due, spread, partner, network }: Parts) =>
  conversionEntry({
    orderId: 'order',
    exchangeId,
    partnerId: 'p',
    give: { assetId: 'btc@btc', units: give },
    take: { assetId: 'eth@eth', dueUnits: due, spreadUnits: spread, partnerUnits: partner, networkUnits: network },
  })

const outgoing = (purpose: Outgoing['purpose'], amount: bigint, assetId: AssetId = 'eth@eth'): Outgoing => ({
  payoutId: 'payout',
  transactionId: 'transaction',
  purpose,
  exchangeId: purpose === 'payout' || purpose === 'refund' ? exchangeId : null,
  partnerId: purpose === 'withdrawal' ? 'p' : null,
  assetId,
  units: amount,
})

describe('a conversion', () => {
  test('is cancelled with each part of its fee that was paid out as a loss', () => {
    fc.assert(
      fc.property(conversion, fc.bigInt({ min: 0n, max: 100n }), (parts, percent) => {
        const entry = convert(parts)
        const lostUnits = (parts.partner * percent) / 100n
        const entries = [entry, conversionReversalEntry(entry, 'p', lostUnits)]
        for (const { debit, credit, assetId } of entry.postings)
          for (const account of [debit, credit])
            expect(balance(account, assetId, entries)).toBe(account === partnerAccount('p') ? -lostUnits : 0n)
        expect(balance('expense:suspense', 'eth@eth', entries)).toBe(lostUnits)
      }),
    )
  })

  test('conserves both assets and replaces the deposit by the amount due', () => {
    fc.assert(
      fc.property(conversion, (parts) => {
        const entries = [
          depositEntry({
            depositId: '7',
            credits: 1,
            exchangeId,
            assetId: 'btc@btc',
            units: parts.give,
            location: 'wallet',
          }),
          convert(parts),
        ]
        expect(owed('btc@btc', ...entries)).toBe(0n)
        expect(owed('eth@eth', ...entries)).toBe(parts.due)
        expect(balance('equity:inventory', 'btc@btc', entries)).toBe(-parts.give)
        expect(balance('equity:inventory', 'eth@eth', entries)).toBe(
          parts.due + parts.spread + parts.partner + parts.network,
        )
        expect(balance('income:spread', 'eth@eth', entries)).toBe(-parts.spread)
        expect(balance(partnerAccount('p'), 'eth@eth', entries)).toBe(-parts.partner)
      }),
    )
  })

  test('has an id derived from its order', () => {
    expect(convert({ give: 1n, due: 1n, spread: 0n, partner: 0n, network: 0n }).id).toBe(conversionId('order'))
  })
})

describe('a closed exchange owes nothing', () => {
  test('after a payout to the recipient', () => {
    fc.assert(
      fc.property(conversion, (parts) => {
        const entries = [
          depositEntry({
            depositId: '7',
            credits: 1,
            exchangeId,
            assetId: 'btc@btc',
            units: parts.give,
            location: 'deposits',
          }),
          convert(parts),
          signedEntry(outgoing('payout', parts.due)),
          sentEntry(outgoing('payout', parts.due)),
        ]
        expect([owed('btc@btc', ...entries), owed('eth@eth', ...entries)]).toEqual([0n, 0n])
        expect(balance('asset:outgoing', 'eth@eth', entries)).toBe(0n)
        expect(balance('asset:wallet', 'eth@eth', entries)).toBe(-parts.due)
      }),
    )
  })

  test('after a credit to the partner, a refund, dust or an unclaimed deposit', () => {
    fc.assert(
      fc.property(deposit, fc.bigInt({ min: 0n, max: 10n ** 30n }), (credit, fee) => {
        fc.pre(fee < credit.units)
        const received = depositEntry(credit)
        const refund = outgoing('refund', credit.units - fee, 'btc@btc')
        const closings = [
          [toPartnerEntry('x', exchangeId, 'p', 'btc@btc', credit.units)],
          [refundFeeEntry('payout', exchangeId, 'btc@btc', fee), signedEntry(refund), sentEntry(refund)],
          [dustEntry('x', exchangeId, 'btc@btc', credit.units)],
          [unclaimedEntry('x', exchangeId, 'btc@btc', credit.units)],
        ]
        for (const closing of closings) expect(owed('btc@btc', received, ...closing)).toBe(0n)
      }),
    )
  })
})

describe('a reversal leaves zero balances', () => {
  const accounts = ['asset:wallet', 'asset:deposits', 'asset:outgoing', 'expense:suspense', exchangeAccount(exchangeId)]
  const isNothing = (...entries: readonly JournalEntry[]) =>
    accounts.every((account) => balance(account, 'btc@btc', entries) === 0n)

  test('for a deposit and its reversal', () => {
    fc.assert(fc.property(deposit, (credit) => isNothing(depositEntry(credit), depositReversalEntry(credit))))
  })

  test('for a loss and its recovery or reversal', () => {
    fc.assert(
      fc.property(deposit, (credit) => {
        expect(isNothing(depositLossEntry(credit), depositRecoveryEntry({ ...credit, credits: 2 }))).toBe(true)
        expect(isNothing(depositEntry(credit), depositLossEntry(credit), depositLossReversalEntry(credit))).toBe(true)
      }),
    )
  })

  test('for a signed payout that is invalidated', () => {
    const purposes = ['payout', 'refund', 'sweep', 'gas', 'withdrawal', 'split', 'consolidate'] as const
    for (const purpose of purposes) {
      const one = outgoing(purpose, 5n, 'btc@btc')
      expect(isNothing(signedEntry(one), invalidatedEntry(one)), purpose).toBe(true)
    }
  })
})

describe('a referrer fee', () => {
  const fee = fc.record({ units, bookings: fc.integer({ min: 1, max: 9 }) }).map((one) => ({
    ...{ swapId: 's', partnerId: 'p', feeTo: '0xfe', assetId: '0xaa@eth' as AssetId },
    ...one,
  }))
  const at = (account: string, ...entries: readonly JournalEntry[]) => balance(account, '0xaa@eth', entries)

  test('belongs to the partner when it is final, and is paid from the address that received it', () => {
    fc.assert(
      fc.property(fee, (one) => {
        const booked = [swapFeeEntry(one), swapFeeFinalEntry(one)]
        expect(at(partnerAccount('p'), ...booked.slice(0, 1))).toBe(0n)
        expect([at(partnerAccount('p'), ...booked), at('liability:swap:s', ...booked)]).toEqual([-one.units, 0n])
        expect(at('asset:fees:0xfe', ...booked)).toBe(one.units)
        const transfer = { network: 'eth', txHash: '0x1', from: '0xfe', to: '0xbb', partnerId: 'p' }
        const paid = [...booked, feePaidEntry({ ...transfer, assetId: one.assetId, units: one.units })]
        expect([at(partnerAccount('p'), ...paid), at('asset:fees:0xfe', ...paid)]).toEqual([0n, 0n])
      }),
    )
  })

  test('leaves zero balances after a reversal, with new ids for each booking', () => {
    fc.assert(
      fc.property(fee, (one) => {
        const reversed = [swapFeeEntry(one), swapFeeReversalEntry(one)]
        expect([at('asset:fees:0xfe', ...reversed), at('liability:swap:s', ...reversed)]).toEqual([0n, 0n])
        const all = [one, { ...one, bookings: one.bookings + 1 }].flatMap((each) => [
          swapFeeEntry(each),
          swapFeeReversalEntry(each),
          swapFeeFinalEntry(each),
        ])
        expect(new Set(all.map(({ id }) => id)).size).toBe(6)
      }),
    )
  })
})

describe('account balances', () => {
  test('move from deposits to the wallet with a sweep', () => {
    const sweep = outgoing('sweep', 90n)
    const fee = { transactionId: 'transaction', from: 'deposits', assetId: 'eth@eth' } as const
    const entries = [signedEntry(sweep), sentEntry(sweep), networkFeeEntry({ ...fee, feeUnits: 7n, leftUnits: 10n })]
    expect(balance('asset:deposits', 'eth@eth', entries)).toBe(-100n)
    expect(balance('asset:wallet', 'eth@eth', entries)).toBe(90n)
    expect(balance('expense:network-fee', 'eth@eth', entries)).toBe(7n)
    expect(balance('expense:stranded', 'eth@eth', entries)).toBe(3n)
  })

  test('count a funding as capital', () => {
    expect(balance('equity:capital', 'eth@eth', [fundingEntry('1', 1, 'eth@eth', 3n)])).toBe(-3n)
  })

  test('have different entry ids for a second credit, loss or signature', () => {
    const credit = {
      depositId: '7',
      credits: 1,
      exchangeId,
      assetId: 'btc@btc' as AssetId,
      units: 1n,
      location: 'wallet' as const,
    }
    const again = { ...credit, credits: 2 }
    const one = outgoing('payout', 1n)
    const other = { ...one, transactionId: 'another' }
    const ids = [
      depositEntry(credit),
      depositEntry(again),
      depositReversalEntry(credit),
      depositReversalEntry(again),
      depositLossEntry(credit),
      depositLossEntry(again),
      depositRecoveryEntry(again),
      depositLossReversalEntry(credit),
      signedEntry(one),
      signedEntry(other),
      invalidatedEntry(one),
      sentEntry(one),
    ].map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})
