// Builds the pages of web/ if their sources have changed. Plain JavaScript for Node 20 without dependencies.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from './lock.mjs'

/** What the bundles are made of. The packages are covered by the lock file. */
const sources = ['package-lock.json', 'web', 'sdk/src', 'schema/src']
const ignored = new Set(['dist', 'node_modules'])

const stampPath = (root) => join(root, 'web', 'dist', '.stamp')

function hashInto(hash, path) {
  if (!statSync(path).isDirectory()) {
    hash.update(path).update(readFileSync(path))
    return
  }
  for (const name of readdirSync(path).sort()) if (!ignored.has(name)) hashInto(hash, join(path, name))
}

function computeStamp(root) {
  const hash = createHash('sha256')
  for (const source of sources) hashInto(hash, join(root, source))
  return hash.digest('hex')
}

const isBuilt = (root, stamp) => existsSync(stampPath(root)) && readFileSync(stampPath(root), 'utf8') === stamp

/** Makes web/dist match its sources. If it already does, the check takes a few milliseconds. `node`: path of Node 24. */
export async function buildPages(root, node) {
  const stamp = computeStamp(root)
  if (isBuilt(root, stamp)) return
  await withLock(join(root, '.cache', 'pages.lock'), 'building the pages', () => {
    if (isBuilt(root, stamp)) return
    console.error('swapyard: building the pages of web/ (once after a change, some seconds)')
    const { status, stdout, stderr } = spawnSync(node, [join(root, 'web', 'build.ts')], { cwd: root, encoding: 'utf8' })
    if (status !== 0) throw new Error(`web/build.ts failed:\n${`${stdout}${stderr}`.slice(-4000)}`)
    writeFileSync(stampPath(root), stamp)
  })
}
