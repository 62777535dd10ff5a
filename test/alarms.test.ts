import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { waitKinds } from '../server/src/exchange/payouts/hold-payouts.ts'

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

test('lists exactly the alarms of the code in the operator’s guide', () => {
  const sources = globSync('server/src/**/*.ts', { cwd: root }).filter((path) => !path.endsWith('.test.ts'))
  const raising = sources
    .map(read)
    .filter((text) => /\.raise\(|reportShortfall\(|into alarms|SIGNING_JOURNAL_ALARM/.test(text))
  const subjects = raising.flatMap((text) =>
    [...text.matchAll(/[`']([a-z][a-z-]+):(?=[$%a-z])/g)].map(([, name]) => name),
  )
  const raised = new Set([...subjects.filter((name) => !otherPrefixes.has(name ?? '')), ...waitKinds])
  const table = read('docs/guides/operate.md').split('| alarm | means | do |')[1]?.split('\n\n')[0] ?? ''
  const cells = table.split('\n').map((row) => row.split('|')[1] ?? '')
  const listed = cells.flatMap((cell) => [...cell.matchAll(/`([a-z-]+):/g)].map(([, name]) => name))
  expect([...raised].sort()).toEqual([...new Set(listed)].sort())
})
