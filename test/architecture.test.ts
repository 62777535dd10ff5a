import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { architecture } from './architecture/layers.ts'
import * as rules from './architecture/rules.ts'
import { sampleArchitecture, sampleFaults, sampleTree } from './architecture/sample-tree.ts'
import { parseSource } from './architecture/source-file.ts'

const root = join(import.meta.dirname, '..')
const folders = ['lib/src', 'schema/src', 'server/src', 'server/networks', 'server/currencies', 'server/dexes', 'sandbox/src']
const topOfServer = ['adapters', 'app', 'cli', 'config', 'core', 'exchange', 'lib', 'main.ts', 'pages', 'swap']

const paths = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(path))
    .map((path) => `${folder}/${path}`),
)
const files = paths.map((path) => parseSource(path, readFileSync(join(root, path), 'utf8')))
const named = Object.entries(rules) as [string, rules.Rule][]

describe('the source tree', () => {
  test.for(named)('%s', ([, rule]) => {
    expect(rule(files, architecture)).toEqual([])
  })

  test('names the product at its top', () => {
    expect(readdirSync(join(root, 'server/src')).sort()).toEqual(topOfServer)
  })

  test('was read completely', () => {
    // A second walk, and counts well below the real ones: a check that reads nothing must not pass.
    const found = globSync(
      folders.map((folder) => `${folder}/**/*.ts`),
      { cwd: root },
    ).filter((path) => !/\.(test|fixture)\.ts$/.test(path))
    expect(files.map(({ path }) => path).sort()).toEqual(found.sort())
    expect(files.length).toBeGreaterThan(600)
    expect(files.flatMap(({ imports }) => imports).length).toBeGreaterThan(2500)
    expect(files.flatMap(({ functions }) => functions).length).toBeGreaterThan(3000)
  })
})

describe('the rules, on a sample tree with planted faults', () => {
  const sample = Object.entries(sampleTree).map(([path, text]) => parseSource(path, text))
  test.for(named)('%s', ([name, rule]) => {
    expect(rule(sample, sampleArchitecture)).toEqual(sampleFaults[name as keyof typeof rules])
  })
})
