import { describe, expect, test } from 'vitest'
import type { Currency } from '../../core/domain/currency.ts'
import { makeBook, makeCurrency, NOW, price } from '../domain/pricing.fixture.ts'
import type { PrivateType } from '../domain/private-plan.ts'
import type { Chain } from '../ports/chain.ts'
import { createBookSnapshot } from './book-snapshot.ts'
import { type ChooseIntermediary, createChooseIntermediary, createQuotePrivate } from './choose-intermediary.ts'

const btc = makeCurrency('btc', 'btc', { dustUnits: 546n })
const ltc = makeCurrency('ltc', 'ltc', { dustUnits: 546n })
const xmr = makeCurrency('xmr', 'xmr', { dustUnits: 1n })
const eth = makeCurrency('eth', 'eth', { decimals: 18 })
const arb = makeCurrency('eth', 'arbitrum', { decimals: 18, priceKey: 'eth' })
const usdt = makeCurrency('usdt', 'ltc2', { contract: '0x1', assetClass: 'stable' })
const partner = {
  id: 'p',
  name: 'p',
  feeBps: 0,
  suspended: false,
  openExchangesMax: 1,
  rateLimitPerMinute: 1,
  strict: false,
  refundToSender: false,
  defaultRecipients: new Map(),
}
const AMOUNT = 10n ** 8n

const fee = (native: Currency, units: bigint) => ({ native, units: { [native.asset.id]: units } })
const parts = {
  prices: Object.fromEntries(['btc', 'ltc', 'xmr', 'eth', 'usdt'].map((key) => [key, price('100', '100')])),
  fees: {
    btc: fee(btc, 1_000n),
    ltc: fee(ltc, 1_000n),
    xmr: fee(xmr, 100_000n),
    eth: fee(eth, 10n ** 13n),
    arbitrum: fee(arb, 10n ** 10n),
    ltc2: { native: makeCurrency('x', 'ltc2', { priceKey: 'eth' }), units: { 'usdt@ltc2': 1n } },
  },
  reserves: Object.fromEntries(
    ['btc@btc', 'ltc@ltc', 'xmr@xmr', 'eth@eth', 'eth@arbitrum', 'usdt@ltc2'].map((id) => [id, 10n ** 24n]),
  ),
}

/** Ethereum and Arbitrum share a wallet. */
const wallets: Record<string, string> = { btc: 'b', ltc: 'l', xmr: 'm', eth: '0xours', arbitrum: '0xours', ltc2: 'z' }
const chains = new Map(
  Object.entries(wallets).map(([id, hot]) => [id, { addresses: { hot: () => hot } } as unknown as Chain]),
)

function chooser(currencies: readonly Currency[], changed: Partial<typeof parts> = {}, payoutMaxPpm = 0, feeBps = 0) {
  const books = createBookSnapshot(makeBook({ ...parts, ...changed }))
  const clock = { now: () => NOW, databaseNow: () => NOW }
  const privacy = { delayMaxMs: 60_000, withheldMaxPpm: 1, payoutMaxPpm, stallMs: 1 }
  const find = createChooseIntermediary({ currencies, books, clock, chains, privacy })
  return (from: Currency, to: Currency, type: PrivateType = 'efficient') =>
    find({ ...partner, feeBps }, { from, to }, type, AMOUNT)
}
const all = [btc, ltc, xmr, eth, arb, usdt]
const refused = (code: string) => expect.objectContaining({ code })

describe('chooseIntermediary', () => {
  test('chooses the cheapest and returns the result of every candidate', () => {
    const { via, considered, seconds } = chooser(all)(btc, eth)
    expect(via.asset.id).toBe('ltc@ltc')
    const reasons = new Map(considered.map((one) => [one.assetId, 'refused' in one ? one.refused : 'priced']))
    expect(Object.fromEntries(reasons)).toEqual({
      'btc@btc': 'SAME_NETWORK',
      'ltc@ltc': 'priced',
      'xmr@xmr': 'priced',
      'eth@eth': 'SAME_NETWORK',
      'eth@arbitrum': 'SAME_WALLET',
    })
    // $100: three times two confirmations and the including block, at a second each; and two mean delays of 30 s.
    expect(seconds).toBe(9 + 60)
  })

  test('excludes the networks and wallets of source and target', () => {
    expect(() => chooser([btc, eth, arb])(btc, eth)).toThrow(refused('PAIR_UNAVAILABLE'))
    expect(chooser(all)(ltc, eth).via.asset.id).not.toBe('ltc@ltc')
    expect(() => chooser(all)(eth, arb)).toThrow(refused('PAIR_UNAVAILABLE'))
  })

  test('excludes tokens and disabled currencies', () => {
    expect(() => chooser([btc, eth, usdt])(btc, eth)).toThrow(refused('PAIR_UNAVAILABLE'))
    expect(() => chooser([btc, eth, { ...ltc, enabled: false }])(btc, eth)).toThrow(refused('PAIR_UNAVAILABLE'))
  })

  test('uses only Monero for privatePlus and throws without it', () => {
    expect(chooser(all)(btc, eth, 'privatePlus').via.asset.id).toBe('xmr@xmr')
    for (const currencies of [
      [btc, ltc, eth],
      [btc, ltc, eth, { ...xmr, enabled: false }],
    ])
      expect(() => chooser(currencies)(btc, eth, 'privatePlus')).toThrow(refused('PAIR_UNAVAILABLE'))
    expect(() => chooser(all)(xmr, eth, 'privatePlus')).toThrow(refused('PAIR_UNAVAILABLE'))
    expect(chooser(all)(xmr, eth).via.asset.id).toBe('btc@btc')
  })

  test('excludes networks with memos', () => {
    for (const memo of ['optional', 'required'] as const) {
      const shared = { ...ltc, network: { ...ltc.network, memo } }
      const { via, considered } = chooser([btc, shared, xmr, eth])(btc, eth)
      expect(via.asset.id).toBe('xmr@xmr')
      expect(considered.map(({ assetId }) => assetId)).not.toContain('ltc@ltc')
      expect(() => chooser([btc, shared, eth])(btc, eth)).toThrow(refused('PAIR_UNAVAILABLE'))
    }
  })

  test('charges the partner fee once, on the second leg', () => {
    const { quote } = chooser([btc, ltc, eth], {}, 0, 100)(btc, eth)
    // 1 BTC − 0.4 % − 0.00001 = 0.99599 LTC; − 0.4 % = 0.99200604 ETH; 1 % of it is the partner's; − 0.00001.
    const partnerUnits = 9_920_060_400_000_000n
    expect(quote.fees.partnerUnits).toBe(partnerUnits)
    expect(quote.toUnits).toBe(992_006_040_000_000_000n - partnerUnits - 10n ** 13n)
  })

  test('lowers the maximum if a payout may exceed its estimate', () => {
    const maxUnits = (payoutMaxPpm: number) => {
      const reserves = { ...parts.reserves, 'eth@eth': 10n ** 18n }
      return chooser(all, { reserves }, payoutMaxPpm)(btc, eth).quote.maxUnits ?? 0n
    }
    // By about 2 % of the second leg, whose network fee is charged once.
    const percent = Number((maxUnits(20_000) * 10_000n) / maxUnits(0)) / 100
    expect(percent).toBeCloseTo(98.1, 0)
  })

  test('excludes an intermediary whose maximum is below its minimum', () => {
    // The Litecoin reserve pays 1 500 units, and the second leg needs 2 000.
    const reserves = { ...parts.reserves, 'ltc@ltc': 2_500n }
    expect(() => chooser([btc, ltc, eth], { reserves })(btc, eth)).toThrow(refused('PAIR_UNAVAILABLE'))
    const { via, considered } = chooser(all, { reserves })(btc, eth)
    expect(via.asset.id).toBe('xmr@xmr')
    expect(considered).toContainEqual({ assetId: 'ltc@ltc', refused: 'INSUFFICIENT_LIQUIDITY' })
  })

  test('skips an intermediary without reserve, and reports a network that does not answer', () => {
    const reserves = { ...parts.reserves, 'ltc@ltc': 0n }
    expect(chooser(all, { reserves })(btc, eth).via.asset.id).toBe('xmr@xmr')
    const { ltc: _removed, ...fees } = parts.fees
    expect(() => chooser([btc, ltc, eth], { fees: fees as typeof parts.fees })(btc, eth)).toThrow(
      refused('NETWORK_UNAVAILABLE'),
    )
  })
})

describe('quotePrivate', () => {
  const monero: Currency = { ...xmr, network: { ...xmr.network, family: 'monero' } }
  const currencies = [btc, ltc, monero, eth]
  const catalogue = { find: (ticker: string) => currencies.find(({ asset }) => asset.ticker === ticker) ?? null }
  const request = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth', amount: '1' }

  test('names the intermediary and tells whether its payments are public', () => {
    const choose = chooser(currencies)
    const chooseAny: ChooseIntermediary = (_partner, { from, to }, type) => choose(from, to, type)
    const quote = createQuotePrivate(catalogue, { from: chooseAny, to: chooseAny })
    const quoteThrough = (privateType: PrivateType) => quote(partner, { ...request, privateType }).intermediary
    expect(quoteThrough('efficient')).toEqual({ asset: ltc.asset, isTransparent: true })
    expect(quoteThrough('privatePlus')).toEqual({ asset: monero.asset, isTransparent: false })
  })
})
