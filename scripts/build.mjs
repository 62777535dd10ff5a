// Builds the server and what it serves of web/ and sdk/ if their sources have changed. Plain JavaScript for Node 20 without dependencies.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from './lock.mjs'

/** The scripts, and what their results are made of. The packages are covered by the lock file. */
export const builds = [
  {
    script: 'server/build.ts',
    stamp: 'server/dist/.stamp',
    sources: [
      'package-lock.json',
      ...['build.ts', 'package.json', 'src', 'networks', 'currencies', 'dexes'].map((name) => `server/${name}`),
      ...['contracts/generated', 'contracts/package.json', 'contracts/src', 'lib', 'schema'],
    ],
  },
  {
    script: 'web/build.ts',
    stamp: 'web/dist/.stamp',
    sources: ['package-lock.json', 'web', 'sdk/src', 'schema/src'],
  },
  {
    script: 'sdk/build.ts',
    stamp: 'sdk/dist/.stamp',
    sources: [
      'package-lock.json',
      'tsconfig.json',
      ...['LICENSE', 'README.md', 'build.ts', 'package.json', 'src', 'tsconfig.build.json'].map(
        (name) => `sdk/${name}`,
      ),
    ],
  },
]
const ignored = new Set(['dist', 'node_modules'])
const isTest = (name) => name.endsWith('.test.ts')

function hashInto(hash, root, path) {
  const file = join(root, path)
  if (!statSync(file).isDirectory()) {
    hash.update(path).update(readFileSync(file))
    return
  }
  for (const name of readdirSync(file).sort())
    if (!ignored.has(name) && !isTest(name)) hashInto(hash, root, `${path}/${name}`)
}

function computeStamp(root, sources) {
  const hash = createHash('sha256')
  for (const source of sources) hashInto(hash, root, source)
  return hash.digest('hex')
}

/** Those that never ran, or whose sources have changed since. */
const findOutdated = (root) =>
  builds
    .map((build) => ({ ...build, hash: computeStamp(root, build.sources) }))
    .filter(({ stamp, hash }) => !existsSync(join(root, stamp)) || readFileSync(join(root, stamp), 'utf8') !== hash)

function run(root, node, { script, stamp, hash }) {
  // A test run sets NODE_ENV to `test`, for which React builds its development version.
  const env = { ...process.env, NODE_ENV: 'production' }
  const child = spawn(node, [join(root, script)], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      if (code !== 0) {
        reject(new Error(`${script} failed:\n${Buffer.concat(output).toString('utf8').slice(-4000)}`))
        return
      }
      writeFileSync(join(root, stamp), hash)
      resolve()
    })
  })
}

/**
 * Makes the bundle of the server, the pages of web/ and the archive of the client library match their sources. If they already do, the
 * check takes some ten milliseconds. `node`: path of Node 24.
 */
export async function buildOutdated(root, node) {
  if (findOutdated(root).length === 0) return
  await withLock(join(root, '.cache', 'build.lock'), 'building the server and its pages', async () => {
    const outdated = findOutdated(root)
    if (outdated.length === 0) return
    console.error(
      'swapyard: building the server, the pages of web/ and the client library (once after a change, some seconds)',
    )
    const ended = await Promise.allSettled(outdated.map((build) => run(root, node, build)))
    for (const { reason } of ended) if (reason !== undefined) throw reason
  })
}
