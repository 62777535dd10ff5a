import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { freePort, isPortFree } from '@swapyard/lib/free-port.ts'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openDatabase } from '../../server/src/adapters/postgres/core/database.ts'
import { createDatabase } from '../support/database.ts'
import { type InstalledSdk, installSdk } from '../support/installed-sdk.ts'
import { findLedgerFaults } from '../support/ledger.ts'
import { lockMarket } from '../support/market-lock.ts'
import { nullIfNotListening } from '../support/not-listening.ts'
import { blocksOf, SAMPLE_URL } from '../support/page-samples.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { serverMain } from '../support/server-main.ts'
import { until } from '../support/until.ts'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'swapyard-readme-'))
const closers: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true, force: true })]
let port = 8080
let databaseUrl = ''
let installed: InstalledSdk
/** The end of the program's log, which says why it did not start. */
const LAST_LINES_CHARACTERS = 2_000

beforeAll(async () => {
  const database = await createDatabase(inject('databaseUrl'))
  closers.unshift(() => database.drop())
  databaseUrl = database.url
  port = (await isPortFree(8080)) ? 8080 : await freePort()
  const child = spawn(process.execPath, [serverMain, 'start', '--sandbox'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      PORT: String(port),
      DATABASE_URL: databaseUrl,
      // As in all suites: on a busy machine Postgres takes seconds to open a connection.
      SWAPYARD_POOL_WAIT_MS: '9000',
      SWAPYARD_DATA_DIR: folder,
      SWAPYARD_CHAINS: inject('chainsFile'),
    },
  })
  let lastLines = ''
  child.stdout.on('data', (chunk: Buffer) => {
    lastLines = (lastLines + chunk).slice(-LAST_LINES_CHARACTERS)
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  closers.unshift(() => {
    child.kill('SIGTERM')
    return ended
  })
  await until('the program is ready', async () => {
    if (child.exitCode !== null) throw new Error(`the program exited with ${child.exitCode}: ${lastLines}`)
    return (await fetch(`http://127.0.0.1:${port}/health/ready`).catch(nullIfNotListening))?.status === 200
  })
  installed = await installSdk(`http://127.0.0.1:${port}`)
  closers.unshift(async () => installed.remove())
})

afterAll(async () => {
  for (const close of closers) await close()
})

test('the example in the README works as printed', async () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const [printed = '', ...others] = [...readme.matchAll(/^```sh\n([^`]*curl[^`]*)^```$/gm)].map(
    ([, block = '']) => block,
  )
  expect(others).toEqual([])
  expect(printed.split(':8080')).toHaveLength(2)
  // A recipient of its own: other tests of this run pay the printed one on the same chains.
  const recipient = `0x${randomBytes(20).toString('hex')}`
  const script = printed.replace(':8080', `:${port}`).replace(/^to=0x[0-9a-f]{40}$/m, `to=${recipient}`)
  expect(script).toContain(recipient)
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  expect(errors).toBe('')
  const [quote = '', hash = '', ...rest] = out.trim().split('\n')
  expect(JSON.parse(hash)).toEqual({ hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(rest.at(-2)).toBe('finished')
  expect(JSON.parse(rest.at(-1) ?? '')).toEqual({ amount: String(JSON.parse(quote).toAmount) })
})

/** An example of the swap guide, as a program that has installed the client library; what it prints. */
async function runExample(at: number): Promise<string> {
  const printed = blocksOf('docs/guides/swap.md', 'ts')[at] ?? ''
  const file = join(installed.project, `example-${at}.mts`)
  writeFileSync(file, printed.replaceAll(SAMPLE_URL, `http://127.0.0.1:${port}`))
  const child = spawn(process.execPath, [file], {
    cwd: installed.project,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: installed.env,
  })
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  expect(errors).toBe('')
  return out
}

const amountsIn = (out: string) => [...out.matchAll(/brought ([0-9.]+)/g)].map(([, amount]) => Number(amount))

// The sandbox's prices move, so the values are approximate.
test(
  'the example with viem of the swap guide works as printed',
  async () => {
    const unlock = await lockMarket(inject('databaseUrl'), 'base')
    const out = await runExample(0)
    await unlock()
    const [usd = 0, ether = 0] = amountsIn(out)
    expect(usd).toBeGreaterThan(100)
    expect(ether * usd).toBeGreaterThan(95)
    expect(ether * usd).toBeLessThan(105)
  },
  4 * PATIENCE_MS,
)

test.each([
  ['@solana/kit', 1, 'sol', 150],
  ['@mysten/sui', 2, 'sui', 2],
])(
  'the example with %s of the swap guide works as printed',
  async (_, at, network, usd) => {
    const unlock = await lockMarket(inject('databaseUrl'), network)
    const out = await runExample(at)
    await unlock()
    const [received = 0] = amountsIn(out)
    expect(received).toBeGreaterThan(usd / 2)
    expect(received).toBeLessThan(2 * usd)
  },
  4 * PATIENCE_MS,
)

// What the chains hold is compared in the scenarios: this program has keys of its own.
test('the examples leave a balanced ledger', async () => {
  const database = openDatabase(databaseUrl, { max: 1, waitMs: PATIENCE_MS })
  try {
    const postings = await database.query("select 1 from postings where credit like 'liability:exchange:%'")
    expect(postings.length).toBeGreaterThan(0)
    expect(await findLedgerFaults(database)).toEqual([])
  } finally {
    await database.close()
  }
})
