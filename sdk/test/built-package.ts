import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packPackage } from '../build.ts'

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
  const tarball = join(root, 'swapyard-sdk.tgz')
  await packPackage(tarball)
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
