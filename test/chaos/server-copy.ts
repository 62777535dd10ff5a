import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const repository = join(import.meta.dirname, '../..')

/** Replaces `find` by `put` in one file of the server. `find` must occur in it exactly once. */
export type Patch = Readonly<{ file: string; find: string; put: string }>

/** Copies the sources of a server process and applies the patches. The checkout does not change. */
export function copyServer(to: string, patches: readonly Patch[]): string {
  mkdirSync(to)
  // Folders that the server imports or serves unchanged are linked.
  for (const name of ['node_modules', 'sandbox', 'web', 'contracts', 'vectors', 'docs'].filter((one) =>
    existsSync(join(repository, one)),
  ))
    symlinkSync(join(repository, name), join(to, name))
  const isSource = (path: string) => path !== join(repository, 'server/dist')
  for (const name of ['schema', 'server'])
    cpSync(join(repository, name), join(to, name), { recursive: true, filter: isSource })
  cpSync(join(repository, 'package.json'), join(to, 'package.json'))
  for (const { file, find, put } of patches) {
    const path = join(to, file)
    const text = readFileSync(path, 'utf8')
    const parts = text.split(find)
    if (parts.length !== 2)
      throw new Error(`${file} contains the quoted line of the patch ${parts.length - 1} times, not once: ${find}`)
    writeFileSync(path, parts.join(put))
  }
  return to
}
