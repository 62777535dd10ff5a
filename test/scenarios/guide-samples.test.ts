import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { freePort } from '@swapyard/lib/free-port.ts'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type BuiltPackage, installBuiltPackage } from '../../sdk/test/built-package.ts'
import { startSandbox } from '../../sdk/test/start-sandbox.ts'
import { describeWith, type Requirement } from '../support/describe-with.ts'
import { lockMarket } from '../support/market-lock.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { until } from '../support/until.ts'

/** Every sample of the guides runs as it is printed; only the address of the sandbox is replaced. */

/** The calls of webhooks are not in the API yet. Once they are, set this to true. */
const API_HAS_WEBHOOKS = true

const root = join(import.meta.dirname, '../..')
const languages = ['sh', 'ts', 'python'] as const
type Language = (typeof languages)[number]
type Sample = Readonly<Record<Language, string>>

const typescript = join(root, 'node_modules/typescript/bin/tsc')
const requirementOf: Readonly<Record<Language, Requirement | null>> = { sh: 'jq', ts: null, python: 'python3' }
const pages = [...globSync('docs/partners/*.md', { cwd: root }), 'docs/errors.md', 'docs/guides/swap.md'].sort()

const GROUP = /^```sh\n([\s\S]*?)^```\n```ts\n([\s\S]*?)^```\n```python\n([\s\S]*?)^```$/gm
const groupsOf = (page: string): Sample[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(GROUP)].map(([, sh = '', ts = '', python = '']) => ({
    sh,
    ts,
    python,
  }))
/** The samples of a page build upon each other. */
const programOf = (page: string): Sample => {
  const groups = groupsOf(page)
  const join = (language: Language) => groups.map((group) => group[language]).join('\n')
  return { sh: join('sh'), ts: join('ts'), python: join('python') }
}
const printedBy = (page: string): string =>
  /^```text\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, page), 'utf8'))?.[1] ?? ''

let built: BuiltPackage
let url = ''
const closers: (() => unknown)[] = []

beforeAll(async () => {
  built = await installBuiltPackage()
  closers.unshift(built.remove)
  const sandbox = await startSandbox()
  closers.unshift(sandbox.stop)
  url = sandbox.url
}, 4 * PATIENCE_MS)
afterAll(async () => {
  for (const close of closers) await close()
})

let files = 0

type Program = ChildProcessByStdio<null, Readable, Readable>

function start(language: Language, code: string, env: Record<string, string> = {}): Program {
  files += 1
  const extension = { sh: 'sh', ts: 'mts', python: 'py' }[language]
  const file = join(built.project, `sample-${files}.${extension}`)
  writeFileSync(file, code.replaceAll('http://127.0.0.1:8080', url))
  const program = { sh: 'sh', ts: process.execPath, python: 'python3' }[language]
  return spawn(program, [file], {
    cwd: built.project,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 3 * PATIENCE_MS,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
  })
}

/** Runs a program to its end and returns what it printed. */
async function run(language: Language, code: string, env: Record<string, string> = {}): Promise<string> {
  const child = start(language, code, env)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [out, errors, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  expect([exitCode, errors]).toEqual([0, ''])
  return out
}

const ETHER = /^0\.\d+$/
const match = (line: string | undefined, pattern: RegExp): readonly string[] => {
  expect(line).toMatch(pattern)
  return pattern.exec(line ?? '')?.slice(1) ?? []
}

/** What the samples of each page print. The output on the page is held to the same. */
const expectations: Readonly<Record<string, (lines: readonly string[]) => void>> = {
  'docs/partners/first-exchange.md'(lines) {
    const [quoted = ''] = match(lines[0], /^0\.01 BTC pays (\S+) ETH$/)
    match(lines[1], /^pay 0\.01 BTC to bc\S+$/)
    expect(lines.at(-2)).toBe('finished')
    for (const line of lines.slice(2, -1)) match(line, /^(pending|confirming|exchanging|sending|finished)$/)
    const [paid = ''] = match(lines.at(-1), /^the recipient got (\S+) ETH$/)
    expect(paid).toMatch(ETHER)
    // The rate floats, and the prices of the sandbox move.
    expect(Math.abs(Number(paid) / Number(quoted) - 1)).toBeLessThan(0.05)
  },
  'docs/partners/fixed-rates.md'(lines) {
    const [promised = ''] = match(lines[0], /^promised (\S+) ETH$/)
    match(lines[1], /^fixed until 20\d\d-\d\d-\d\dT\S+Z$/)
    expect(promised).toMatch(ETHER)
    expect(lines.slice(2)).toEqual([`paid ${promised} ETH`])
  },
  'docs/partners/refunds.md'(lines) {
    expect([lines[0], ...lines.slice(2)]).toEqual([
      'refunded because of BELOW_MIN',
      'verifying because of REFUND_ADDRESS_REQUIRED',
      'refunded',
    ])
    match(lines[1], /^\d+\.\d+ usdt to 0x90f79bf6eb2c4f870365e785982e1f101e93b906$/i)
  },
  'docs/partners/private-exchanges.md'(lines) {
    match(lines[0], /^0\.02 BTC pays about 0\.\d+ ETH through [a-z]+$/)
    expect(lines.slice(1)).toEqual(['finished in 2 legs'])
  },
  'docs/errors.md'(lines) {
    expect(lines).toEqual(['AMOUNT_BELOW_MIN', 'created once'])
  },
  'docs/guides/swap.md'(lines) {
    const [usd = ''] = match(lines[0], /^1 ETH buys (\S+) USDC$/)
    expect(Number(usd)).toBeGreaterThan(100)
    expect(lines.slice(1)).toEqual(['1 transaction to sign'])
  },
}
const WEBHOOKS = 'docs/partners/webhooks.md'

const linesOf = (out: string): readonly string[] => out.trim().split('\n')

async function runPage(page: string, language: Language): Promise<void> {
  const program = programOf(page)[language]
  if (page !== 'docs/guides/swap.md') return expectations[page]?.(linesOf(await run(language, program)))
  // A trade of another test between quote and build would change the price.
  const unlock = await lockMarket(inject('databaseUrl'), 'base')
  try {
    expectations[page]?.(linesOf(await run(language, program)))
  } finally {
    await unlock()
  }
}

describe('the samples', () => {
  test('are all run', () => {
    for (const page of pages) {
      const fences = [...readFileSync(join(root, page), 'utf8').matchAll(/^```(sh|ts|python)$/gm)]
      expect([page, fences.length]).toEqual([page, 3 * groupsOf(page).length])
    }
    const withSamples = pages.filter((page) => groupsOf(page).length > 0)
    expect(withSamples).toEqual([...Object.keys(expectations), WEBHOOKS].sort())
  })

  test(
    'in TypeScript have no type errors',
    () => {
      const names = [...Object.keys(expectations), WEBHOOKS].map((page, at) => {
        const groups = groupsOf(page)
        const shown = page === WEBHOOKS && !API_HAS_WEBHOOKS ? groups.slice(1) : groups
        const file = `checked-${at}.mts`
        writeFileSync(join(built.project, file), shown.map(({ ts }) => ts).join('\n'))
        return file
      })
      const options = ['--noEmit', '--strict', '--target', 'es2024', '--module', 'nodenext', '--types', 'node']
      const { stdout } = spawnSync(
        process.execPath,
        [typescript, ...options, '--typeRoots', join(root, 'node_modules/@types'), ...names],
        { cwd: built.project, encoding: 'utf8' },
      )
      expect(stdout).toBe('')
    },
    4 * PATIENCE_MS,
  )

  test('print what the page shows', () => {
    const shown = Object.entries(expectations).filter(([page]) => printedBy(page) !== '')
    for (const [page, check] of shown) check(linesOf(printedBy(page)))
    expect(shown.length).toBeGreaterThan(3)
  })
})

for (const language of languages) {
  const define = () => {
    test.concurrent.for(Object.keys(expectations))('of %s work as printed', { timeout: 4 * PATIENCE_MS }, (page) =>
      runPage(page, language),
    )
  }
  const requirement = requirementOf[language]
  if (requirement === null) describe(language, define)
  else describeWith(requirement, language, define)
}

describe.each(['ts', 'python'] as const)('the receiver of webhooks in %s', (language) => {
  const define = () => {
    test('accepts a signed delivery once and refuses every other', async () => {
      const port = await freePort()
      const secret = 'whsec_of_this_test'
      const [, receivers] = groupsOf(WEBHOOKS)
      const receiver = start(language, receivers?.[language] ?? '', {
        WEBHOOK_SECRET: secret,
        WEBHOOK_PORT: String(port),
      })
      let printed = ''
      for (const stream of [receiver.stdout, receiver.stderr])
        stream.setEncoding('utf8').on('data', (chunk: string) => {
          printed += chunk
        })
      try {
        await until('the receiver listens', () => printed.includes('listening\n'))
        const target = `http://127.0.0.1:${port}/swapyard`
        const send = (WEBHOOK_SECRET: string) => run('sh', receivers?.sh ?? '', { WEBHOOK_SECRET, WEBHOOK_URL: target })
        expect(await send(secret)).toBe('204\n')
        // A repeat is accepted, and not acted on again.
        expect(await send(secret)).toBe('204\n')
        expect(await send('another secret')).toBe('400\n')
        const deliver = async (body: string, signature: string) =>
          (await fetch(target, { method: 'POST', body, headers: { 'x-swapyard-signature': signature } })).status
        const sign = (time: number, body: string) =>
          `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`
        const now = Math.floor(Date.now() / 1_000)
        const other = '{"id":"evt_2","type":"exchange.updated","created":"2026-11-26T12:00:00.000Z","data":{}}'
        expect(await deliver(other, sign(now - 1_000, other))).toBe(400)
        expect(await deliver(other.replace('evt_2', 'evt_3'), sign(now, other))).toBe(400)
        expect(await deliver(other, '')).toBe(400)
        // While a secret is replaced, deliveries have two signatures.
        expect(await deliver(other, sign(now, other).replace(',', `,v1=${'0'.repeat(64)},`))).toBe(204)
        await until('the receiver has printed both', () => printed.includes('evt_2'))
        expect(printed).toBe('listening\nexchange.updated evt_1\nexchange.updated evt_2\n')
      } finally {
        receiver.kill('SIGKILL')
      }
    })
  }
  if (language === 'python') describeWith('python3', 'runs', define)
  else define()
})

if (API_HAS_WEBHOOKS)
  test.for(languages)('the registration of a webhook in %s returns the secret', async (language) => {
    const [registration] = groupsOf(WEBHOOKS)
    expect(await run(language, registration?.[language] ?? '')).toMatch(/^\S{16,}\n$/)
  })
