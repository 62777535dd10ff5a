import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const docs = join(import.meta.dirname, '../docs')
const page = readFileSync(join(docs, 'wallet-requirements.md'), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| demand |'))
  .map((line) => line.slice(2, -2).split(' | '))

/** A title at the beginning of a test, not in a comment. */
const hasTest = (path: string, title: string): boolean =>
  readFileSync(join(docs, path), 'utf8')
    .split('\n')
    .some((line) => /^\s*(?:test|it)(?:\.\w+\([^)]*\))?\(/.test(line) && line.includes(title))

test('docs/wallet-requirements.md says of every demand once whether it is met, and names an existing test if it is', () => {
  expect(rows.length).toBeGreaterThan(25)
  const wrong = rows.filter(([, , met, named = '']) => {
    const [, title = '', path = ''] = /^\[([^[\]]+)\]\((\.\.\/[^)]+\.test\.ts)\)$/.exec(named) ?? []
    return met === 'yes' ? path === '' || !hasTest(path, title) : met !== 'no' || named !== '–'
  })
  expect(wrong).toEqual([])
  expect(new Set(rows.map(([demand]) => demand)).size).toBe(rows.length)
})
