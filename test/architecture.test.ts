import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { law } from './architecture/law.ts'
import * as rules from './architecture/rules.ts'
import { parseSource } from './architecture/source-file.ts'
import { toyFaults, toyLaw, toyTree } from './architecture/toy-tree.ts'

const root = join(import.meta.dirname, '..')
const folders = ['schema/src', 'server/src', 'server/networks', 'server/currencies', 'server/dexes', 'sandbox/src']

const paths = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(path))
    .map((path) => `${folder}/${path}`),
)
const files = paths.map((path) => parseSource(path, readFileSync(join(root, path), 'utf8')))
const named = Object.entries(rules) as [string, rules.Rule][]

describe('the house', () => {
  test.for(named)('%s', ([, rule]) => {
    expect(rule(files, law)).toEqual([])
  })

  test('was seen', () => {
    // Another walk than the one above, and numbers that only ever grow: a check that finds nothing must not pass.
    const there = globSync(
      folders.map((folder) => `${folder}/**/*.ts`),
      { cwd: root },
    ).filter((path) => !/\.(test|fixture)\.ts$/.test(path))
    expect(files.map(({ path }) => path).sort()).toEqual(there.sort())
    expect(files.length).toBeGreaterThan(240)
    expect(files.flatMap(({ imports }) => imports).length).toBeGreaterThan(900)
    expect(files.flatMap(({ functions }) => functions).length).toBeGreaterThan(1500)
  })
})

describe('the check, on a toy house with planted faults', () => {
  const toys = Object.entries(toyTree).map(([path, text]) => parseSource(path, text))
  test.for(named)('%s', ([name, rule]) => {
    expect(rule(toys, toyLaw)).toEqual(toyFaults[name as keyof typeof rules])
  })
})
