import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BuiltPackage, installBuiltPackage } from './built-package.ts'

const GZIP_BYTES_MAX = 8_000
const typescript = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')

let built: BuiltPackage
beforeAll(async () => {
  built = await installBuiltPackage()
})
afterAll(() => built.remove())

const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: built.project, encoding: 'utf8' })

describe('the published package', () => {
  test.each(['esm', 'cjs'])('has at most 8 kB with gzip: %s', (format) => {
    const bytes = gzipSync(readFileSync(join(built.path, `dist/${format}/index.js`)), { level: 9 }).length
    expect(bytes).toBeGreaterThan(1_000)
    expect(bytes).toBeLessThanOrEqual(GZIP_BYTES_MAX)
  })

  test('has no dependency at run time, and contains no source and no test', () => {
    const { dependencies, peerDependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(built.path, 'package.json'), 'utf8'),
    )
    expect([dependencies, peerDependencies, optionalDependencies]).toEqual([undefined, undefined, undefined])
    for (const path of globSync('dist/{esm,cjs}/**/*.{js,d.ts}', { cwd: built.path })) {
      const specifiers = [
        ...readFileSync(join(built.path, path), 'utf8').matchAll(
          /(?:from|import|require)\s*\(?\s*["'`]([^"'`]+)["'`]/g,
        ),
      ].map(([, specifier = '']) => specifier)
      expect([
        path,
        specifiers.filter((specifier) => !specifier.startsWith('./') && !specifier.startsWith('../')),
      ]).toEqual([path, []])
    }
    const files = globSync('**/*', { cwd: built.path })
    expect(files).toContain('LICENSE')
    expect(files.filter((path) => /\.test\.|fixture|(?<!\.d)\.ts$/.test(path))).toEqual([])
  })

  test('publint finds nothing', async () => {
    const { messages } = await publint({ pkgDir: built.path, level: 'suggestion', strict: true, pack: false })
    expect(messages).toEqual([])
  })

  test('arethetypeswrong finds nothing', async () => {
    const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(built.tarball))))
    if (!analysis.types) throw new Error('the package has no types')
    expect(analysis.problems).toEqual([])
    expect(Object.keys(analysis.entrypoints)).toContain('.')
  })

  test.each([
    ['an ES module', 'module', `import { unitsToAmount } from '@swapyard/sdk'; console.log(unitsToAmount(15n, 1))`],
    ['CommonJS', 'commonjs', `const { unitsToAmount } = require('@swapyard/sdk'); console.log(unitsToAmount(15n, 1))`],
    [
      'import() of CommonJS',
      'commonjs',
      `import('@swapyard/sdk').then(({ unitsToAmount }) => console.log(unitsToAmount(15n, 1)))`,
    ],
  ])('is loaded by %s', (_, type, code) => {
    expect(run(`--input-type=${type}`, '--eval', code)).toBe('1.5\n')
  })

  test('has types for a program of a browser that narrow by code, without types of Node', () => {
    writeFileSync(
      join(built.project, 'page.ts'),
      `import { createSwapyard, SwapyardError, type ExchangeStatus } from '@swapyard/sdk'
       const swapyard = createSwapyard({ baseUrl: 'https://api.example.com', apiKey: 'k' })
       export async function findFailed(): Promise<string | null | undefined> {
         for await (const event of swapyard.events()) {
           if (event.type === 'swap.failed') return event.data.hash
           // @ts-expect-error: a type that does not exist
           if (event.type === 'exchange.lost') return ''
         }
         return null
       }
       export async function pay(): Promise<string> {
         try {
           const { toAmount, rateId } = await swapyard.quoteRate({ fromCurrency: 'btc', fromNetwork: 'btc', toCurrency: 'eth', toNetwork: 'eth' })
           const status: ExchangeStatus = (await swapyard.getExchangeStatus({ id: 'a' })).exchange.status
           const total: number = (await swapyard.getExchangeStatus({ ids: 'a,b' })).data.length
           // @ts-expect-error: an amount is text
           await swapyard.buildSwap({ account: 'a', network: 'base', fromTokenAddress: 'a', toTokenAddress: 'b', amount: 1, slippage: '1', referrerFee: '0' })
           return [toAmount, rateId, status, total].join()
         } catch (error) {
           if (!(error instanceof SwapyardError)) throw error
           switch (error.code) {
             case 'RATE_ID_EXPIRED':
               return error.errors[0].requote.rateId ?? ''
             case 'AMOUNT_BELOW_MIN':
               return error.errors[0].min ?? ''
             case 'ALLOWANCE_RESET_REQUIRED':
               return error.errors[0].rawTx
             case 'TIMEOUT':
               return error.idempotencyKey ?? ''
             // @ts-expect-error: a code that does not exist
             case 'NO_SUCH_CODE':
               return ''
             case 'UNKNOWN_CODE':
               return error.apiCode ?? ''
             default:
               return error.message
           }
         }
       }`,
    )
    const { status, stdout } = spawnSync(
      process.execPath,
      [
        typescript,
        '--noEmit',
        '--strict',
        '--types',
        '',
        '--lib',
        'es2022,dom',
        '--module',
        'esnext',
        '--moduleResolution',
        'bundler',
        'page.ts',
      ],
      { cwd: built.project, encoding: 'utf8' },
    )
    expect(stdout).toBe('')
    expect(status).toBe(0)
  })

  test('has a command that runs and knows its version', () => {
    const { version } = JSON.parse(readFileSync(join(built.path, 'package.json'), 'utf8'))
    expect(run(join(built.path, 'dist/cli/main.js'), '--version')).toBe(`${version}\n`)
  })
})
