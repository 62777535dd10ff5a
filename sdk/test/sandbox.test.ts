import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { routes, sandboxRoutes } from '@swapyard/schema'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openPage, startBrowser } from '../../test/pages/browser.ts'
import { describeWith } from '../../test/support/describe-with.ts'
import { lockMarket } from '../../test/support/market-lock.ts'
import { PATIENCE, PATIENCE_MS } from '../../test/support/patience.ts'
import { createSwapUser } from '../../test/support/swap-user.ts'
import type * as Sdk from '../src/index.ts'
import { type BuiltPackage, installBuiltPackage } from './built-package.ts'
import { type Driven, driveEndpoints } from './drive-endpoints.ts'
import { readQrCode } from './qr-code.ts'
import { serveSameOrigin } from './same-origin.ts'
import { startSandbox } from './start-sandbox.ts'

let built: BuiltPackage
let sdk: typeof Sdk
let swapyard: Sdk.Swapyard
let url = ''
const closers: (() => unknown)[] = []

beforeAll(async () => {
  built = await installBuiltPackage()
  closers.unshift(built.remove)
  const sandbox = await startSandbox()
  closers.unshift(sandbox.stop)
  url = sandbox.url
  sdk = await import(pathToFileURL(join(built.path, 'dist/esm/index.js')).href)
  swapyard = sdk.createSwapyard({ baseUrl: url, apiKey: 'sandbox' })
}, 4 * PATIENCE_MS)

afterAll(async () => {
  for (const close of closers) await close()
})

/** Swaps of two tests at once would compete for the same pools. */
async function withMarket<Result>(run: () => Promise<Result>): Promise<Result> {
  const unlock = await lockMarket(inject('databaseUrl'), 'base')
  try {
    return await run()
  } finally {
    await unlock()
  }
}

function expectEveryEndpoint({ answered, statuses, swapStatuses, toAmount, balance, refusal }: Driven): void {
  const operations = [...Object.keys(routes), ...Object.keys(sandboxRoutes)]
  // A stream is no call with one answer: `events` reads it.
  expect(operations.filter((id) => !answered.includes(id))).toEqual(['streamEvents', 'createSandboxReorg'])
  // A reorganisation would drop the payments of other tests. Its refusal shows that the call arrives; the playground
  // makes one (test/pages/playground.test.ts).
  expect(refusal).toBe('createSandboxReorg 404')
  expect(answered).toEqual(expect.arrayContaining(['events', 'waitForExchange', 'waitForSwap']))
  expect(statuses.at(-1)).toBe('finished')
  expect(balance).toBe(toAmount)
  expect(swapStatuses).toEqual(['finished', 'finished'])
}

test(
  'every endpoint answers in Node',
  async () => {
    expectEveryEndpoint(await withMarket(() => driveEndpoints(sdk, url, createSwapUser())))
  },
  4 * PATIENCE_MS,
)

describeWith('chromium', 'a page in Chromium', () => {
  test(
    'every endpoint answers, through the origin of the page',
    async () => {
      const bundle = await rolldown({ input: join(import.meta.dirname, 'drive-endpoints.ts'), platform: 'browser' })
      const { output } = await bundle.generate({ format: 'esm' })
      const javascript = (code: string) => ({ type: 'text/javascript', text: code })
      const page = await serveSameOrigin(
        {
          '/': { type: 'text/html', text: '<!doctype html><link rel="icon" href="data:,"><title>SDK</title>' },
          '/sdk.js': javascript(readFileSync(join(built.path, 'dist/esm/index.js'), 'utf8')),
          '/drive-endpoints.js': javascript(output[0].code),
        },
        url,
      )
      const browser = await startBrowser()
      try {
        const { page: tab, problems } = await openPage(browser, `${page.url}/`)
        const user = createSwapUser()
        await tab.exposeFunction('sign', user.sign)
        const driven = await withMarket(() =>
          tab.evaluate<Driven>(`(async () => {
            const [sdk, { driveEndpoints }] = await Promise.all([import('/sdk.js'), import('/drive-endpoints.js')])
            return driveEndpoints(sdk, location.origin, { account: '${user.account}', sign: window.sign })
          })()`),
        )
        expectEveryEndpoint(driven)
        // The refusal of the reorganisation.
        expect(problems.filter((problem) => !problem.includes('404'))).toEqual([])
      } finally {
        await browser.close()
        await page.close()
      }
    },
    4 * PATIENCE_MS,
  )
})

type Finished = Readonly<{ code: number | null; out: string; errors: string }>

async function run(
  args: readonly string[],
  env: Record<string, string>,
  onErrors: (text: string) => void = () => undefined,
): Promise<Finished> {
  const child = spawn(process.execPath, args, {
    cwd: built.project,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], ...env },
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk
    onErrors(errors)
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const out = await text(child.stdout)
  return { code: await ended, out, errors }
}

describe('the command line', () => {
  const partner = (args: readonly string[], env: Record<string, string> = {}, onErrors?: (text: string) => void) =>
    run(
      [join(built.path, 'dist/cli/main.js'), ...args],
      { SWAPYARD_API_KEY: 'sandbox', SWAPYARD_URL: url, ...env },
      onErrors,
    )
  const recipient = '0xc0ffee254729296a45a3885639ac7e10f9d54979'
  const exchange = ['exchange', 'btc@btc', 'eth@eth', '0.01', '--address', recipient]

  test('quote prints a quote for people and for programs', async () => {
    const shown = await partner(['quote', 'btc@btc', 'eth@eth', '0.01', '--flow', 'fixed-rate'])
    expect(shown).toMatchObject({ code: 0, errors: '' })
    expect(shown.out).toMatch(
      /^0\.01 btc@btc pays 0\.\d+ eth@eth\nminimum 0\.\d+, maximum [\d.]+ btc\nfees in eth: .*\nvalid until 20/,
    )
    const { code, out } = await partner([
      'quote',
      'btc@btc',
      'eth@eth',
      '0.01',
      '--private-type',
      'efficient',
      '--json',
    ])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ fromAmount: 0.01, intermediary: { isTransparent: true } })
  })

  /** Runs an exchange and pays `amount` to the address of its QR code. */
  async function pay(args: readonly string[], amount: string): Promise<Finished> {
    let paid: Promise<unknown> | undefined
    const finished = await partner(args, {}, (errors) => {
      const lines = errors.split('\n')
      const code = lines.filter((line) => /^[█▀▄ ]{20,}$/.test(line))
      if (paid !== undefined || !/\d\d pending/.test(errors)) return
      const address = readQrCode(code)
      expect(lines).toContain(address)
      paid = swapyard.createSandboxDeposit({ network: 'btc', currency: 'native', address, amount })
      paid.catch(() => undefined)
    })
    await paid
    return finished
  }

  test(
    'exchange shows the deposit address as a QR code, the progress, and the result: exit code 0',
    async () => {
      const { code, out, errors } = await pay([...exchange, '--flow', 'fixed-rate', '--json'], '0.01')
      expect(errors).toMatch(/\d\d pending[\s\S]*\d\d finished/)
      expect(code).toBe(0)
      const record = JSON.parse(out)
      expect(record).toMatchObject({ status: 'finished', request: { flow: 'fixed-rate' } })
      expect(record.exchanges[0].amountToReceived).toBe(record.request.amountToRequested)
      const shown = await partner(['status', record.id])
      expect(shown).toMatchObject({ code: 0, out: expect.stringContaining(`${record.id} finished\n`) })
    },
    4 * PATIENCE_MS,
  )

  test(
    'an exchange that is refunded: exit code 4',
    async () => {
      const { address } = await swapyard.createSandboxWallet({ network: 'btc' })
      const { min } = await swapyard.quoteRate({
        fromCurrency: 'btc',
        fromNetwork: 'btc',
        toCurrency: 'eth',
        toNetwork: 'eth',
      })
      const tooLittle = sdk.unitsToAmount((sdk.amountToUnits(sdk.numberToAmount(min), 8) * 9n) / 10n, 8)
      const { code, out } = await pay([...exchange, '--refund-address', address], tooLittle)
      expect(out).toMatch(/^\S+ refunded \(BELOW_MIN\)\nrefunded: 0\.\d+ btc to bc/)
      expect(code).toBe(4)
    },
    4 * PATIENCE_MS,
  )

  test('a repeat with the same idempotency key continues with the same exchange', async () => {
    const args = [...exchange, '--no-wait', '--json', '--idempotency-key', 'order-4711']
    const [first, second] = [await partner(args), await partner(args)]
    expect([first.code, second.code]).toEqual([0, 0])
    expect(JSON.parse(second.out).id).toBe(JSON.parse(first.out).id)
    const waited = await partner(['status', JSON.parse(first.out).id, '--wait', '--timeout', '1'])
    expect(waited).toMatchObject({ code: 5, out: '', errors: expect.stringContaining('WAIT_TIMEOUT') })
  })

  test(
    'swap prints a transaction to sign; with --hash it tracks one, and records one that a wallet has broadcast',
    () =>
      withMarket(async () => {
        const user = createSwapUser()
        const network = 'base'
        await swapyard.createSandboxDeposit({ network, currency: 'native', address: user.account, amount: '2' })
        await expect
          .poll(() => swapyard.getSandboxBalance({ network, currency: 'native', address: user.account }), PATIENCE)
          .toEqual({ amount: '2' })
        const tokens = await swapyard.listTokens({ network, limit: 500 })
        const usdc = tokens.find(({ symbol }) => symbol === 'USDC')?.address ?? ''
        const terms = [
          'swap',
          network,
          '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
          usdc,
          '1',
          '--account',
          user.account,
        ]
        const { code, out, errors } = await partner([...terms, '--slippage', '1'])
        expect([code, errors]).toEqual([0, expect.stringMatching(/^1 pays [\d.]+, at least [\d.]+;/)])
        expect(out).toMatch(/^0x02[0-9a-f]+\n$/)
        const hash = await user.broadcast(await user.sign(out.trim()), network)
        const recorded = await partner([...terms, '--hash', hash])
        expect(recorded).toMatchObject({ code: 0, out: expect.stringMatching(`^${hash} finished: 1 sent, \\d+`) })
        const tracked = await partner(['swap', '--hash', hash, '--json'])
        expect([tracked.code, JSON.parse(tracked.out)]).toEqual([
          0,
          expect.objectContaining({ hash, status: 'finished' }),
        ])
      }),
    4 * PATIENCE_MS,
  )

  test('the API key comes from the environment or a file', async () => {
    const file = join(built.project, 'key')
    writeFileSync(file, 'sandbox\n')
    const withFile = await partner(['quote', 'btc@btc', 'eth@eth', '1', '--api-key-file', file], {
      SWAPYARD_API_KEY: '',
    })
    expect(withFile.code).toBe(0)
    const without = await partner(['quote', 'btc@btc', 'eth@eth', '1'], { SWAPYARD_API_KEY: '' })
    expect(without).toMatchObject({ code: 2, out: '', errors: expect.stringContaining('SWAPYARD_API_KEY') })
    const asArgument = await partner(['quote', 'btc@btc', 'eth@eth', '1', '--api-key', 'a-secret'])
    expect(asArgument.code).toBe(2)
    expect(asArgument.errors).not.toContain('a-secret')
  })

  test.each([
    ['no command', []],
    ['an unknown command', ['trade']],
    ['a missing amount', ['quote', 'btc@btc', 'eth@eth']],
    ['a currency without a network', ['quote', 'btc', 'eth@eth', '1']],
    ['no recipient', ['exchange', 'btc@btc', 'eth@eth', '1']],
    ['an option of another command', ['quote', 'btc@btc', 'eth@eth', '1', '--wait']],
    ['a flow that does not exist', ['quote', 'btc@btc', 'eth@eth', '1', '--flow', 'fast']],
    ['a server that is not http', ['quote', 'btc@btc', 'eth@eth', '1', '--url', 'ftp://127.0.0.1']],
    ['a timeout that is not a number', ['status', 'id', '--timeout', 'long']],
  ])('%s: exit code 2 and the usage', async (_, args) => {
    expect(await partner(args)).toMatchObject({ code: 2, out: '', errors: expect.stringContaining('Exit codes:') })
  })

  test('a refusal of the API: exit code 3 with the code', async () => {
    const { code, errors } = await partner(['quote', 'nosuch@btc', 'eth@eth', '1'])
    expect([code, errors]).toEqual([3, expect.stringMatching(/^CURRENCY_NOT_FOUND: .*\n[\s\S]*request \S+\n$/)])
  })

  test('no server: exit code 6', async () => {
    const { code, errors } = await partner(['quote', 'btc@btc', 'eth@eth', '1', '--url', 'http://127.0.0.1:1'])
    expect([code, errors]).toEqual([6, expect.stringContaining('CONNECTION_FAILED')])
  })
})
