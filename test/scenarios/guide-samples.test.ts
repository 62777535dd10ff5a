import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { freePort } from '@swapyard/lib/free-port.ts'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { startSandbox } from '../../sdk/test/start-sandbox.ts'
import { describeWith, type Requirement } from '../support/describe-with.ts'
import { type InstalledSdk, installSdk } from '../support/installed-sdk.ts'
import { lockMarket } from '../support/market-lock.ts'
import {
  blocksOf,
  groupsOf,
  type Language,
  languages,
  partnerPages,
  programOf,
  SAMPLE_URL,
} from '../support/page-samples.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { until } from '../support/until.ts'

/** Every sample of the pages runs as it is printed; only the address of the sandbox is replaced. */

const typescript = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')
const requirementOf: Readonly<Record<Language, Requirement | null>> = { sh: 'jq', ts: null, python: 'python3' }

const printedBy = (page: string): string => blocksOf(page, 'text')[0] ?? ''

let installed: InstalledSdk
let url = ''
const closers: (() => unknown)[] = []

beforeAll(async () => {
  const sandbox = await startSandbox()
  closers.unshift(sandbox.stop)
  url = sandbox.url
  installed = await installSdk(url)
  closers.unshift(installed.remove)
}, 4 * PATIENCE_MS)
afterAll(async () => {
  for (const close of closers) await close()
})

let files = 0

type Program = ChildProcessByStdio<null, Readable, Readable>

function start(language: Language, code: string, env: Record<string, string> = {}): Program {
  files += 1
  const extension = { sh: 'sh', ts: 'mts', python: 'py' }[language]
  const file = join(installed.project, `sample-${files}.${extension}`)
  writeFileSync(file, code.replaceAll(SAMPLE_URL, url))
  const program = { sh: 'sh', ts: process.execPath, python: 'python3' }[language]
  return spawn(program, [file], {
    cwd: installed.project,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 3 * PATIENCE_MS,
    env: { ...installed.env, ...env },
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
    const withSamples = partnerPages.filter((page) => groupsOf(page).length > 0)
    expect(withSamples.toSorted()).toEqual([...Object.keys(expectations), WEBHOOKS].sort())
  })

  test(
    'in TypeScript have no type errors',
    () => {
      // Those of the guide of webhooks are programs of their own.
      const programs = partnerPages.flatMap((page) => [
        ...(page === WEBHOOKS ? groupsOf(page).map(({ ts }) => ts) : [programOf(page).ts]),
        ...blocksOf(page, 'ts'),
      ])
      const names = programs
        .filter((program) => program !== '')
        .map((program, at) => {
          writeFileSync(join(installed.project, `checked-${at}.mts`), program)
          return `checked-${at}.mts`
        })
      expect(names.length).toBe(Object.keys(expectations).length + 3 + 3 + 1)
      const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2024', '--module', 'nodenext']
      const types = ['--types', 'node', '--typeRoots', join(typescript, '../../../@types')]
      const { stdout } = spawnSync(process.execPath, [typescript, ...options, ...types, ...names], {
        cwd: installed.project,
        encoding: 'utf8',
      })
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

describe('the client library that the server serves', () => {
  const page = 'sdk/README.md'
  const [, commands = '', command = ''] = blocksOf(page, 'sh')

  test(
    'quotes, exchanges and explains a refusal in the program of its page',
    async () => {
      const lines = linesOf(await run('ts', blocksOf(page, 'ts')[0] ?? ''))
      match(lines[0], /^quoted 0\.\d+$/)
      expect(lines).toContain('finished')
      expect(lines.at(-2)).toBe(lines[0]?.replace('quoted', 'paid'))
      match(lines.at(-1), /^at least 0\.\d+ is needed$/)
    },
    4 * PATIENCE_MS,
  )

  test(
    'has a command line in the folder of the program, and elsewhere by its address',
    async () => {
      const shown = async (code: string) => {
        const child = start('sh', code)
        const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
        const [out, , exitCode] = await Promise.all([text(child.stdout), text(child.stderr), ended])
        return [exitCode, out] as const
      }
      expect(await shown(commands)).toEqual([
        0,
        expect.stringMatching(/^0\.01 btc@btc pays 0\.\d+ eth@eth\n[\s\S]*\n\S{10,} pending\n/),
      ])
      const elsewhere = `cd "$(mktemp -d)"\nexport SWAPYARD_URL=${SAMPLE_URL} SWAPYARD_API_KEY=sandbox\n${command}`
      expect(await shown(elsewhere)).toEqual([0, expect.stringMatching(/^0\.01 btc@btc pays 0\.\d+ eth@eth\n/)])
    },
    4 * PATIENCE_MS,
  )
})

/** What a program prints, while it runs. */
function collect(program: Program): () => string {
  let printed = ''
  for (const stream of [program.stdout, program.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk
    })
  return () => printed
}

async function call(path: string, body?: unknown): Promise<Record<string, unknown>> {
  const headers = { 'x-api-key': 'sandbox', ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const answer = await fetch(url + path, { headers, ...init })
  expect([path, answer.ok]).toEqual([path, true])
  return (await answer.json()) as Record<string, unknown>
}

const pair = { fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth' }
const recipient = '0xc0ffee254729296a45a3885639ac7e10f9d54979'
const [registration, receivers, streams] = groupsOf(WEBHOOKS)

describe.each(['ts', 'python'] as const)('the receiver of webhooks in %s', (language) => {
  const define = () => {
    test('accepts a delivery of the server and a signed one, each once, and refuses every other', async () => {
      const port = await freePort()
      const at = (code = '') => code.replaceAll('127.0.0.1:9000', `127.0.0.1:${port}`)
      const secret = (await run(language, at(registration?.[language]))).trim()
      const receiver = start(language, receivers?.[language] ?? '', {
        WEBHOOK_SECRET: secret,
        WEBHOOK_PORT: String(port),
      })
      const printed = collect(receiver)
      try {
        await until('the receiver listens', () => printed().includes('listening\n'))
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
        const other = '{"id":"evt_2","type":"exchange.failed","created":"2026-11-26T12:00:00.000Z","data":{}}'
        expect(await deliver(other, sign(now - 1_000, other))).toBe(400)
        expect(await deliver(other.replace('evt_2', 'evt_3'), sign(now, other))).toBe(400)
        expect(await deliver(other, '')).toBe(400)
        // A connection that is silent, and a body without a bound, hold up no other delivery.
        const silent = connect(port, '127.0.0.1')
        await new Promise((resolve) => void silent.once('connect', resolve))
        const large = other.replace('evt_2', 'evt_4').padEnd(2 ** 21)
        expect([413, 'closed']).toContain(await deliver(large, sign(now, large)).catch(() => 'closed'))
        // While a secret is replaced, deliveries have two signatures.
        expect(await deliver(other, sign(now, other).replace(',', `,v1=${'0'.repeat(64)},`))).toBe(204)
        const { data } = (await call('/v1/webhooks')) as { data: { id: string; url: string; events: string[] }[] }
        const webhook = data.find((one) => one.url === target)
        expect(webhook?.events).toEqual(['exchange.finished', 'exchange.failed'])
        const { eventId } = await call(`/v1/webhooks/${webhook?.id}/test`, {})
        await until('the receiver has printed the test', () => printed().includes(`webhook.test ${eventId}\n`))
        // Exchanges of other samples may finish meanwhile.
        const shown = linesOf(printed()).filter((line) => /evt_|webhook\.test/.test(line))
        expect(shown).toEqual(['exchange.finished evt_1', 'exchange.failed evt_2', `webhook.test ${eventId}`])
        silent.destroy()
      } finally {
        receiver.kill('SIGKILL')
      }
    })
  }
  if (language === 'python') describeWith('python3', 'runs', define)
  else define()
})

for (const language of languages) {
  const define = () => {
    test('the registration of a webhook returns the secret', async () => {
      expect(await run(language, registration?.[language] ?? '')).toMatch(/^whsec_\S{16,}\n$/)
    })

    test('the event stream prints the events of an exchange', async () => {
      const reader = start(language, streams?.[language] ?? '')
      const printed = collect(reader)
      try {
        const isPrinted = async () => {
          // The stream begins when it is open.
          const order = { ...pair, fromAmount: '0.01', flow: 'standard', address: recipient }
          const { id } = await call('/v1/cross-chain/exchange', order)
          await call('/v1/cross-chain/exchange/cancel', { id })
          return /exchange\.failed/.test(printed())
        }
        await until('the program prints a cancelled exchange', isPrinted)
      } finally {
        reader.kill('SIGKILL')
      }
    })
  }
  const requirement = requirementOf[language]
  if (requirement === null) describe(`webhooks in ${language}`, define)
  else describeWith(requirement, `webhooks in ${language}`, define)
}
