import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cases, type Day, findLosingDay, guarded, simulateDays } from './cases.ts'
import { prepareSimulatedDatabases, type SimulatedTemplate } from './simulated-clock.ts'
import { payHonestly } from './strategies.ts'

/** Up to six days are simulated for each strategy. */
const PATIENCE_MS = 1_800_000

const sumUsd = (days: readonly Day[]) => days.reduce((sum, { gainUsd }) => sum + gainUsd, 0)
const worstUsd = (days: readonly Day[]) => Math.min(...days.map(({ gainUsd }) => gainUsd))
const dollars = (usd: number) => Math.round(usd).toLocaleString('en-US').replaceAll(',', ' ').replace('-', '−')

const rows: string[] = []
let honestDays: readonly Day[] = []
let template: SimulatedTemplate
beforeAll(async () => {
  template = await prepareSimulatedDatabases()
  honestDays = await simulateDays(template, { strategy: payHonestly }, guarded)
}, PATIENCE_MS)
afterAll(() => template.drop())

it('honest customers pay the operator on every day', () => {
  for (const { gainUsd, turnoverUsd } of honestDays) {
    expect(turnoverUsd).toBeGreaterThan(300_000)
    expect(gainUsd / turnoverUsd).toBeGreaterThan(0.003)
  }
})

it.each(cases)(
  '$name: a bounded loss with the guard, profitable without it',
  async ({ name, guard, without, lossMaxPercent, ...simulated }) => {
    const on = await simulateDays(template, simulated, guarded)
    const off = await findLosingDay(template, simulated, without)
    const named = guard.includes('.') ? `\`${guard}\`` : guard
    const onSameDay = off && on[off.index]
    const row = `| ${name} | ${named} | ${dollars(sumUsd(on))} | ${dollars(worstUsd(on))} | ${dollars(onSameDay?.gainUsd ?? Number.NaN)} | ${dollars(off?.gainUsd ?? Number.NaN)} |`
    console.log(row)
    rows.push(row)
    const honestTurnover = Math.min(...honestDays.map(({ turnoverUsd }) => turnoverUsd))
    expect(worstUsd(on)).toBeGreaterThanOrEqual((-honestTurnover * lossMaxPercent) / 100)
    expect(off?.gainUsd).toBeLessThan(onSameDay?.gainUsd ?? Number.NEGATIVE_INFINITY)
  },
  PATIENCE_MS,
)

// The document tells the present: if a figure changes, so does its table.
it('docs/guards.md has these figures', () => {
  const document = readFileSync(new URL('../../docs/guards.md', import.meta.url), 'utf8')
  expect(rows.filter((row) => !document.includes(row))).toEqual([])
})
