import { expect, test } from 'vitest'
import { createDepthAlarm } from './depth-alarm.ts'

function setUp() {
  const acts: unknown[] = []
  const alarms = {
    raise: async (subject: string, _alarm: string, detail: object) => void acts.push(['raise', subject, detail]),
    clear: async (...subjects: readonly string[]) => void acts.push(['clear', ...subjects]),
  }
  const report = createDepthAlarm(alarms, { warn: () => acts.push('warn') })
  return { acts, report, alarms }
}

test('raises an alarm while the depth is below half of the most of a day, and clears it once', async () => {
  const { acts, report } = setUp()
  await report('base', { units: 100, maximumUnits: 100 })
  await report('base', { units: 50, maximumUnits: 100 })
  expect(acts).toEqual([['clear', 'pool-depth:base']])
  await report('base', { units: 49, maximumUnits: 100 })
  await report('op', { units: 0, maximumUnits: 0 })
  await report('base', { units: 51, maximumUnits: 100 })
  expect(acts.slice(1)).toEqual([
    ['raise', 'pool-depth:base', { network: 'base', percent: 49 }],
    ['clear', 'pool-depth:op'],
    ['clear', 'pool-depth:base'],
  ])
})

test('survives a database that does not answer', async () => {
  const { acts, report, alarms } = setUp()
  alarms.raise = () => Promise.reject(new Error('no database'))
  await report('base', { units: 1, maximumUnits: 100 })
  expect(acts).toEqual(['warn'])
})
