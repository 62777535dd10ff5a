import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { environmentSchema, fileOf, isSecret } from '../server/src/config/environment.ts'
import { fileSchema } from '../server/src/config/file.ts'

/* Alarms, remedies, errors and guides name settings. A name that does not exist sends an operator on a search. */

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const variables = new Set(
  Object.entries(environmentSchema.properties).flatMap(([name, schema]) =>
    isSecret(schema) ? [name, fileOf(name)] : [name],
  ),
)

type Schema = Readonly<{
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  items?: Schema
}>

/** Whether a path such as `swaps.networks.eth.enabled` leads to a setting. Any name is a key of a map, and `<n>` or a number an item of a list. */
function isSetting(path: string): boolean {
  const found = path.split('.').reduce<Schema | undefined>((schema, name) => {
    const ofMap = Object.values(schema?.patternProperties ?? {})[0]
    return ofMap ?? schema?.properties?.[name] ?? (/^(<n>|\d+)$/.test(name) ? schema?.items : undefined)
  }, fileSchema as Schema)
  return found !== undefined
}

const sections = Object.keys(fileSchema.properties).join('|')
const PATH = new RegExp(`(?<![\\w./@-])(?:${sections})(?:\\.[A-Za-z0-9@<>]+)+(?![\\w/(])`, 'g')
const VARIABLE = /\bSWAPYARD_[A-Z_]+\b/g
/** Names that are no settings of this program: of test runs, of the shell, of source files and of database rows. */
const isOther = (name: string) => name.startsWith('SWAPYARD_TEST_') || /\.(ts|md|json|id)$/.test(name)

/** Names in a text that look like settings and do not exist. */
function findWrongNames(text: string): string[] {
  const wrongVariables = [...text.matchAll(VARIABLE)].map(([name]) => name).filter((name) => !variables.has(name))
  const wrongPaths = [...text.matchAll(PATH)].map(([path]) => path).filter((path) => !isSetting(path))
  return [...wrongVariables, ...wrongPaths].filter((name) => !isOther(name))
}

/** Sentences in a source file: literals with a space that are no SQL, without their interpolations. */
function readSentences(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const literals = [...code.matchAll(/'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g)].map(
    ([, quoted, template]) => quoted ?? template ?? '',
  )
  return literals
    .map((text) => text.replace(/\$\{[^}]*\}/g, ''))
    .filter((text) => text.includes(' ') && !/\b(select|insert|update|delete|where|join)\b/i.test(text))
}

test('every setting that a message of the server names exists', () => {
  const sources = globSync('server/src/**/*.ts', { cwd: root }).filter((path) => !path.endsWith('.test.ts'))
  const sentences = sources.flatMap((path) => readSentences(read(path)).map((text) => [path, text] as const))
  expect(sentences.length).toBeGreaterThan(1_000)
  const named = sentences.filter(([, text]) => [...text.matchAll(PATH), ...text.matchAll(VARIABLE)].length > 0)
  expect(named.length).toBeGreaterThan(5)
  expect(sentences.flatMap(([path, text]) => findWrongNames(text).map((name) => `${path}: ${name}`))).toEqual([])
})

test('every setting that a document names exists', () => {
  const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })]
  const spans = pages.flatMap((path) =>
    [...read(path).matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => [path, text] as const),
  )
  expect(spans.flatMap(([path, text]) => findWrongNames(text).map((name) => `${path}: ${name}`))).toEqual([])
})

/** A verb, at most three words, and a name in backquotes. */
const REQUEST = /\b(?:raise|lower|increase|reduce|extend)\b(?:(?: [a-z]+){0,3} `([^`]+)`)?/gi

test('every alarm that asks for another value of something names the setting or the command', () => {
  const table = read('docs/guides/operate.md').split('| alarm | means | do |')[1]?.split('\n\n')[0] ?? ''
  const remedies = table.split('\n').flatMap((row) => row.split(' | ').slice(2))
  expect(remedies.length).toBeGreaterThan(20)
  const requests = remedies.flatMap((remedy) => [...remedy.matchAll(REQUEST)])
  expect(requests.filter(([, named]) => named === undefined).map(([text]) => text)).toEqual([])
  const settings = requests.map(([, named]) => named)
  expect(settings).toContain('signer.limits')
  expect(settings.filter((name = '') => !isSetting(name) && !name.startsWith('swapyard '))).toEqual([])
})

test('finds names that do not exist', () => {
  expect(
    findWrongNames('raise `networks.eth.confirmations` or `clocks.stuckTime`, see SWAPYARD_CONFIRMATIONS'),
  ).toEqual(['SWAPYARD_CONFIRMATIONS', 'networks.eth.confirmations', 'clocks.stuckTime'])
  expect(
    findWrongNames('see `prices.sources.<n>.exchange`, `prices.sources.<n>.pace` and `prices.quorum.<n>`'),
  ).toEqual([...['prices.sources.<n>.pace', 'prices.quorum.<n>']])
  expect(findWrongNames('raise `signer.limits`, `swaps.networks.eth.feeAddress` or SWAPYARD_POOL_MAX')).toEqual([])
})
