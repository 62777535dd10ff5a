import { expect, test } from 'vitest'
import { staleFiles } from '../../contracts/scripts/build.ts'
import { runForge } from '../../contracts/scripts/run-forge.ts'

type Outcome = Readonly<{ status: string; reason: string | null }>
type Suites = Readonly<Record<string, Readonly<{ test_results: Readonly<Record<string, Outcome>> }>>>

test('generated/ is what the sources compile to', () => {
  expect(staleFiles()).toEqual([])
})

test('forge: units, fuzz and invariants of the published bytecode', { timeout: 300_000 }, () => {
  const { output, errors } = runForge(['test', '--json'], 280_000)
  // Nothing but the report starts a line with a brace; without one the tests did not compile.
  const report = output.split('\n').find((line) => line.startsWith('{'))
  expect(report, `${output}\n${errors}`).toBeDefined()
  const suites = JSON.parse(report ?? '{}') as Suites
  const outcomes = Object.entries(suites).flatMap(([suite, { test_results }]) =>
    Object.entries(test_results).map(([name, { status, reason }]) => ({ name: `${suite} ${name}`, status, reason })),
  )
  expect(outcomes.filter(({ status }) => status !== 'Success')).toEqual([])
  // Numbers that only ever grow: a run that found no tests must not pass.
  expect(outcomes.length).toBeGreaterThanOrEqual(63)
  for (const kind of ['testFuzz_', 'invariant_']) expect(outcomes.some(({ name }) => name.includes(kind))).toBe(true)
})
