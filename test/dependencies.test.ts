import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/dependencies.md'), 'utf8')
const kinds = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const

type Package = Readonly<{ workspaces?: readonly string[] }> &
  Readonly<Partial<Record<(typeof kinds)[number], Record<string, string>>>>

const read = (folder: string): Package => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
const folders = ['', ...(read('').workspaces ?? [])]

/** The packages of a section's table. Every row must name a folder and a reason. */
function readListedPackages(heading: string): string[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? ''
  const rows = section.split('\n').filter((line) => /^\| `/.test(line))
  return rows.flatMap((row) => {
    const [, packages = '', importer = '', reason = ''] = row.split('|').map((cell) => cell.trim())
    expect([importer, reason], row).not.toContain('')
    return [...packages.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  })
}

test.for(folders)('docs/dependencies.md lists the packages of package.json in "%s"', (folder) => {
  const declared = kinds.flatMap((kind) => Object.keys(read(folder)[kind] ?? {}))
  expect(declared.length).toBeGreaterThan(0)
  expect(readListedPackages(folder === '' ? 'The repository' : `\`${folder}\``).sort()).toEqual(declared.sort())
})

test.for(folders)('package.json in "%s" has exact versions', (folder) => {
  const versions = Object.entries(
    Object.assign({}, ...kinds.map((kind) => read(folder)[kind] ?? {})) as Record<string, string>,
  )
  // The tested versions must be the ones that run. Types are not part of the program.
  expect(
    versions.filter(
      ([name, version]) => !name.startsWith('@types/') && !/^(npm:[@/\w-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
    ),
  ).toEqual([])
})

type Locked = Readonly<{
  optional?: boolean
  cpu?: readonly string[]
  os?: readonly string[]
  engines?: { node?: string }
}>

/** Whether a range of Node versions includes those of Node 20. */
const includesNode20 = (range: string): boolean =>
  range.split('||').some((part) => {
    const [, operator, major] = /(\^|>=)\s*(\d+)/.exec(part) ?? []
    return operator === '^' ? major === '20' : Number(major) <= 20
  })

test('npm run by Node 20 installs the packages of every platform (decision 0115)', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, Locked>>
  }
  // npm leaves out an optional package without a word if its `engines` do not match. The tests run on Node 24.
  const left = Object.entries(packages).filter(([, { optional, cpu, os, engines }]) => {
    return optional === true && (cpu ?? os) !== undefined && !includesNode20(engines?.node ?? '>=0')
  })
  expect(left.map(([path]) => path)).toEqual([])
})
