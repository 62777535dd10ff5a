import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

type Source = Readonly<{ path: string; text: string }>

const sources: readonly Source[] = globSync(
  ['{schema,sandbox,sdk,server,contracts,bench,test,scripts}/**/*.{ts,sql,sol,mjs,md}', 'docs/**/*.md', '*.md'],
  { cwd: root, exclude: (path) => path.includes('node_modules') },
)
  .filter((path) => !path.includes('node_modules/') && !path.startsWith('bench/results/'))
  .sort()
  .map((path) => ({ path, text: read(path) }))

const INVARIANTS = 'docs/invariants.md'
const RECORDS = 'docs/decisions'
const THREATS = 'docs/threat-model.md'
const FAKE_DEPOSITS = 'docs/fake-deposits.md'
/** Pages whose paths in backticks must exist. Others also name files of the data folder. */
const PAGES_WITH_PATHS = [
  INVARIANTS,
  THREATS,
  FAKE_DEPOSITS,
  `${RECORDS}/README.md`,
  ...['add-a-chain', 'add-a-currency', 'swap'].map((page) => `docs/guides/${page}.md`),
  ...['chain-recovery', 'chaos', 'guards', 'lifecycle', 'performance', 'pools'].map((page) => `docs/${page}.md`),
]

/** The first cells of the table rows that define an invariant. */
const definedIds = (page: string): readonly string[] =>
  [...page.matchAll(/^\| ([IC]-\d+) \|/gm)].map(([, id = '']) => id)

const findRepeated = (values: readonly string[]): readonly string[] =>
  values.filter((value, at) => values.indexOf(value) !== at)

const citationsIn = (text: string): readonly string[] => text.match(/\b[IC]-\d+\b/g) ?? []

/** Findings about money (M) and swaps (D, H), and cases of deposits (D). */
const findingsIn = (text: string): readonly string[] => text.match(/\b(?:[DH][1-9]\d*|M[1-9]\d*(?:\.\d+)?)\b/g) ?? []

/** Ids that rows of the threat model begin with or name in their first cell, and the cases of deposits. */
function listFindings(threats: string, fakeDeposits: string): readonly string[] {
  const firstCells = [...threats.matchAll(/^\| ([^|]*)/gm)].map(([, cell = '']) => cell)
  const cases = [...fakeDeposits.matchAll(/^\| (D\d+) /gm)].map(([, id = '']) => id)
  return [...firstCells.flatMap(findingsIn), ...cases]
}

/** `path: id` for each citation of an id that no page defines. */
function findUnknownCitations(
  files: readonly Source[],
  ids: readonly string[],
  citations: (text: string) => readonly string[] = citationsIn,
): readonly string[] {
  const defined = new Set(ids)
  return files.flatMap(({ path, text }) =>
    citations(text)
      .filter((id) => !defined.has(id))
      .map((id) => `${path}: ${id}`),
  )
}

/** Paths in backticks, relative to the root of the repository: at least one folder, then a file extension or a slash. */
const pathsIn = (text: string): readonly string[] =>
  [...text.matchAll(/`([\w@.-]+(?:\/[\w@.-]+)*(?:\/|\/[\w@-][\w@.-]*\.(?:ts|sql|sol|md|mjs|json)))`/g)].map(
    ([, path = '']) => path,
  )

const findMissingPaths = (text: string): readonly string[] =>
  pathsIn(text).filter((path) => !existsSync(join(root, path)))

/** Records named by number (`decision 0012`, `decisions 0063 and 0072`) or by file (`decisions/0012-….md`). */
function recordsCitedIn(text: string): readonly string[] {
  const numbers = [...text.matchAll(/\b[dD]ecisions?[ /]\[?(0\d{3})\b(?: and (0\d{3})\b)?/g)]
  return numbers.flatMap(([, first, second]) => [first, second].filter((number) => number !== undefined))
}
const linksToRecords = (text: string): readonly string[] =>
  [...text.matchAll(/decisions\/(0\d{3}-[\w-]+\.md)/g)].map(([, file = '']) => file)

const ids = definedIds(read(INVARIANTS))
const recordFiles = globSync(`${RECORDS}/0*.md`, { cwd: root })
  .map((path) => path.slice(RECORDS.length + 1))
  .sort()

describe('invariants', () => {
  test('are each listed once', () => {
    expect(ids.length).toBeGreaterThan(45)
    expect(findRepeated(ids)).toEqual([])
    expect(findRepeated(definedIds('| I-1 | a |\n| I-2 | b |\n| I-1 | c |\n'))).toEqual(['I-1'])
  })

  test('are defined if they are cited', () => {
    expect(findUnknownCitations(sources, ids)).toEqual([])
  })

  test('are cited in code, SQL, tests and documents', () => {
    const count = (files: readonly Source[]) => files.flatMap(({ text }) => citationsIn(text)).length
    const cited = (pattern: RegExp) => count(sources.filter(({ path }) => pattern.test(path)))
    expect(cited(/^server\/src\/.*(?<!\.test)\.ts$/)).toBeGreaterThan(15)
    expect(cited(/\.test\.ts$/)).toBeGreaterThan(15)
    expect(cited(/\.sql$/)).toBeGreaterThan(5)
    expect(cited(/\.md$/)).toBeGreaterThan(ids.length)
  })

  test('reports a citation of an undefined id', () => {
    const [one, other] = [`I-${998}`, `C-${999}`]
    const planted = { path: 'planted.ts', text: `// Holds by (${one}), ${other} and I-1. No ids: ERC-20, EIP-1559.` }
    expect(findUnknownCitations([planted], ids)).toEqual([`planted.ts: ${one}`, `planted.ts: ${other}`])
  })

  test('name database objects that the migrations create', () => {
    const words = new Set(
      sources
        .filter(({ path }) => path.startsWith('server/migrations/'))
        .flatMap(({ text }) => text.match(/\w+/g) ?? []),
    )
    const rows = read(INVARIANTS).matchAll(/^\| I-\d+ \|[^|]*\|([^|]*)\|/gm)
    const names = [...rows].flatMap(([, cell = '']) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name))
    expect(names.length).toBeGreaterThan(40)
    expect(names.filter((name) => !words.has(name))).toEqual([])
    expect(words.has('no_such_trigger')).toBe(false)
  })
})

describe('findings', () => {
  const findings = listFindings(read(THREATS), read(FAKE_DEPOSITS))

  test('have a row if they are cited', () => {
    // M27 has ten parts.
    expect(findUnknownCitations(sources, [...findings, 'M27'], findingsIn)).toEqual([])
    expect(findings.filter((id) => id.startsWith('M')).length).toBeGreaterThan(35)
  })

  test('reports a citation of a finding without a row', () => {
    const [money, deposits] = [`M${98}`, `D${99}`]
    const planted = {
      path: 'planted.ts',
      text: `// As before (${money}, M27.4), and as ${deposits} and H1 say. No ids: 0xD1a2, M0.`,
    }
    expect(findUnknownCitations([planted], findings, findingsIn)).toEqual([
      `planted.ts: ${money}`,
      `planted.ts: ${deposits}`,
    ])
    expect(listFindings('| – (D1) | a (D2) |\n| M27.4: b | c |\n', '| D46 d | e |\n')).toEqual(['D1', 'M27.4', 'D46'])
  })
})

describe('paths in backticks', () => {
  test.for(PAGES_WITH_PATHS)('of %s exist', (page) => {
    expect(findMissingPaths(read(page))).toEqual([])
  })

  test('are collected, and a missing path is reported', () => {
    expect(pathsIn(read(INVARIANTS)).length).toBeGreaterThan(100)
    expect(pathsIn(read('docs/chain-recovery.md')).length).toBeGreaterThan(15)
    expect(findMissingPaths('`test/documents.test.ts`, `server/src/no-such-file.ts`, `docs/`, `a word`')).toEqual([
      'server/src/no-such-file.ts',
    ])
  })
})

describe('decision records', () => {
  const index = read(`${RECORDS}/README.md`)

  test.for(recordFiles)('%s has a title, a date, a status and a row in the index', (file) => {
    const number = file.slice(0, 4)
    const [title = '', blank, date = '', status = ''] = read(`${RECORDS}/${file}`).split('\n')
    expect(title).toMatch(new RegExp(`^# ${number} \\S`))
    expect(blank).toBe('')
    expect(date).toMatch(/^Date: \d{4}-\d{2}-\d{2}$/)
    expect(status).toMatch(/^Status: (accepted|superseded by 0\d{3})$/)
    const row = `| [${number}](${file}) | ${title.slice(7)} | ${date.slice(6)} | ${status.slice(8)} |`
    expect(index.split('\n').filter((line) => line.includes(`(${file})`))).toEqual([row])
  })

  test('exist if they are cited', () => {
    const numbers = new Set(recordFiles.map((file) => file.slice(0, 4)))
    const missing = sources.flatMap(({ path, text }) => [
      ...recordsCitedIn(text).flatMap((number) => (numbers.has(number) ? [] : [`${path}: ${number}`])),
      ...linksToRecords(text).flatMap((file) => (recordFiles.includes(file) ? [] : [`${path}: ${file}`])),
    ])
    expect(missing).toEqual([])
    expect(recordFiles.length).toBeGreaterThan(20)
    const [noun, file] = ['decision', '0998-planted.md']
    expect(recordsCitedIn(`(${noun} 0998), ${noun}s 0063 and 0997, docs/${noun}s/${file}`)).toEqual([
      '0998',
      '0063',
      '0997',
      '0998',
    ])
    expect(linksToRecords(`docs/${noun}s/${file}`)).toEqual([file])
  })
})

describe('pictures', () => {
  const folder = 'docs/pictures'
  /** Relative to the root of the repository: of images in Markdown and of `src` in HTML. */
  const picturesIn = ({ path, text }: Source): readonly string[] =>
    [...text.matchAll(/(?:!\[[^\]]*\]\(|<img src=")([^)"]+\.png)/g)].map(([, target = '']) =>
      join(dirname(path), target),
    )

  test('are each shown by a document, and exist', () => {
    const pictures = globSync(`${folder}/*`, { cwd: root }).sort()
    const shown = new Set(sources.filter(({ path }) => path.endsWith('.md')).flatMap(picturesIn))
    expect(pictures.length).toBeGreaterThan(5)
    expect([...shown].sort()).toEqual(pictures)
    const text = `![A page](../pictures/a.png) and <img src="b.png" width="1">, not [a link](c.png)`
    expect(picturesIn({ path: 'docs/guides/planted.md', text })).toEqual([`${folder}/a.png`, 'docs/guides/b.png'])
  })
})

test('no file cites a document outside the repository', () => {
  const foreign = /\(?\breliability [\dF]|\(decisions: ?"|\(lifecycle: ?"/g
  expect(
    sources.flatMap(({ path, text }) => [...text.matchAll(foreign)].map(([citation]) => `${path}: ${citation}`)),
  ).toEqual([])
  expect(`see reliability ${3}.4 (decisions: ${'"'}Statuses")`.match(foreign)).toHaveLength(2)
})

describe('commands in documents', () => {
  /** The path filters of `npm test -- …` and `npm run test:long -- …`. Vitest matches them as parts of paths. */
  const filtersIn = (text: string): readonly string[] =>
    [...text.matchAll(/\bnpm (?:test|run test:long) -- ((?:[\w.-]+\/[\w./-]+ ?)+)/g)].flatMap(([, paths = '']) =>
      paths.trim().split(' '),
    )

  test('name test files that exist', () => {
    const testFiles = sources.map(({ path }) => path).filter((path) => path.endsWith('.test.ts'))
    const documents = sources.filter(({ path }) => path.endsWith('.md'))
    const filters = documents.flatMap(({ path, text }) => filtersIn(text).map((filter) => ({ path, filter })))
    expect(filters.length).toBeGreaterThan(10)
    expect(filters.filter(({ filter }) => !testFiles.some((file) => file.includes(filter)))).toEqual([])
    expect(filtersIn('run `npm test -- server/test/a.test.ts server/src` now')).toEqual([
      'server/test/a.test.ts',
      'server/src',
    ])
  })
})
