import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const CASES = `import { beforeAll, describe, expect, test } from 'vitest'
test('passes', () => {})
test('fails', () => expect(1).toBe(2))
test('has no program', ({ skip }) => skip('litecoind is missing'))
test.skipIf(true)('has no file', () => {})
test.todo('is not written')
describe('group', () => {
  beforeAll(() => {
    throw new Error('the hook fails')
  })
  test('does not run', () => {})
})`
const NOT_LOADED = `import './missing.ts'`

/** Runs `npm test` on a folder with these test files. Returns the output, the lines of the summary in it, and the exit code. */
function runTests({
  files,
  ci = false,
  args = [],
  globalSetup,
}: Readonly<{
  files: Readonly<Record<string, string>>
  ci?: boolean
  args?: readonly string[]
  globalSetup?: string
}>) {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-summary-test-'))
  folders.push(folder)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  mkdirSync(join(folder, 'test'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'test', name), text)
  if (globalSetup !== undefined) writeFileSync(join(folder, 'setup.ts'), globalSetup)
  const config = join(folder, 'vitest.config.mjs')
  const setup = globalSetup === undefined ? '' : `globalSetup: 'setup.ts',`
  writeFileSync(
    config,
    `import createReporter from ${JSON.stringify(join(root, 'scripts/test-reporter.mjs'))}
    export default { test: { include: ['test/*.test.ts'], ${setup} reporters: [createReporter()] } }`,
  )
  const { stdout, status } = spawnSync(
    process.execPath,
    [join(root, 'scripts/run.mjs'), 'test', `--root=${folder}`, `--config=${config}`, ...args],
    { encoding: 'utf8', env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...(ci ? { CI: 'true' } : {}) } },
  )
  const lines = stdout.split('\n').filter((line) => /^(skipped|failed): |^\d+ passed/.test(line))
  return { lines: lines.map((line) => line.replaceAll(/\S*\/test\//g, '')), status, stdout }
}

const failures = [
  'failed: a.test.ts > group: the hook fails',
  'failed: a.test.ts > fails: expected 1 to be 2 // Object.is equality',
]

test('a skipped test is a failure in CI', () => {
  const { lines, status } = runTests({ files: { 'a.test.ts': CASES }, ci: true })
  expect({ lines, status }).toEqual({
    lines: [
      'skipped: a.test.ts > is not written: no reason given',
      'skipped: a.test.ts > group > does not run: no reason given',
      failures[0],
      failures[1],
      'failed: a.test.ts > has no program: skipped in CI: litecoind is missing',
      'failed: a.test.ts > has no file: skipped in CI: no reason given',
      '1 passed, 4 failed',
    ],
    status: 1,
  })
})

test('a skipped test is no failure elsewhere, and its reason is printed', () => {
  const { lines, status } = runTests({ files: { 'a.test.ts': CASES } })
  expect({ lines, status }).toEqual({
    lines: [
      'skipped: a.test.ts > has no program: litecoind is missing',
      'skipped: a.test.ts > has no file: no reason given',
      'skipped: a.test.ts > is not written: no reason given',
      'skipped: a.test.ts > group > does not run: no reason given',
      ...failures,
      '1 passed, 2 failed',
    ],
    status: 1,
  })
})

test('a test that -t leaves out is no failure in CI', () => {
  const { lines, status } = runTests({ files: { 'a.test.ts': CASES }, ci: true, args: ['-t', 'passes'] })
  expect([lines.at(-1), status]).toEqual(['1 passed, 0 failed', 0])
})

test('a test file that does not load is a failure', () => {
  const { lines, status } = runTests({
    files: { 'a.test.ts': `${CASES.split('\n').slice(0, 2).join('\n')}`, 'b.test.ts': NOT_LOADED },
  })
  expect([lines.at(-1), status]).toEqual(['1 passed, 1 failed', 1])
  expect(lines[0]).toMatch(/^failed: b\.test\.ts: Cannot find module/)
})

test('a failed global setup is a failure', () => {
  const globalSetup = `export function setup() { throw new Error('no Postgres') }`
  const { lines, status } = runTests({ files: { 'a.test.ts': CASES }, globalSetup })
  expect([lines.at(-1), status]).toEqual(['0 passed, 1 failed', 1])
  expect(lines[0]).toMatch(/^failed: /)
})

test('a failure shows how what was received differs', () => {
  const text = `import { expect, test } from 'vitest'
    test('finds nothing', () => expect(['paid twice']).toEqual([]))`
  const { stdout, status } = runTests({ files: { 'a.test.ts': text } })
  expect(stdout).toMatch(/failure: \S+ > finds nothing: .*\+ +"paid twice".*\n0 passed, 1 failed\n$/s)
  expect(status).toBe(1)
})

/** Stops the run when another file has ended. */
const STOPS_RUN = `import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'vitest'
test('is stopped', async () => {
  while (!existsSync(process.env.TEST_SUMMARY_FILE)) await delay(100)
  process.kill(process.ppid, 'SIGTERM')
  await delay(60_000)
}, 60_000)`

test('a run that is stopped reports the failures of the files that have ended', () => {
  const { lines, status } = runTests({
    files: { 'a.test.ts': CASES.split('\n').slice(0, 3).join('\n'), 'b.test.ts': STOPS_RUN },
    args: ['--maxWorkers=2'],
  })
  expect([lines[0], lines.at(-1)]).toEqual([failures[1], '1 passed, 2 failed'])
  expect(lines[1]).toMatch(/^failed: the test run ended with (SIGTERM|\d+) and 1 passed tests, see above$/)
  expect(status).not.toBe(0)
})

/** Runs `.ci/run` with an `npm` of this shell text and without other programs. */
function runBuild(npm: string) {
  const folder = mkdtempSync(join(tmpdir(), 'swapyard-ci-test-'))
  folders.push(folder)
  cpSync(join(root, '.ci'), join(folder, '.ci'), { recursive: true })
  const programs = ['apt-get', 'litecoind', 'monerod', 'monero-wallet-rpc', 'chromium-headless-shell', 'xmllint']
  for (const [name, text] of [['npm', npm] as const, ...programs.map((one) => [one, ''] as const)])
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}`, { mode: 0o755 })
  const { stdout, status } = spawnSync(join(folder, '.ci/run'), {
    encoding: 'utf8',
    env: { PATH: `${folder}:${process.env['PATH']}` },
  })
  return { lines: stdout.trim().split('\n'), status }
}

test('.ci/run runs the checks and all tests, and ends as the tests end', () => {
  const npm = `case "$*" in
    'run check --silent') echo checked ;;
    'test --silent -- --all') printf 'failed: a > fails: no\\n  reason\\n7 passed, 1 failed\\n'; exit 3 ;;
    *) exit 4 ;;
  esac`
  const { lines, status } = runBuild(npm)
  expect(lines[0]).toBe('checked')
  expect(lines[1]).toMatch(/^ci: the checks took \d+ s$/)
  expect(lines.slice(2)).toEqual(['failed: a > fails: no', '  reason', '7 passed, 1 failed'])
  expect(status).toBe(3)
})

test('.ci/run runs no tests after a failed check', () => {
  const { lines, status } = runBuild('echo "$*"; exit 1')
  expect(lines).toEqual(['run check --silent', 'ci: npm run check failed, see above', '0 passed, 1 failed'])
  expect(status).toBe(1)
})
