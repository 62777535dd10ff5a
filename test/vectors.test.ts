import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test, vi } from 'vitest'
import { readOwnVectors, readPublicVectors } from './support/vectors.ts'

const root = join(import.meta.dirname, '..')
const emptyFolder = pathToFileURL(`${join(root, 'no-such-folder')}/`)

describe('vectors of the repository', () => {
  test('are each listed in vectors/README.md, with their source', () => {
    const files = readdirSync(join(root, 'vectors')).filter((file) => file !== 'README.md')
    const rows = readFileSync(join(root, 'vectors/README.md'), 'utf8').matchAll(/^\| `([\w.]+)` \| \S/gm)
    expect([...rows].map(([, file]) => file).sort()).toEqual(files.sort())
    expect(files).toHaveLength(5)
  })

  test('are read as JSON or line by line', () => {
    expect(readOwnVectors<{ cases: object[] }>('routing_shapes.json').cases).toHaveLength(48)
    expect(readOwnVectors<object[]>('bad_inputs.jsonl')).toHaveLength(169)
  })
})

describe('vectors beside the repository', () => {
  test('fail in CI if they are missing', () => {
    const read = () => readPublicVectors('kyber_curve.json', { folder: emptyFolder, mustExist: true })
    expect(read).toThrow('kyber_curve.json is missing in ../shared/vectors beside the repository; CI needs it')
  })

  test('are skipped elsewhere, with one line that names the file', () => {
    const info = vi.spyOn(console, 'info').mockReturnValue()
    try {
      expect(readPublicVectors('kyber_curve.json', { folder: emptyFolder, mustExist: false })).toBeNull()
      expect(info.mock.calls).toEqual([
        ['kyber_curve.json is missing in ../shared/vectors beside the repository: its tests are skipped'],
      ])
    } finally {
      info.mockRestore()
    }
  })

  test('are read by one module only', () => {
    const files = globSync('{bench,contracts,lib,sandbox,schema,scripts,server,test}/**/*.{ts,mjs,js}', {
      cwd: root,
      exclude: (path) => path.includes('node_modules'),
    })
    expect(files.length).toBeGreaterThan(1_000)
    const readers = files.filter((path) => /shared[/'", ]+vectors/.test(readFileSync(join(root, path), 'utf8')))
    expect(readers.sort()).toEqual(['test/support/vectors.ts', 'test/vectors.test.ts'])
  })
})
