import { describe, expect, test } from 'vitest'
import type { Currency } from '../../core/domain/currency.ts'
import { makeBook, makeCurrency, NOW, price } from '../domain/pricing.fixture.ts'
import type { PrivateType } from '../domain/private-plan.ts'
import type { Chain } from '../ports/chain.ts'
import { createBookSnapshot } from './book-snapshot.ts'
import { createChooseIntermediary } from './choose-intermediary.ts'

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
  defaultRecipients: new Map(),
}
const COIN = 10n ** 8n

const fee = (coin: Currency, units: bigint) => ({ coin, units: { [coin.asset.id]: units } })
const parts = {
  prices: Object.fromEntries(['btc', 'ltc', 'xmr', 'eth', 'usdt'].map((key) => [key, price('100', '100')])),
  fees: {
    btc: fee(btc, 1_000n),
    ltc: fee(ltc, 1_000n),
    xmr: fee(xmr, 100_000n),
    eth: fee(eth, 10n ** 13n),
    arbitrum: fee(arb, 10n ** 10n),
    ltc2: { coin: makeCurrency('x', 'ltc2', { priceKey: 'eth' }), units: { 'usdt@ltc2': 1n } },
  },
  reserves: Object.fromEntries(
    ['btc@btc', 'ltc@ltc', 'xmr@xmr', 'eth@eth', 'eth@arbitrum', 'usdt@ltc2'].map((id) => [id, 10n ** 24n]),
  ),
}

/** As if two networks had one key. */
const wallets: Record<string, string> = { btc: 'b', ltc: 'l', xmr: 'm', eth: '0xours', arbitrum: '0xours', ltc2: 'z' }
const chains = new Map(
  Object.entries(wallets).map(([id, hot]) => [id, { addresses: { hot: () => hot } } as unknown as Chain]),
)

function ways(currencies: readonly Currency[], changed: Partial<typeof parts> = {}, payoutMaxPpm = 0, feeBps = 0) {
  const books = createBookSnapshot(makeBook({ ...parts, ...changed }))
  const clock = { now: () => NOW, databaseNow: () => NOW }
  const privacy = { delayMaxMs: 60_000, withheldMaxPpm: 1, payoutMaxPpm, stallMs: 1 }
  const find = createChooseIntermediary({ currencies, books, clock, chains, privacy })
  return (from: Currency, to: Currency, type: PrivateType = 'efficient') =>
    find({ ...partner, feeBps }, { from, to }, type, COIN)
}
const all = [btc, ltc, xmr, eth, arb, usdt]
const refused = (code: string) => expect.objectContaining({ code })

describe('the way of a private exchange', () => {
  test('is the cheapest, and says of every other what it would have been or why it could not', () => {
    const { via, considered, seconds } = ways(all)(btc, eth)
    expect(via.asset.id).toBe('ltc@ltc')
    const reasons = new Map(considered.map((one) => [one.assetId, 'refused' in one ? one.refused : 'priced']))
    expect(Object.fromEntries(reasons)).toEqual({
      'btc@btc': 'SAME_NETWORK',
      'ltc@ltc': 'priced',
      'xmr@xmr': 'priced',
      'eth@eth': 'SAME_NETWORK',
      'eth@arbitrum': 'SAME_WALLET',
    })
    // $100: two confirmations and the block itself, three times at a second each, and both waits of half a minute.
    expect(seconds).toBe(9 + 60)
  })

  test('is never through the source or the target, nor through a wallet of theirs', () => {
    expect(() => ways([btc, eth, arb])(btc, eth)).toThrow(refused('PAIR_UNAVAILABLE'))
    expect(ways(all)(ltc, eth).via.asset.id).not.toBe('ltc@ltc')
    expect(() => ways(all)(eth, arb)).toThrow(refused('PAIR_UNAVAILABLE'))
  })

  test('is never through a token, nor through what is off', () => {
    expect(() => ways([btc, eth, usdt])(btc, eth)).toThrow(refused('PAIR_UNAVAILABLE'))
    expect(() => ways([btc, eth, { ...ltc, enabled: false }])(btc, eth)).toThrow(refused('PAIR_UNAVAILABLE'))
  })

  test('of privatePlus is monero’s alone, and refused clearly without it', () => {
    expect(ways(all)(btc, eth, 'privatePlus').via.asset.id).toBe('xmr@xmr')
    for (const currencies of [
      [btc, ltc, eth],
      [btc, ltc, eth, { ...xmr, enabled: false }],
    ])
      expect(() => ways(currencies)(btc, eth, 'privatePlus')).toThrow(refused('PAIR_UNAVAILABLE'))
    expect(() => ways(all)(xmr, eth, 'privatePlus')).toThrow(refused('PAIR_UNAVAILABLE'))
    expect(ways(all)(xmr, eth).via.asset.id).toBe('btc@btc')
  })

  test('is never through a network whose addresses are told apart by memos', () => {
    for (const memo of ['optional', 'required'] as const) {
      const shared = { ...ltc, network: { ...ltc.network, memo } }
      const { via, considered } = ways([btc, shared, xmr, eth])(btc, eth)
      expect(via.asset.id).toBe('xmr@xmr')
      expect(considered.map(({ assetId }) => assetId)).not.toContain('ltc@ltc')
      expect(() => ways([btc, shared, eth])(btc, eth)).toThrow(refused('PAIR_UNAVAILABLE'))
    }
  })

  test('bears the partner’s fee once, on the second leg', () => {
    const { quote } = ways([btc, ltc, eth], {}, 0, 100)(btc, eth)
    // 1 BTC − 0.4 % − 0.00001 = 0.99599 LTC; − 0.4 % = 0.99200604 ETH; 1 % of it is the partner's; − 0.00001.
    const partnerUnits = 9_920_060_400_000_000n
    expect(quote.fees.partnerUnits).toBe(partnerUnits)
    expect(quote.toUnits).toBe(992_006_040_000_000_000n - partnerUnits - 10n ** 13n)
  })

  test('takes less at most where a payout may be above its estimate', () => {
    const most = (payoutMaxPpm: number) => {
      const reserves = { ...parts.reserves, 'eth@eth': 10n ** 18n }
      return ways(all, { reserves }, payoutMaxPpm)(btc, eth).quote.maxUnits ?? 0n
    }
    // By two per cent of what the second leg takes, whose fee is taken once.
    const percent = Number((most(20_000) * 10_000n) / most(0)) / 100
    expect(percent).toBeCloseTo(98.1, 0)
  })

  test('is none where the most that a reserve covers is less than the least that pays', () => {
    // Litecoin pays out 1 500, and what comes to less than 2 000 cannot go on.
    const reserves = { ...parts.reserves, 'ltc@ltc': 2_500n }
    expect(() => ways([btc, ltc, eth], { reserves })(btc, eth)).toThrow(refused('PAIR_UNAVAILABLE'))
    const { via, considered } = ways(all, { reserves })(btc, eth)
    expect(via.asset.id).toBe('xmr@xmr')
    expect(considered).toContainEqual({ assetId: 'ltc@ltc', refused: 'INSUFFICIENT_LIQUIDITY' })
  })

  test('goes by another where one has no reserve, and says what is only unreachable for now', () => {
    const reserves = { ...parts.reserves, 'ltc@ltc': 0n }
    expect(ways(all, { reserves })(btc, eth).via.asset.id).toBe('xmr@xmr')
    const { ltc: _gone, ...fees } = parts.fees
    expect(() => ways([btc, ltc, eth], { fees: fees as typeof parts.fees })(btc, eth)).toThrow(
      refused('NETWORK_UNAVAILABLE'),
    )
  })
})
