import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cases, type Day, days, findLosingDay, guarded, jumpyDay, type Simulated, simulateDays } from './cases.ts'
import { prepareSimulatedDatabases, type SimulatedTemplate } from './simulated-clock.ts'
import { payHonestly, type Strategy } from './strategies.ts'

/** Up to five days are simulated for each strategy. */
const PATIENCE_MS = 1_800_000

const sumUsd = (days: readonly Day[]) => days.reduce((sum, { gainUsd }) => sum + gainUsd, 0)
const worstUsd = (days: readonly Day[]) => Math.min(...days.map(({ gainUsd }) => gainUsd))
const dollars = (usd: number) => Math.round(usd).toLocaleString('en-US').replaceAll(',', ' ').replace('-', '−')

const rows: string[] = []
let honestDays: readonly Day[] = []
let template: SimulatedTemplate
beforeAll(async () => {
  template = await prepareSimulatedDatabases()
  honestDays = await simulateDays(template, days, { strategy: payHonestly }, guarded)
}, PATIENCE_MS)
afterAll(() => template.drop())

it('honest customers pay the operator on every day', () => {
  for (const { gainUsd, turnoverUsd } of honestDays) {
    expect(turnoverUsd).toBeGreaterThan(300_000)
    expect(gainUsd / turnoverUsd).toBeGreaterThan(0.003)
  }
})

/** Days with every guard, by strategy: some cases share one. */
const known = new Map<Strategy, Promise<readonly Day[]>>()
async function simulateGuarded(simulated: Simulated): Promise<Readonly<{ on: readonly Day[]; jumpyUsd: number }>> {
  const result = known.get(simulated.strategy) ?? simulateDays(template, [...days, jumpyDay], simulated, guarded)
  known.set(simulated.strategy, result)
  const all = await result
  return { on: all.slice(0, -1), jumpyUsd: all.at(-1)?.gainUsd ?? Number.NaN }
}

/**
 * Of what honest customers turn over: four jumps of 3 %, less the 0.9 % of a fixed rate, on a partner's share of the reserve, a
 * third of 30 % of 2 million dollars. That is 16 600 dollars of 360 000.
 */
const JUMPY_LOSS_MAX_PERCENT = 4.6

it.each(cases)(
  '$name: a bounded loss with the guard, profitable without it',
  async ({ name, guard, without, lossMaxPercent, ...simulated }) => {
    const { on, jumpyUsd } = await simulateGuarded(simulated)
    const off = await findLosingDay(template, simulated, without)
    const named = guard.includes('.') ? `\`${guard}\`` : guard
    const onSameDay = off && on[off.index]
    const figures = [
      dollars(sumUsd(on)),
      dollars(worstUsd(on)),
      dollars(jumpyUsd),
      dollars(onSameDay?.gainUsd ?? Number.NaN),
      dollars(off?.gainUsd ?? Number.NaN),
    ]
    const row = `| ${name} | ${named} | ${figures.join(' | ')} |`
    console.log(row)
    rows.push(row)
    const lossMaxUsd = (percent: number) =>
      (Math.min(...honestDays.map(({ turnoverUsd }) => turnoverUsd)) * percent) / 100
    expect(worstUsd(on)).toBeGreaterThanOrEqual(-lossMaxUsd(lossMaxPercent))
    expect(jumpyUsd).toBeGreaterThanOrEqual(-lossMaxUsd(JUMPY_LOSS_MAX_PERCENT))
    expect(off?.gainUsd).toBeLessThan(onSameDay?.gainUsd ?? Number.NEGATIVE_INFINITY)
  },
  PATIENCE_MS,
)

// The document tells the present: if a figure changes, so does its table.
it('docs/guards.md has these figures', () => {
  const document = readFileSync(new URL('../../docs/guards.md', import.meta.url), 'utf8')
  expect(rows.filter((row) => !document.includes(row))).toEqual([])
})
