import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { partOf } from '../support/part.ts'
import {
  cases,
  type Day,
  days,
  findLosingDay,
  guarded,
  JUMPY_LOSS_MAX_PERCENT,
  jumpyDay,
  type Simulated,
  simulateDays,
} from './cases.ts'
import { prepareSimulatedDatabases, type SimulatedTemplate } from './simulated-clock.ts'
import { payHonestly } from './strategies.ts'

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

/** Days with every guard, by strategy and number of partners: some cases share one. */
const known = new Map<string, Promise<readonly Day[]>>()
async function simulateGuarded(simulated: Simulated): Promise<Readonly<{ on: readonly Day[]; jumpyUsd: number }>> {
  const key = `${strategies.indexOf(simulated.strategy)} ${simulated.partnerCount ?? 1}`
  const result = known.get(key) ?? simulateDays(template, [...days, jumpyDay], simulated, guarded)
  known.set(key, result)
  const all = await result
  return { on: all.slice(0, -1), jumpyUsd: all.at(-1)?.gainUsd ?? Number.NaN }
}
const strategies = cases.map(({ strategy }) => strategy)

it.each(partOf(cases, 2))(
  '$name: a bounded loss with the guard, profitable without it',
  async ({ name, guard, without, lossMaxPercent, jumpyLossMaxPercent = JUMPY_LOSS_MAX_PERCENT, ...simulated }) => {
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
    expect(jumpyUsd).toBeGreaterThanOrEqual(-lossMaxUsd(jumpyLossMaxPercent))
    expect(off?.gainUsd).toBeLessThan(onSameDay?.gainUsd ?? Number.NEGATIVE_INFINITY)
  },
  PATIENCE_MS,
)

// The document tells the present: if a figure changes, so does its table.
it('docs/guards.md has these figures', () => {
  const document = readFileSync(new URL('../../docs/guards.md', import.meta.url), 'utf8')
  expect(rows.filter((row) => !document.includes(row))).toEqual([])
})
