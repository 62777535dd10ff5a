import { beforeAll, expect, test } from 'vitest'
import { staleFiles } from '../../contracts/scripts/build.ts'
import { runForge } from '../../contracts/scripts/run-forge.ts'
import { PATIENCE_MS } from '../support/patience.ts'

type Result = Readonly<{ status: string; reason: string | null }>
type Suites = Readonly<Record<string, Readonly<{ test_results: Readonly<Record<string, Result>> }>>>
type Outcome = Result & Readonly<{ name: string }>

let outcomes: readonly Outcome[]

beforeAll(() => {
  const { output, errors } = runForge(['test', '--json'], 2 * PATIENCE_MS)
  // Only the report starts with a brace. Without a report the tests did not compile.
  const report = output.split('\n').find((line) => line.startsWith('{'))
  expect(report, `${output}\n${errors}`).toBeDefined()
  const suites = JSON.parse(report ?? '{}') as Suites
  outcomes = Object.entries(suites).flatMap(([suite, { test_results }]) =>
    Object.entries(test_results).map(([name, { status, reason }]) => ({ name: `${suite} ${name}`, status, reason })),
  )
}, 3 * PATIENCE_MS)

test('generated/ matches the compiled sources', () => {
  expect(staleFiles()).toEqual([])
})

test('passes the unit, fuzz and invariant tests of forge on the published bytecode', () => {
  expect(outcomes.filter(({ status }) => status !== 'Success')).toEqual([])
  // Minimum number of tests, so that a run without tests fails. Raise it with new tests.
  expect(outcomes.length).toBeGreaterThanOrEqual(76)
  for (const kind of ['testFuzz_', 'invariant_']) expect(outcomes.some(({ name }) => name.includes(kind))).toBe(true)
})

// The cases that docs/threat-model.md names for D1.
test.each([
  'minimumIsNotPaidWithTheRecipientsOwnOrder',
  'incomeDuringAnyStepDoesNotCount',
  'incomeDuringWrapAndUnwrapDoesNotCount',
  'incomeDuringTheLastTransferDoesNotCount',
  'incomeFromAThirdPartyRouterDoesNotCount',
  'aStepWithoutInputReverts',
])('D1: only what the router itself received counts toward the minimum, %s', (name) => {
  const found = outcomes.filter((one) => new RegExp(`test(Fuzz)?_${name}\\(`).test(one.name))
  expect(found.map(({ status }) => status)).toEqual(['Success'])
})
