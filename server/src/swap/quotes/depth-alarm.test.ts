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

test.each(['base', 'sol'])(
  'raises an alarm while the depth on %s is below half of the most of a day, and clears it once',
  async (network) => {
    const { acts, report } = setUp()
    await report(network, { units: 100, maximumUnits: 100 })
    await report(network, { units: 50, maximumUnits: 100 })
    expect(acts).toEqual([['clear', `pool-depth:${network}`]])
    await report(network, { units: 49, maximumUnits: 100 })
    await report('op', { units: 0, maximumUnits: 0 })
    await report(network, { units: 51, maximumUnits: 100 })
    expect(acts.slice(1)).toEqual([
      ['raise', `pool-depth:${network}`, { network, percent: 49 }],
      ['clear', 'pool-depth:op'],
      ['clear', `pool-depth:${network}`],
    ])
  },
)

test('survives a database that does not answer', async () => {
  const { acts, report, alarms } = setUp()
  alarms.raise = () => Promise.reject(new Error('no database'))
  await report('base', { units: 1, maximumUnits: 100 })
  expect(acts).toEqual(['warn'])
})
