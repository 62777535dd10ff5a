import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const folder = join(import.meta.dirname, '../contracts/src')
const forbidden = /\btx\.origin\b|\bdelegatecall\b|\bcallcode\b|\bselfdestruct\b/g

test('contracts use neither tx.origin nor delegatecall (C-11)', () => {
  const files = globSync('**/*.sol', { cwd: folder })
  expect(files.length).toBeGreaterThan(5)
  const matches = files.flatMap((file) => readFileSync(join(folder, file), 'utf8').match(forbidden) ?? [])
  expect(matches).toEqual([])
  expect('target.delegatecall(data); require(tx.origin == a);'.match(forbidden)).toHaveLength(2)
})
