import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hasTestOf } from './support/test-titles.ts'

const docs = join(import.meta.dirname, '../docs')
const rows = readFileSync(join(docs, 'fake-deposits.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| D\d+ /.test(line))

test('docs/fake-deposits.md lists every case with existing files, and a test of one of them names it in its title', () => {
  // The numbers 24 to 40 belong to networks that are not served yet.
  const served = [...Array.from({ length: 23 }, (_, n) => n + 1), 41, 42, 43, 44, 45, 46, 47]
  expect(rows.map((row) => row.match(/^\| (D\d+) /)?.[1])).toEqual(served.map((n) => `D${n}`))
  for (const row of rows) {
    const name = row.match(/^\| (D\d+) /)?.[1] ?? ''
    const files = [...row.matchAll(/\]\(([^)]+)\)/g)].map(([, file = '']) => join(docs, file))
    expect(
      files.filter((file) => !existsSync(file)),
      name,
    ).toEqual([])
    expect(
      files.some((file) => hasTestOf(name, readFileSync(file, 'utf8'))),
      `a test of ${name}`,
    ).toBe(true)
  }
})
