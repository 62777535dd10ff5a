import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/* Findings of the review of the money paths, M1 to M27. The last one has ten parts. */
const findings = [
  ...Array.from({ length: 26 }, (_, n) => `M${n + 1}`),
  ...Array.from({ length: 10 }, (_, n) => `M27.${n + 1}`),
]

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** The findings that titles in a test file begin with: `M7: …`, or `M27.4, M27.5: …`. */
const findTitles = (source: string): readonly string[] =>
  [...source.matchAll(/['"`]((?:M\d+(?:\.\d+)?(?:, )?)+): /g)].flatMap(([, ids = '']) => ids.split(', '))

const tests = globSync('{lib,server,test}/**/*.test.ts', {
  cwd: root,
  exclude: (path) => path === 'node_modules',
}).filter((path) => path !== 'test/findings.test.ts')

test('every finding about money has a test of its name', () => {
  const named = new Set(tests.flatMap((path) => findTitles(read(path))))
  expect(findings.filter((id) => !named.has(id))).toEqual([])
  expect([...named].filter((id) => !findings.includes(id))).toEqual([])
  expect(findTitles("test('M7: one')\ndescribe(`M27.4, M27.5: two`)\n// M8: a comment")).toEqual([
    'M7',
    'M27.4',
    'M27.5',
  ])
})

test('every row about money in docs/threat-model.md names a test of that name', () => {
  const rows = [...read('docs/threat-model.md').matchAll(/^\| (M\d+(?:\.\d+)?): .* \| ([^|]*) \|$/gm)]
  expect(rows.length).toBeGreaterThan(15)
  const without = rows.filter(([, id = '', cell = '']) => {
    const paths = [...cell.matchAll(/`([\w/.-]+\.test\.ts)`/g)].map(([, path = '']) => path)
    return !paths.some((path) => findTitles(read(path)).includes(id))
  })
  expect(without.map(([, id]) => id)).toEqual([])
})
