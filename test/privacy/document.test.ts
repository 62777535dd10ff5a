import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { privacyDefaults } from '../../server/src/exchange/settings.ts'
import { figureTables } from './figure-tables.ts'
import { BTC, intermediaries } from './simulation.ts'

const page = readFileSync(new URL('../../docs/private-exchanges.md', import.meta.url), 'utf8').replaceAll('\n', ' ')
const percent = (ppm: number) => `${ppm / 10_000} %`
const numberWords = new Map([
  [6, 'six'],
  [10, 'ten'],
])

describe('docs/private-exchanges.md', () => {
  test('states the default bounds of what is random', () => {
    const { delayMaxMs, withheldMaxPpm, payoutMaxPpm, stallMs } = privacyDefaults
    expect(page).toContain(`Between ${percent(withheldMaxPpm / 10)} and ${percent(withheldMaxPpm)} of it`)
    expect(page).toContain(`a random delay of 0 to ${delayMaxMs / 60_000} minutes before each payout`)
    expect(page).toContain("| the payout's amount | nothing by default.")
    expect(payoutMaxPpm).toBe(0)
    expect(page).toContain(`refunded after ${stallMs / 3_600_000} hours (\`privacy.stall\`)`)
  })

  test('states the confirmations of the intermediaries in the model', () => {
    const { ltc, xmr } = intermediaries
    const [ofLitecoin, ofMonero] = [ltc, xmr].map(({ confirmations }) => numberWords.get(confirmations))
    expect(page).toContain(`confirmations (${ofLitecoin} of Litecoin, ${ofMonero} of Monero)`)
  })

  test('states in how many blocks of Bitcoin a hundred deposits of a day are', () => {
    // Random times among random blocks: 100 · blocks ÷ (100 + blocks).
    const blocks = 86_400 / BTC.blockS
    const distinct = ((100 * blocks) / (100 + blocks)).toFixed(0)
    expect(page).toContain(`fall into ${distinct} different blocks of Bitcoin on average, so ${distinct} %`)
  })

  test('draws its conclusion about delays through Monero from its table', () => {
    const columns = figureTables.delays.header.split(' | ')
    const [, row = ''] = /\| Monero, hidden \(`privatePlus`\) \| a day \| ([^|]+(?:\| [^|]+){5})\|/.exec(page) ?? []
    const cells = row.split(' | ').map((cell) => cell.trim())
    const [none, longest] = ['equal, no delay', 'equal, to 60 min'].map((name) => cells[columns.indexOf(name) - 2])
    expect(page).toContain(`over a day (${none?.replace(' %', '')} to ${longest})`)
  })
})
