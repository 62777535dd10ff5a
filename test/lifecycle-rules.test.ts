import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const docs = join(import.meta.dirname, '../docs')
const page = readFileSync(join(docs, 'lifecycle.md'), 'utf8')

/** Sections whose tables another test compares with the code. */
const COMPARED = ['Edges', 'Confirmations']

test('docs/lifecycle.md names a test of every rule', () => {
  const sections = page.split('\n## ').slice(1)
  const rules = sections
    .filter((section) => !COMPARED.some((title) => section.startsWith(`${title}\n`)))
    // The rows of tables without their heads, and the items of lists.
    .flatMap((section) => [
      ...[...section.matchAll(/\n\|[-|]+\|((?:\n\|.*)+)/g)].flatMap(([, rows = '']) => rows.trim().split('\n')),
      ...[...section.matchAll(/\n- (?:.+\n?(?!\n|- ))+/g)].map(([item]) => item),
    ])
  expect(rules.length).toBeGreaterThan(80)
  expect(rules.filter((rule) => !/\]\([^)]+\.test\.ts\)/.test(rule))).toEqual([])
})

/** Whether a title of this source has the text: a comment is no title. */
const hasTitle = (source: string, text: string): boolean =>
  source.split('\n').some((line) => !/^\s*(?:\/\/|\/?\*)/.test(line) && /['"`]/.test(line) && line.includes(text))

test('every test that docs/lifecycle.md names exists', () => {
  const links = [...page.matchAll(/\[([^[\]]+)\]\((\.\.\/[^)]+\.test\.ts)\)/g)]
  const missing = links.filter(([, title = '', path = '']) => !hasTitle(readFileSync(join(docs, path), 'utf8'), title))
  expect(links.length).toBeGreaterThan(150)
  expect(missing.map(([link]) => link)).toEqual([])
})

test('a comment is no title', () => {
  expect(hasTitle("test('M7: pays once', () => {", 'pays once')).toBe(true)
  expect(hasTitle("  // it 'pays once'\n  * it 'pays once'\n  pays once()", 'pays once')).toBe(false)
})
