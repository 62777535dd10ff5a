import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const docs = join(import.meta.dirname, '../docs')
const page = readFileSync(join(docs, 'lifecycle.md'), 'utf8')

/** Sections whose tables another test compares with the code. */
const COMPARED = ['Statuses', 'Edges', 'Confirmations']

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

test('every test that docs/lifecycle.md names exists', () => {
  const links = [...page.matchAll(/\[([^[\]]+)\]\((\.\.\/[^)]+\.test\.ts)\)/g)]
  const missing = links.filter(([, title = '', path = '']) => !readFileSync(join(docs, path), 'utf8').includes(title))
  expect(missing.map(([link]) => link)).toEqual([])
})
