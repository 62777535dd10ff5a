import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { describeConfig, envExample, settingsPage } from './describe.ts'
import { ConfigError, loadConfig, requireProduction } from './load.ts'

const folders: string[] = []
afterEach(() => {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true })
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'swapyard-config-'))
  folders.push(path)
  return path
}

function write(name: string, content: unknown): string {
  const path = join(folder(), name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig({ SWAPYARD_DATA_DIR: folder(), ...environment })
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

const CANARY = 'canary-5e6f7a8b9c0d'

function production(file: object = {}): Record<string, string> {
  const networks = { btc: { rpcUrls: [`https://user:${CANARY}@node.example/${CANARY}`] } }
  const prices = { sources: ['https://prices.example/usd'], quorum: 1 }
  return {
    SWAPYARD_DATA_DIR: folder(),
    SWAPYARD_CONFIG: write('config.json', { networks, prices, ...file }),
    DATABASE_URL: `postgres://swapyard:${CANARY}@db.example/swapyard`,
    SWAPYARD_PEPPER: CANARY,
    SWAPYARD_KEYSTORE_PASSPHRASE: CANARY,
    SWAPYARD_OPERATOR_TOKEN: CANARY,
  }
}

describe('the sandbox', () => {
  test('needs nothing, makes its secrets once, and reads them again', () => {
    const dataDir = folder()
    const first = loadConfig({ SWAPYARD_DATA_DIR: dataDir })
    expect(first).toMatchObject({
      environment: 'sandbox',
      port: 8080,
      host: '127.0.0.1',
      rateLimit: true,
      databaseUrl: null,
    })
    expect(first.pepper).toMatch(/^[0-9a-f]{64}$/)
    expect(first.keystore.passphrase).not.toBe(first.pepper)
    expect(statSync(join(dataDir, 'secrets', 'pepper')).mode & 0o777).toBe(0o600)
    expect(loadConfig({ SWAPYARD_DATA_DIR: dataDir }).pepper).toBe(first.pepper)
  })

  test.each(['0.0.0.0', '::', '192.168.1.4', 'example.com', '127.0.0.1.example.com'])(
    'refuses to listen on %s',
    (host) => {
      expect(problemsOf({ HOST: host })).toEqual([expect.stringContaining('loopback')])
    },
  )

  test('may turn its limits off, freeze prices and choose networks', () => {
    const environment = {
      SWAPYARD_RATE_LIMIT: 'off',
      SWAPYARD_SANDBOX_STILL: '1',
      SWAPYARD_SANDBOX_NETWORKS: 'BTC, eth',
    }
    const config = loadConfig({ SWAPYARD_DATA_DIR: folder(), ...environment })
    expect(config.rateLimit).toBe(false)
    expect(config.sandbox).toEqual({ networks: ['btc', 'eth'], still: true })
  })

  test('knows the networks that it is to start, before anything is started', () => {
    expect(problemsOf({ SWAPYARD_SANDBOX_NETWORKS: 'btc,mattic' })).toEqual([
      expect.stringMatching(/names mattic, which is no network; the nearest is matic/),
    ])
  })

  test('is no production: what is missing is named', () => {
    const config = loadConfig({ SWAPYARD_DATA_DIR: folder() })
    expect(() => requireProduction(config)).toThrow(/SWAPYARD_CONFIG.*rpcUrls.*prices.*DATABASE_URL.*SWAPYARD_PEPPER/s)
  })

  test('keeps as many outputs of Monero as it is told, and looks for its coins from there on', () => {
    const of = (monero: object) =>
      loadConfig({
        SWAPYARD_DATA_DIR: folder(),
        SWAPYARD_CONFIG: write('config.json', { environment: 'sandbox', monero }),
      }).monero
    expect(of({})).toEqual({ restoreHeight: 0, outputsReady: 16 })
    expect(of({ restoreHeight: 3_400_000, outputsReady: 40 })).toEqual({ restoreHeight: 3_400_000, outputsReady: 40 })
    for (const monero of [{ restoreHeight: -1 }, { outputsReady: 0 }, { outputsReady: 65 }, { outputs: 16 }])
      expect(() => of(monero), JSON.stringify(monero)).toThrow()
  })

  test('may have a file of its own, with shorter clocks', () => {
    const file = write('config.json', { environment: 'sandbox', clocks: { rateId: '500ms', expiry: '2m' } })
    const config = loadConfig({ SWAPYARD_DATA_DIR: folder(), SWAPYARD_CONFIG: file })
    expect(config.environment).toBe('sandbox')
    expect(config.clocks).toEqual({
      rateIdMs: 500,
      fixedLockMs: 1_200_000,
      expiryMs: 120_000,
      stuckMs: 600_000,
      drainMs: 0,
    })
  })
})

describe('settings that are not usable', () => {
  test('are all reported at once, unknown names with the nearest', () => {
    const problems = problemsOf({
      PORT: '99999',
      SWAPYARD_POOL_MAX: 'many',
      SWAPYARD_DATADIR: '/x',
      SWAPYARD_LOG_LEVEL: 'loud',
      HOST: '0.0.0.0',
    })
    expect(problems).toHaveLength(5)
    expect(problems.join('\n')).toContain('SWAPYARD_DATADIR is not a setting; the nearest is SWAPYARD_DATA_DIR')
    expect(problems.join('\n')).toContain('SWAPYARD_LOG_LEVEL must be one of silent, error, warn, info, debug')
    expect(problems.join('\n')).toContain('PORT must be <= 65535')
  })

  test.each(['-1', '1.5', '1e3', '0x10', ' 5', 'NaN'])('PORT=%s is none', (port) => {
    expect(problemsOf({ PORT: port })).toHaveLength(1)
  })

  test('never show a secret', () => {
    expect(problemsOf({ DATABASE_URL: CANARY }).join('')).not.toContain(CANARY)
    expect(problemsOf({ DATABASE_URL: CANARY })).toHaveLength(1)
  })

  test('empty ones are unset, and those of test runs are left alone', () => {
    expect(problemsOf({ PORT: '', SWAPYARD_LOG_LEVEL: '', SWAPYARD_TEST_DATABASE_URL: 'x' })).toEqual([])
  })

  test('of the file are named by their path', () => {
    const file = {
      networks: { btc: { rpcUrls: [] }, eth: { rpcUrls: ['ftp://x'], colour: 1 } },
      clocks: { rateId: '60' },
      limit: {},
    }
    const text = problemsOf({ ...production(file) }).join('\n')
    for (const path of [
      'networks.btc.rpcUrls',
      'networks.eth.rpcUrls.0',
      'networks.eth has unknown names: colour',
      'clocks.rateId',
      'limit',
    ]) {
      expect(text).toContain(path)
    }
  })

  test('a file that is absent or no JSON is said to be', () => {
    expect(problemsOf({ SWAPYARD_CONFIG: '/nowhere/config.json' }).join('')).toContain(
      '/nowhere/config.json cannot be read',
    )
    expect(problemsOf({ SWAPYARD_CONFIG: write('config.json', '{') }).join('')).toContain('is not JSON')
  })
})

describe('production', () => {
  test('is read, frozen in depth, and printed without a secret', () => {
    const config = loadConfig(production({ limits: { hourUsd: 7 }, spreads: { majorBps: 12 } }))
    expect(config.environment).toBe('production')
    expect(config.limits.hourUsd).toBe(7_000_000_000_000n)
    expect(config.spreads.bps.major).toBe(12)
    expect(Object.isFrozen(config.spreads.bps)).toBe(true)
    expect(Object.isFrozen(config.networks.get('btc')?.rpcUrls)).toBe(true)
    const printed = JSON.stringify(describeConfig(config))
    expect(printed).not.toContain(CANARY)
    expect(printed).toContain('node.example')
    requireProduction(config)
  })

  test('says all that is missing', () => {
    const text = problemsOf({ SWAPYARD_CONFIG: write('config.json', {}) }).join('\n')
    for (const name of ['networks', 'prices', 'DATABASE_URL', 'SWAPYARD_PEPPER']) expect(text).toContain(name)
  })

  test('refuses what belongs to the sandbox, and short secrets', () => {
    const environment = {
      ...production(),
      SWAPYARD_RATE_LIMIT: 'off',
      SWAPYARD_SANDBOX_STILL: '1',
      SWAPYARD_CHAINS: '/x',
      SWAPYARD_PEPPER: 'short',
    }
    expect(problemsOf(environment)).toHaveLength(4)
  })

  test('reads secrets from files, and makes none', () => {
    const { SWAPYARD_PEPPER: _, ...environment } = production()
    const path = write('pepper', `${CANARY}\n`)
    chmodSync(path, 0o600)
    const config = loadConfig({ ...environment, SWAPYARD_PEPPER_FILE: path })
    expect(config.pepper).toBe(CANARY)
    expect(existsSync(join(config.dataDir, 'secrets'))).toBe(false)
    expect(problemsOf({ ...production(), SWAPYARD_PEPPER_FILE: path })).toEqual([expect.stringContaining('both set')])
    expect(problemsOf({ ...environment, SWAPYARD_PEPPER_FILE: '/nowhere' }).join('')).toContain(
      'SWAPYARD_PEPPER_FILE: /nowhere cannot be read',
    )
  })
})

describe('the pages made of the schema', () => {
  const root = join(import.meta.dirname, '../../..')
  test('.env.example and docs/settings.md are up to date (npm run swapyard -- settings --write)', () => {
    expect(readFileSync(join(root, '.env.example'), 'utf8')).toBe(envExample())
    expect(readFileSync(join(root, 'docs/settings.md'), 'utf8')).toBe(settingsPage())
  })
})
