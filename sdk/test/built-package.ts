import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPackage } from '../build.ts'

const folder = join(import.meta.dirname, '..')

export type BuiltPackage = Readonly<{
  /** A project that has installed the package. */
  project: string
  /** The installed package. */
  path: string
  tarball: string
  remove(): void
}>

/** Builds and packs the package as `npm publish` would, and installs the archive into an empty project. */
export async function installBuiltPackage(): Promise<BuiltPackage> {
  const root = mkdtempSync(join(tmpdir(), 'swapyard-sdk-'))
  const source = join(root, 'source')
  mkdirSync(source)
  for (const name of ['package.json', 'README.md', 'LICENSE']) cpSync(join(folder, name), join(source, name))
  await buildPackage(join(source, 'dist'))
  const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--offline', '--pack-destination', root], {
    cwd: source,
    encoding: 'utf8',
  })
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  const tarball = join(root, filename)
  const path = join(root, 'project/node_modules/@swapyard/sdk')
  mkdirSync(path, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', path, '--strip-components=1'])
  return {
    project: join(root, 'project'),
    path,
    tarball,
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}
