import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { waitKinds } from '../server/src/exchange/payouts/hold-payouts.ts'
import { replaceRefusals } from '../server/src/exchange/payouts/replace-transaction.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Prefixes in the same files that are no alarms: modules of Node, scopes of pauses, accounts, a source of journal entries, a lock, a reservation. */
const otherPrefixes = new Set([
  'node',
  'asset',
  'network',
  'partner',
  'payouts',
  'hold',
  'deposit',
  'outflow',
  'equity',
  'liability',
])

/** Kinds with a row for each of their subjects. */
const kindsOfSeveralRows = ['journal', 'stray']

const rows = (read('docs/guides/operate.md').split('| alarm | means | do |')[1]?.split('\n\n')[0] ?? '')
  .split('\n')
  .slice(2)
  .map((row) => row.split('|'))
const subjectsIn = (row: readonly string[]) => [...(row[1] ?? '').matchAll(/`([a-z-]+):[^`]*`/g)]

test('lists exactly the alarms of the code in the operator’s guide', () => {
  const sources = globSync('server/src/**/*.ts', { cwd: root }).filter((path) => !path.endsWith('.test.ts'))
  const raising = sources
    .map(read)
    .filter((text) => /\.raise\(|reportShortfall\(|into alarms|SIGNING_JOURNAL_ALARM/.test(text))
  const subjects = raising.flatMap((text) =>
    [...text.matchAll(/[`']([a-z][a-z-]+):(?=[$%a-z])/g)].map(([, name]) => name),
  )
  const raised = new Set([...subjects.filter((name) => !otherPrefixes.has(name ?? '')), ...waitKinds])
  const listed = rows.flatMap((row) => subjectsIn(row).map(([, kind]) => kind))
  expect([...raised].sort()).toEqual([...new Set(listed)].sort())
})

test('describes each alarm in one row', () => {
  const findRepeated = (values: readonly (string | undefined)[]) =>
    values.filter((value, at) => values.indexOf(value) !== at)
  expect(findRepeated(rows.flatMap((row) => subjectsIn(row).map(([subject]) => subject)))).toEqual([])
  const kinds = rows.flatMap((row) => [...new Set(subjectsIn(row).map(([, kind]) => kind))])
  expect([...new Set(findRepeated(kinds))].sort()).toEqual(kindsOfSeveralRows)
})

test('explains each reason why a stuck transaction is not signed again', () => {
  const text = rows.find((row) => subjectsIn(row).some(([, kind]) => kind === 'stuck'))?.[2] ?? ''
  const codes = [
    ...replaceRefusals,
    'NO_REPLACEMENT',
    'NETWORK_UNAVAILABLE',
    'NETWORK_PAUSED',
    'INSUFFICIENT_LIQUIDITY',
  ]
  expect(codes.filter((code) => !text.includes(`\`${code}\``))).toEqual([])
})
