import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { architecture } from './architecture/layers.ts'
import * as rules from './architecture/rules.ts'
import { sampleArchitecture, sampleFaults, sampleTree } from './architecture/sample-tree.ts'
import { parseSource } from './architecture/source-file.ts'

const root = join(import.meta.dirname, '..')
const folders = [
  'lib/src',
  'schema/src',
  'server/src',
  'server/networks',
  'server/currencies',
  'server/dexes',
  'sandbox/src',
  'sdk/src',
]
const topOfServer = [
  'adapters',
  'admin',
  'app',
  'cli',
  'config',
  'core',
  'events',
  'exchange',
  'lib',
  'main.ts',
  'pages',
  'swap',
]

const paths = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(path))
    .map((path) => `${folder}/${path}`),
)
const files = paths.map((path) => parseSource(path, readFileSync(join(root, path), 'utf8')))
const namedRules = Object.entries(rules) as [string, rules.Rule][]

describe('the source tree', () => {
  test.for(namedRules)('%s', ([, rule]) => {
    expect(rule(files, architecture)).toEqual([])
  })

  test('has the top folders of server/src that ARCHITECTURE.md describes', () => {
    expect(readdirSync(join(root, 'server/src')).sort()).toEqual(topOfServer)
  })

  test('is read completely', () => {
    // A second search and minimum counts, so that a check that reads nothing fails.
    const expected = globSync(
      folders.map((folder) => `${folder}/**/*.ts`),
      { cwd: root },
    ).filter((path) => !/\.(test|fixture)\.ts$/.test(path))
    expect(files.map(({ path }) => path).sort()).toEqual(expected.sort())
    expect(files.length).toBeGreaterThan(600)
    expect(files.flatMap(({ imports }) => imports).length).toBeGreaterThan(2500)
    expect(files.flatMap(({ functions }) => functions).length).toBeGreaterThan(3000)
  })
})

describe('the rules on a sample tree with planted faults', () => {
  const sample = Object.entries(sampleTree).map(([path, text]) => parseSource(path, text))
  test.for(namedRules)('%s', ([name, rule]) => {
    expect(rule(sample, sampleArchitecture)).toEqual(sampleFaults[name as keyof typeof rules])
  })
})
