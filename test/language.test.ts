import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findInRepository, findRetiredWords, textFiles } from './language/find-retired-words.ts'
import { exceptions, retired } from './language/retired-words.ts'

const root = join(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/language.md'), 'utf8')

test('no file uses a retired word', () => {
  expect(findInRepository().map(({ path, line, word, text }) => `${path}:${line} ${word}: ${text}`)).toEqual([])
})

test('every row of the table in docs/language.md is tested', () => {
  const table = page.slice(page.indexOf('| retired | use |'), page.indexOf('Also avoid'))
  const rows = [...table.matchAll(/^\| (?!retired|---)([^,|]+)/gm)].map(([, first = '']) => first.trim())
  expect(rows.length).toBeGreaterThan(20)
  expect(rows).toEqual(Object.keys(retired))
})

test('reads the whole repository', () => {
  const files = textFiles()
  for (const folder of [
    'bench',
    'contracts',
    'docs',
    'sandbox',
    'schema',
    'sdk',
    'scripts',
    'server/src',
    'server/migrations',
  ])
    expect([folder, files.some((path) => path.startsWith(`${folder}/`))]).toEqual([folder, true])
  expect(files.length).toBeGreaterThan(1000)
})

test.each([
  ['a comment', 'server/src/a.ts', '// The house pays.', 'house'],
  ['a message', 'server/src/a.ts', "throw new Error('nobody pays')", 'nobody'],
  ['the name of a function', 'server/src/a.ts', 'export function findTold() {}', 'told'],
  ['the name of a file', 'server/src/told-exchange.ts', '', 'told'],
  ['SQL', 'server/migrations/a.sql', '-- Dead transactions', 'Dead'],
  ['a test title', 'server/test/a.test.ts', "test('whoever comes', () => undefined)", 'whoever'],
  ['a page', 'docs/a.md', '# What becomes of rivals', 'rivals'],
])('finds a retired word in %s', (_place, path, content, word) => {
  expect(findRetiredWords(path, content).map((hit) => hit.word)).toEqual([word])
})

test('accepts words that only contain a retired one', () => {
  const content = 'const deadlineMs = Math.floor(1)\n// A warehouse, a stopped process, wayward'
  expect(findRetiredWords('server/src/a.ts', content)).toEqual([])
})

test('every exception is needed', () => {
  const unused = exceptions.filter(({ word, files }) => {
    const pattern = new RegExp(word.source, 'i')
    return !textFiles().some(
      (path) => files.test(path) && (pattern.test(path) || pattern.test(readFileSync(join(root, path), 'utf8'))),
    )
  })
  expect(unused.map(({ reason }) => reason)).toEqual([])
})
