import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isBuildServer } from '../../../../test/support/build-server.ts'
import type { AssetId } from '../../core/domain/asset.ts'
import type { Book } from '../../core/domain/book.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { present } from '../../lib/assert.ts'
import { escapeXml, renderFeed } from './feed.ts'
import { book, bookParts, btc, eth, makeBook, makeCurrency, NOW, price, shib, usdt } from './pricing.fixture.ts'
import { pricePair, quoteUnits } from './pricing.ts'

const codes = new Map<AssetId, string>([
  ['btc@btc', 'BTC'],
  ['eth@eth', 'ETH'],
  ['usdt@eth', 'USDTERC20'],
  ['shib@eth', 'SHIBERC20'],
])

function render(currencies: readonly Currency[], from: Book = book, names = codes, now = NOW): string {
  return [...renderFeed({ book: from, currencies, codes: names, now })].map(({ text }) => text).join('')
}

type Item = Partial<Record<'from' | 'to' | 'in' | 'out' | 'amount' | 'minamount' | 'maxamount' | 'param', string>>
function items(xml: string): Item[] {
  return xml
    .split('\n')
    .filter((line) => line.startsWith('<item>'))
    .map((line) =>
      Object.fromEntries([...line.matchAll(/<(\w+)>([^<]*)<\/\1>/g)].map(([, name, text]) => [name, text])),
    )
}

/** '12.5' → scaled by 10^18, by text. */
const scaled = (text = '') => BigInt(text.replace(/^(\d+)\.?(\d*)$/, (_, whole, rest) => whole + rest.padEnd(18, '0')))

describe('renderFeed', () => {
  it('renders the expected document', () => {
    // No spread, so every figure can be computed by hand.
    const plain: Book = {
      ...makeBook({
        prices: { btc: price('64000', '64000'), usdt: price('1', '1') },
        fees: {
          btc: { native: btc, units: { 'btc@btc': 10n } },
          eth: { native: usdt, units: { 'usdt@eth': 1_280_000n } },
        },
        reserves: { 'btc@btc': 280_000_010n, 'usdt@eth': 182_035_400_000n },
      }),
      spreads: { bps: { stable: 0, major: 0, minor: 0 }, fixedRateExtraBps: 0 },
    }
    // BTC → USDT for $300 = 0.0046875 BTC: 300 − 1.28 = 298.72 USDT, 63726.933333… per BTC. Min: 2 × 1.28 USDT =
    // 0.00004 BTC, above the refund's dust (546 + 10). Max: 182 035.40 USDT less a fee of 1.28, in BTC.
    // USDT → BTC: 300 USDT = 0.0046875 − 0.0000001 BTC, 0.000015624666… per USDT. Min: 546 + 10 satoshi = 0.35584
    // USDT, below the refund's 2.56. Max: 2.8 BTC and the fee = 179 200.0064 USDT, rounded down.
    expect(render([btc, usdt], plain)).toBe(
      [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<rates>',
        '<item><from>BTC</from><to>USDTERC20</to><in>1</in><out>63726.933</out><amount>182034.12</amount>' +
          '<minamount>0.00004</minamount><maxamount>2.8443031</maxamount><param>floating</param></item>',
        '<item><from>USDTERC20</from><to>BTC</to><in>1</in><out>0.000015624666</out><amount>2.8</amount>' +
          '<minamount>2.56</minamount><maxamount>179200</maxamount><param>floating</param></item>',
        '</rates>',
        '',
      ].join('\n'),
    )
  })

  it('states `in` for an `out` of 1 if `out` would be below 0.000001', () => {
    const [btcToShib, shibToBtc] = items(render([btc, shib]))
    expect(btcToShib).toMatchObject({ from: 'BTC', to: 'SHIBERC20', in: '1' })
    expect(scaled(btcToShib?.out)).toBeGreaterThan(9n * 10n ** 27n)
    expect(shibToBtc).toMatchObject({ from: 'SHIBERC20', to: 'BTC', out: '1' })
    // 100 010 ÷ 0.00000999 = 10 011 011 011 SHIB per BTC, 0.8 % spread, and the fee of $1.5 in $300.
    expect(scaled(shibToBtc?.in)).toBeGreaterThan(10_011_011_011n * 10n ** 18n)
    expect(scaled(shibToBtc?.in)).toBeLessThan(10_200_000_000n * 10n ** 18n)
  })

  it('has plain decimals only, and each direction once', () => {
    const all = items(render([btc, eth, usdt, shib]))
    expect(all).toHaveLength(12)
    expect(new Set(all.map(({ from, to }) => `${from}>${to}`)).size).toBe(12)
    for (const { from, to, param, ...figures } of all) {
      expect(param).toBe('floating')
      expect(from).not.toBe(to)
      for (const text of Object.values(figures)) expect(text).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/)
    }
  })

  it('contains only directions that can be exchanged now', () => {
    const all = [btc, eth, usdt, shib]
    const pairs = (xml: string) => items(xml).map(({ from, to }) => `${from}>${to}`)
    const closed = makeCurrency('btc', 'btc', { enabled: false, dustUnits: 546n })
    expect(pairs(render([closed, eth, usdt]))).toEqual(['ETH>USDTERC20', 'USDTERC20>ETH'])
    const paused = (networks: string[], assets: AssetId[]) =>
      render(all, { ...book, pauses: { networks: new Set(networks), assets: new Set(assets) } })
    expect(pairs(paused(['eth'], []))).toEqual([])
    expect(pairs(paused(['btc'], ['shib@eth']))).toEqual(['ETH>USDTERC20', 'USDTERC20>ETH'])
    const dry = makeBook({
      ...bookParts,
      reserves: { 'btc@btc': 500_000_000n, 'usdt@eth': 2_000_000n, 'eth@eth': 10n ** 20n },
    })
    expect(pairs(render([btc, usdt, shib], dry))).toEqual(['USDTERC20>BTC', 'SHIBERC20>BTC'])
    expect(pairs(render(all, book, codes, NOW + 30_001))).toEqual([])
    const { btc: _, ...withoutBtc } = bookParts.prices
    expect(pairs(render([btc, usdt, eth], makeBook({ ...bookParts, prices: withoutBtc })))).toEqual([
      'USDTERC20>ETH',
      'ETH>USDTERC20',
    ])
  })

  it('states no better rate than a create pays (I-30)', () => {
    const level = fc.bigInt({ min: 10n ** 3n, max: 10n ** 17n })
    const decimals = fc.integer({ min: 0, max: 18 })
    const fee = fc.bigInt({ min: 0n, max: 10n ** 10n })
    let accepted = 0
    fc.assert(
      fc.property(
        level,
        level,
        decimals,
        decimals,
        fee,
        fee,
        fc.bigInt({ min: 1n, max: 10n ** 36n }),
        (a, b, da, db, fa, fb, reserve) => {
          const from = makeCurrency('aaa', 'one', { decimals: da })
          const to = makeCurrency('bbb', 'two', { decimals: db })
          const made = makeBook({
            prices: { aaa: { bid: a, ask: a + 5n }, bbb: { bid: b, ask: b + 7n } },
            fees: { one: { native: from, units: { 'aaa@one': fa } }, two: { native: to, units: { 'bbb@two': fb } } },
            reserves: { 'aaa@one': 0n, 'bbb@two': reserve },
          })
          const names = new Map<AssetId, string>([
            ['aaa@one', 'A'],
            ['bbb@two', 'B'],
          ])
          const [item] = items(render([from, to], made, names))
          if (item === undefined) return
          accepted += 1
          const pricing = pricePair(made, { from, to, flow: 'standard', partnerFeeBps: 0 }, NOW)
          const min = scaled(item.minamount) / 10n ** BigInt(18 - da)
          const max = scaled(item.maxamount) / 10n ** BigInt(18 - da)
          expect(quoteUnits(pricing, min).withinBounds).toBe(true)
          if (max > 0n && max >= min) expect(quoteUnits(pricing, max).withinBounds).toBe(true)
          expect(scaled(item.amount) / 10n ** BigInt(18 - db)).toBeLessThanOrEqual(reserve)
          // At $300 of the mid price, or at min or max if that is outside, a quote pays what `in` and `out` state.
          const standard = (300n * 10n ** BigInt(12 + da)) / (a + 2n)
          const atLeast = standard > pricing.minUnits ? standard : pricing.minUnits
          const size = pricing.maxUnits !== null && atLeast > pricing.maxUnits ? pricing.maxUnits : atLeast
          const { fromUnits, toUnits } = quoteUnits(pricing, size)
          const stated = fromUnits * 10n ** BigInt(db) * scaled(item.out)
          expect(stated).toBeLessThanOrEqual(toUnits * 10n ** BigInt(da) * scaled(item.in))
        },
      ),
      { numRuns: 3_000 },
    )
    expect(accepted).toBeGreaterThan(500)
  })
})

describe('escapeXml', () => {
  const hostile = [
    'A&B<C>"D\'',
    '</from><from>BTC',
    ']]>',
    '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>&e;',
    'nul\u0000bell\u0007escape\u001b\u000b',
    'lone\ud800 and \udfff surrogates',
    'not characters \ufffe\uffff',
    'fine: tab\t, é, 漢, 😀, \u0085',
    '<!-- -- -->',
  ]

  it('escapes special characters and drops illegal ones', () => {
    expect(escapeXml('A&B<C>"D\'')).toBe('A&amp;B&lt;C&gt;&quot;D&apos;')
    expect(escapeXml('a\u0000b\u0007c\ud800d\udfffe\ufffef\uffffg')).toBe('abcdefg')
    expect(escapeXml('tab\t😀漢')).toBe('tab\t😀漢')
  })

  const parser = [
    ['xmllint', ['--noout', '--nonet', '-']],
    ['python3', ['-c', 'import sys,xml.parsers.expat as e;e.ParserCreate().Parse(sys.stdin.buffer.read(),True)']],
  ].find(([command]) => spawnSync(command as string, ['--version']).status === 0) as [string, string[]] | undefined

  it.skipIf(parser === undefined && !isBuildServer)(
    'gives well-formed XML for any feed code, by a strict parser (B118)',
    () => {
      const [command, parameters] = present(parser, 'xmllint or python3')
      const parse = (xml: string) => spawnSync(command, parameters, { input: xml, timeout: 20_000 }).status
      expect(parse('<a>&</a>')).not.toBe(0)
      const names = new Map<AssetId, string>([['btc@btc', hostile.join(' ')]])
      for (const [index, text] of hostile.entries()) {
        names.set('usdt@eth', `${text}${index}`)
        expect(parse(render([btc, usdt], book, names)), text).toBe(0)
      }
      expect(parse(render([]))).toBe(0)
    },
  )
})
