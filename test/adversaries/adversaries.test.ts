import { readFileSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import { cases, type Day, guarded, simulateDays } from './cases.ts'
import { payHonestly } from './strategies.ts'

/** A strategy's worst day costs the operator at most this share of what honest customers turn over on such a day. */
const LOSS_MAX_PERCENT = 1
/** Six days are simulated for each strategy. */
const PATIENCE_MS = 1_800_000

const sumUsd = (days: readonly Day[]) => days.reduce((sum, { gainUsd }) => sum + gainUsd, 0)
const worstUsd = (days: readonly Day[]) => Math.min(...days.map(({ gainUsd }) => gainUsd))
const dollars = (usd: number) => Math.round(usd).toLocaleString('en-US').replaceAll(',', ' ').replace('-', '−')

const rows: string[] = []
let honestDays: readonly Day[] = []
beforeAll(async () => {
  honestDays = await simulateDays(payHonestly, guarded)
}, PATIENCE_MS)

it('honest customers pay the operator on every day', () => {
  for (const { gainUsd, turnoverUsd } of honestDays) {
    expect(turnoverUsd).toBeGreaterThan(300_000)
    expect(gainUsd / turnoverUsd).toBeGreaterThan(0.003)
  }
})

it.each(cases)(
  '$name: a bounded loss with the guard, profitable without it',
  async ({ name, guard, strategy, without }) => {
    const [on, off] = [await simulateDays(strategy, guarded), await simulateDays(strategy, without)]
    const row = `| ${name} | \`${guard}\` | ${dollars(sumUsd(on))} | ${dollars(worstUsd(on))} | ${dollars(sumUsd(off))} | ${dollars(worstUsd(off))} |`
    console.log(row)
    rows.push(row)
    const honestTurnover = Math.min(...honestDays.map(({ turnoverUsd }) => turnoverUsd))
    expect(worstUsd(on)).toBeGreaterThanOrEqual((-honestTurnover * LOSS_MAX_PERCENT) / 100)
    expect(sumUsd(off)).toBeLessThan(0)
    expect(sumUsd(on)).toBeGreaterThan(sumUsd(off))
  },
  PATIENCE_MS,
)

// The document tells the present: if a figure changes, so does its table.
it('docs/guards.md has these figures', () => {
  const document = readFileSync(new URL('../../docs/guards.md', import.meta.url), 'utf8')
  expect(rows.filter((row) => !document.includes(row))).toEqual([])
})
