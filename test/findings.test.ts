import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const numbered = (letter: string, count: number) => Array.from({ length: count }, (_, n) => `${letter}${n + 1}`)

const MONEY = '{lib,server,test}/**/*.test.ts'
/** Elsewhere D1 to D46 number the cases of deposits. */
const SWAPS =
  '{server/src/{swap,app,adapters/{dex,router}},server/test/{swap,adapters/{dex,swap-chain}},test/contracts}/**/*.test.ts'

/**
 * Findings of reviews. Money paths: M1 to M27, the last one in ten parts. Swaps: defects D1 to D10, and claims: H1 of the bound, H3 of
 * speed and output, H5 of the limits of production.
 */
const reviews = [
  { topic: 'money', ids: [...numbered('M', 26), ...numbered('M27.', 10)], files: MONEY },
  { topic: 'swaps', ids: [...numbered('D', 10), 'H1', 'H3', 'H5'], files: SWAPS },
]

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** The first argument of a call, if it begins with findings: `('M7: …'`, or `('M27.4, M27.5: …'`. */
const TITLE = /(\b(?:skipIf|runIf)\([^()]*\))?\(\s*(?:'|"|`)((?:[DHM]\d+(?:\.\d+)?(?:, )?)+): /g

/** The findings that titles of tests begin with. A test that runs only under a condition does not count. */
const findTitles = (source: string): readonly string[] =>
  [...source.matchAll(TITLE)].flatMap(([, condition, ids = '']) => (condition === undefined ? ids.split(', ') : []))

/** A call, and not a text that quotes one. */
const SWITCHED_OFF = /(?<!['"`])\b(?:test|it|describe)(?:\.\w+)*\.(?:skip|todo|fails|only)\b|\{ (?:skip|todo): true\b/

/**
 * The tests of forge that the last cells of tables name: `Suite: name`, and further names of the same cell. The head of a table may
 * name the suite of its rows.
 */
function listForgeTests(page: string): readonly Readonly<{ suite: string; name: string }>[] {
  let ofTable: string | null = null
  return page.split('\n').flatMap((line) => {
    const cell = /^\|.*\| ([^|]*) \|$/.exec(line)?.[1]
    if (cell === undefined) {
      if (!line.startsWith('|--')) ofTable = null
      return []
    }
    if (/^test\b/.test(cell)) ofTable = /`([A-Z]\w+)`/.exec(cell)?.[1] ?? null
    let suite = ofTable
    return [...cell.matchAll(/`(?:([A-Z]\w+): )?([a-z]\w+)`/g)].flatMap(([, named, name = '']) => {
      suite = named ?? suite
      return suite === null ? [] : [{ suite, name }]
    })
  })
}

const listTests = (files: string) =>
  globSync(files, { cwd: root, exclude: (path) => path === 'node_modules' }).filter(
    (path) => path !== 'test/findings.test.ts',
  )

describe.each(reviews)('every finding about $topic', ({ ids, files }) => {
  const letters = new Set(ids.map((id) => id[0]))

  test('has a test whose title begins with it', () => {
    const titles = listTests(files).flatMap((path) => findTitles(read(path)))
    const named = new Set(titles.filter((id) => letters.has(id[0])))
    expect(ids.filter((id) => !named.has(id))).toEqual([])
    expect([...named].filter((id) => !ids.includes(id))).toEqual([])
  })

  test('has such a test in the files that its rows of docs/threat-model.md name', () => {
    const rows = [...read('docs/threat-model.md').matchAll(/^\| ([DHM]\d+(?:\.\d+)?): .* \| ([^|]*) \|$/gm)]
    const own = rows.filter(([, id = '']) => letters.has(id[0]))
    expect(own.length).toBeGreaterThan(15)
    let named: readonly string[] = []
    const without = own.filter(([, id = '', cell = '']) => {
      // "same": the tests of the row above.
      if (cell !== 'same') named = [...cell.matchAll(/`([\w/.-]+\.test\.ts)`/g)].map(([, path = '']) => path)
      return !named.some((path) => findTitles(read(path)).includes(id))
    })
    expect(without.map(([row]) => row)).toEqual([])
  })
})

describe('the tables of docs/threat-model.md', () => {
  const rows = read('docs/threat-model.md').match(/^\| .*\|$/gm) ?? []

  test('have a row for every finding about swaps', () => {
    const named = new Set(rows.flatMap((row) => row.match(/\b[DH]\d+\b/g) ?? []))
    expect(reviews[1]?.ids.filter((id) => !named.has(id))).toEqual([])
  })

  test('name tests of forge that exist', () => {
    const sources = globSync('contracts/test/*.sol', { cwd: root }).map((path) => read(path))
    const named = listForgeTests(read('docs/threat-model.md'))
    expect(named.length).toBeGreaterThan(50)
    const missing = named.filter(
      ({ suite, name }) =>
        !sources.some(
          (source) =>
            new RegExp(`contract ${suite}(Test|Tests)? `).test(source) &&
            new RegExp(`function (test(Fuzz)?|invariant)_${name}\\(`).test(source),
        ),
    )
    expect(missing).toEqual([])
  })

  test('carry the suite along a cell, and from the head of a table', () => {
    const page = [
      '| threat | why | test |',
      '| a | b | `Income: one`, `two`; `Router: three` |',
      '| threat | why | test (`External`) |',
      '|---|---|---|',
      '| a | b | `four` |',
      '| a | b | `server/a.test.ts`, `five` |',
      '| threat | why | test |',
      '| a | b | `six` |',
    ].join('\n')
    expect(listForgeTests(page).map(({ suite, name }) => `${suite} ${name}`)).toEqual([
      'Income one',
      'Income two',
      'Router three',
      'External four',
      'External five',
    ])
  })
})

test('no test is switched off', () => {
  // test-summary.test.ts writes such a test, and runs it.
  const all = listTests('{lib,schema,sandbox,server,test}/**/*.test.ts').filter((path) => !/test-summary/.test(path))
  expect(all.length).toBeGreaterThan(300)
  expect(all.filter((path) => SWITCHED_OFF.test(read(path)))).toEqual([])
})

test('titles are found in calls, and not in comments, lists or conditional tests', () => {
  const source = `
    test('M7: one', () => {})
    describe(\`M27.4, M27.5: two\`)
    it.each([['M1: three']])(
      "D4: four", () => {})
    // M8: a comment
    test.skipIf(isRoot)('M9: five')`
  expect(findTitles(source)).toEqual(['M7', 'M27.4', 'M27.5', 'D4'])
  for (const off of ["test.skip('M7')", "test.todo('M7')", "it.skip.each([1])('M7')", "test('M7', { skip: true })"])
    expect(off).toMatch(SWITCHED_OFF)
  expect(source).not.toMatch(SWITCHED_OFF)
})
