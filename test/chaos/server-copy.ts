import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const repository = join(import.meta.dirname, '../..')

/** A change of one file of the server: `find` must stand in it exactly once. */
export type Patch = Readonly<{ file: string; find: string; put: string }>

/** A copy of what a server process needs, changed. The checkout stays as it is. */
export function copyServer(to: string, patches: readonly Patch[]): string {
  mkdirSync(to)
  // Other parts that the server serves or imports lie where they lie.
  for (const name of ['node_modules', 'sandbox', 'web', 'contracts', 'vectors', 'docs'].filter((one) =>
    existsSync(join(repository, one)),
  ))
    symlinkSync(join(repository, name), join(to, name))
  for (const name of ['schema', 'server']) cpSync(join(repository, name), join(to, name), { recursive: true })
  cpSync(join(repository, 'package.json'), join(to, 'package.json'))
  for (const { file, find, put } of patches) {
    const path = join(to, file)
    const text = readFileSync(path, 'utf8')
    const parts = text.split(find)
    if (parts.length !== 2)
      throw new Error(`${file} has ${parts.length - 1} times what the planted bug changes: ${find}`)
    writeFileSync(path, parts.join(put))
  }
  return to
}
