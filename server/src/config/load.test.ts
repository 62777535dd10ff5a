import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { currencies } from '../../currencies/index.ts'
import { envExample, settingsPage } from './describe.ts'
import { describeConfig } from './in-force.ts'
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

const DENIED = 'eth:0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
const CANARY = 'canary-5e6f7a8b9c0d'

function production(file: object = {}): Record<string, string> {
  const networks = { btc: { rpcUrls: [`https://user:${CANARY}@node.example/${CANARY}`] } }
  const prices = { sources: ['a', 'b', 'c'].map((name) => `https://${name}.example/usd`), quorum: 2 }
  const limit = { transaction: '1', hour: '2', day: '3' }
  const limits = Object.fromEntries(
    currencies
      .filter(({ network }) => network in { ...networks, ...(file as { networks?: object }).networks })
      .map(({ ticker, network }) => [`${ticker}@${network}`, limit]),
  )
  return {
    SWAPYARD_DATA_DIR: folder(),
    SWAPYARD_CONFIG: write('config.json', { networks, prices, signer: { limits }, ...file }),
    DATABASE_URL: `postgres://swapyard:${CANARY}@db.example/swapyard`,
    SWAPYARD_PEPPER: CANARY,
    SWAPYARD_KEYSTORE_PASSPHRASE: CANARY,
    SWAPYARD_OPERATOR_TOKEN: CANARY,
  }
}

describe('the sandbox', () => {
  test('needs no settings, generates its secrets once and reads them again', () => {
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

  test('accepts disabled limits, frozen prices and a list of networks', () => {
    const environment = {
      SWAPYARD_RATE_LIMIT: 'off',
      SWAPYARD_SANDBOX_STILL: '1',
      SWAPYARD_SANDBOX_NETWORKS: 'BTC, eth',
    }
    const config = loadConfig({ SWAPYARD_DATA_DIR: folder(), ...environment })
    expect(config.rateLimit).toBe(false)
    expect(config.sandbox).toEqual({ networks: ['btc', 'eth'], still: true })
  })

  test('refuses an unknown network before anything is started', () => {
    expect(problemsOf({ SWAPYARD_SANDBOX_NETWORKS: 'btc,mattic' })).toEqual([
      expect.stringMatching(/contains mattic, which is not a network; did you mean matic\?/),
    ])
  })

  test('is refused where production is required, with every missing setting', () => {
    const config = loadConfig({ SWAPYARD_DATA_DIR: folder() })
    expect(() => requireProduction(config)).toThrow(/SWAPYARD_CONFIG.*rpcUrls.*prices.*DATABASE_URL.*SWAPYARD_PEPPER/s)
  })

  test('reads the restore height and the number of outputs of the Monero wallet', () => {
    const of = (monero: object) =>
      loadConfig({
        SWAPYARD_DATA_DIR: folder(),
        SWAPYARD_CONFIG: write('config.json', { environment: 'sandbox', monero }),
      }).monero
    expect(of({})).toEqual({ restoreHeight: 0, outputsReady: 16, acceptRemoteDaemons: false })
    const set = { restoreHeight: 3_400_000, outputsReady: 40, acceptRemoteDaemons: true }
    expect(of(set)).toEqual(set)
    for (const monero of [{ restoreHeight: -1 }, { outputsReady: 0 }, { outputsReady: 65 }, { outputs: 16 }])
      expect(() => of(monero), JSON.stringify(monero)).toThrow()
  })

  test('may have a config file, with shorter clocks', () => {
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

describe('unusable settings', () => {
  test('are all reported at once, unknown names with the closest known name', () => {
    const problems = problemsOf({
      PORT: '99999',
      SWAPYARD_POOL_MAX: 'many',
      SWAPYARD_DATADIR: '/x',
      SWAPYARD_LOG_LEVEL: 'loud',
      HOST: '0.0.0.0',
    })
    expect(problems).toHaveLength(5)
    expect(problems.join('\n')).toContain('SWAPYARD_DATADIR is not a setting; did you mean SWAPYARD_DATA_DIR?')
    expect(problems.join('\n')).toContain('SWAPYARD_LOG_LEVEL must be one of silent, error, warn, info, debug')
    expect(problems.join('\n')).toContain('PORT must be <= 65535')
  })

  test.each(['-1', '1.5', '1e3', '0x10', ' 5', 'NaN'])('refuses PORT=%s', (port) => {
    expect(problemsOf({ PORT: port })).toHaveLength(1)
  })

  test('are reported without the value of a secret', () => {
    expect(problemsOf({ DATABASE_URL: CANARY }).join('')).not.toContain(CANARY)
    expect(problemsOf({ DATABASE_URL: CANARY })).toHaveLength(1)
  })

  test('do not include empty variables and variables of test runs', () => {
    expect(problemsOf({ PORT: '', SWAPYARD_LOG_LEVEL: '', SWAPYARD_TEST_DATABASE_URL: 'x' })).toEqual([])
  })

  test('of the file are reported by their path', () => {
    const file = {
      networks: { btc: { rpcUrls: [] }, eth: { rpcUrls: ['ftp://x'], colour: 1 } },
      clocks: { rateId: '60' },
      limit: {},
    }
    const text = problemsOf({ ...production(file) }).join('\n')
    expect(text).not.toContain('networks is missing')
    for (const path of [
      'networks.btc.rpcUrls',
      'networks.eth.rpcUrls.0',
      'networks.eth.colour is not a setting; did you mean',
      'clocks.rateId',
      'limit is not a setting; did you mean limits?',
    ]) {
      expect(text).toContain(path)
    }
  })

  test.each([
    [{ networks: { BTC: { rpcUrls: ['http://x'] } } }, 'networks.BTC is not a network; did you mean btc?'],
    [{ networks: { etherium: { rpcUrls: ['http://x'] } } }, 'networks.etherium is not a network; did you mean eth?'],
    [
      { networks: { eth: { rpcUrls: ['http://x'], headers: { y: { key: 'z' } } } } },
      'networks.eth.headers.y is the host of none of its rpcUrls',
    ],
    [{ networks: { eth: { rpcUrls: ['http://x'], headers: { x: { key: '' } } } } }, 'networks.eth.headers.x.key'],
    [{ networks: { 'Foo Bar!': { rpcUrls: ['http://x'] } } }, 'networks.Foo Bar! is not a network; did you mean'],
    [
      { currencies: { 'USDT@ETH': { enabled: false } } },
      'currencies.USDT@ETH is not a listed currency; did you mean usdt@eth?',
    ],
    [{ currencies: { 'usdt@ehh': {} } }, 'currencies.usdt@ehh is not a listed currency; did you mean usdt@eth?'],
    [
      { currencies: { 'usdt@eth': { enabld: false } } },
      'currencies.usdt@eth.enabld is not a setting; did you mean enabled?',
    ],
    [
      { swaps: { networks: { Base: { enabled: false } } } },
      'swaps.networks.Base is not a network with swaps; did you mean base?',
    ],
    [{ swaps: { networks: { btc: {} } } }, 'swaps.networks.btc is not a network with swaps; did you mean'],
    [
      { signer: { limits: { 'bct@btc': { transaction: '1', hour: '1', day: '1' } } } },
      'signer.limits.bct@btc is not a listed currency; did you mean btc@btc?',
    ],
    [
      { signer: { limits: { 'btc@btc': { transaction: '1', hour: '2', day: '3.123456789' } } } },
      'signer.limits.btc@btc.day has 9 decimals; BTC has 8',
    ],
    // USDT has 6 decimals on Ethereum.
    [
      {
        networks: { eth: { rpcUrls: ['https://a.example'] } },
        signer: { limits: { 'usdt@eth': { transaction: '0.1234567', hour: '1', day: '1' } } },
      },
      'signer.limits.usdt@eth.transaction has 7 decimals; USDT has 6',
    ],
    [{ screening: { denied: [DENIED, 'eth:0x12'] } }, 'screening.denied.1 is not an address on eth'],
    [{ screening: { denied: ['sui:0x2'] } }, 'screening.denied.0 is not an address on sui'],
    [{ screening: { denied: [`btc:${DENIED.slice(4)}`] } }, 'screening.denied.0 is not an address on btc'],
    // Testnet, of BIP-173.
    [
      { screening: { denied: ['btc:tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'] } },
      'screening.denied.0 is not an address on btc',
    ],
    [{ screening: { denied: ['xmr:4'] } }, 'screening.denied.0 is not an address on xmr'],
    [{ screening: { denied: ['sol:0xnot-an-address'] } }, 'screening.denied.0 is not an address on sol'],
    // The system program without its last character: 31 bytes.
    [{ screening: { denied: [`sol:${'1'.repeat(31)}`] } }, 'screening.denied.0 is not an address on sol'],
    [{ screening: { denied: [`sol: ${'1'.repeat(32)}`] } }, 'screening.denied.0 must match'],
    // EIP-55: the checksum of an address in which one digit was mistyped.
    [{ screening: { denied: [DENIED.replace('BF', 'BE')] } }, 'screening.denied.0 is not an address on eth'],
    [{ screening: { denied: ['etherium:0x1'] } }, 'screening.denied.0: etherium is not a network; did you mean eth?'],
    [
      { prices: { sources: ['https://prices.example/usd'], quorum: 3 } },
      'prices.quorum is 3, and prices.sources has 1',
    ],
  ])('of the file name the path and the closest known name: %j', (file, expected) => {
    const problems = problemsOf(production(file))
    expect(problems.filter((problem) => problem.startsWith(`SWAPYARD_CONFIG: ${expected}`))).toHaveLength(1)
  })

  test('of the file do not hide those of the environment, and are reported once', () => {
    const environment = { ...production({ clocks: { rateId: 7 } }), DATABASE_URL: 'mysql://x', SWAPYARD_PEPPER: '' }
    expect(problemsOf(environment)).toEqual([
      expect.stringContaining('DATABASE_URL must match'),
      expect.stringContaining('clocks.rateId must be string'),
      expect.stringContaining('SWAPYARD_PEPPER is missing'),
    ])
  })

  test('include a file that is absent or not JSON', () => {
    expect(problemsOf({ SWAPYARD_CONFIG: '/nowhere/config.json' }).join('')).toContain(
      '/nowhere/config.json cannot be read',
    )
    expect(problemsOf({ SWAPYARD_CONFIG: write('config.json', '{') }).join('')).toContain('is not JSON')
  })
})

describe('production', () => {
  test('is deeply frozen and printed without secrets', () => {
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

  test('reports every missing setting', () => {
    const text = problemsOf({ SWAPYARD_CONFIG: write('config.json', {}) }).join('\n')
    for (const name of ['networks', 'prices', 'DATABASE_URL', 'SWAPYARD_PEPPER']) expect(text).toContain(name)
  })

  test.each([
    ['one source', { sources: ['https://a.example'], quorum: 1 }],
    ['two sources', { sources: ['https://a.example', 'https://b.example'], quorum: 2 }],
    ['a quorum of one', { sources: ['https://a.example', 'https://b.example', 'https://c.example'], quorum: 1 }],
    ['one source twice', { sources: ['https://a.example', 'https://b.example', 'https://a.example'], quorum: 2 }],
    [
      'one exchange twice, by a mirror,',
      {
        sources: [{ exchange: 'kraken' }, { exchange: 'kraken', url: 'https://k.example' }, 'https://a.example'],
        quorum: 2,
      },
    ],
  ])('M20: refuses %s of prices, by which one source sets our price', (_what, prices) => {
    expect(problemsOf(production({ prices }))).toEqual([expect.stringContaining('SWAPYARD_CONFIG: prices has')])
  })

  test('T54: takes public exchanges, mirrors of them, and documents with headers that are never printed', () => {
    const sources = [
      { exchange: 'kraken' },
      { exchange: 'bitstamp', url: `https://mirror.example/${CANARY}` },
      { url: 'https://document.example/usd', headers: { authorization: `Bearer ${CANARY}` } },
      'https://a.example/usd',
    ]
    const config = loadConfig(production({ prices: { sources, quorum: 2 } }))
    expect(config.prices).toEqual({
      quorum: 2,
      sources: [
        { exchange: 'kraken', url: null, headers: {} },
        { exchange: 'bitstamp', url: `https://mirror.example/${CANARY}`, headers: {} },
        { exchange: null, url: 'https://document.example/usd', headers: { authorization: `Bearer ${CANARY}` } },
        { exchange: null, url: 'https://a.example/usd', headers: {} },
      ],
    })
    expect(describeConfig(config)).toMatchObject({
      ...{ 'prices.quorum': 2, 'prices.sources.0.exchange': 'kraken', 'prices.sources.0.url': null },
      ...{ 'prices.sources.1.exchange': 'bitstamp', 'prices.sources.1.url': 'mirror.example' },
      ...{ 'prices.sources.2.url': 'document.example', 'prices.sources.2.headers.authorization': '[secret]' },
      'prices.sources.3.url': 'a.example',
    })
    expect(JSON.stringify(describeConfig(config))).not.toContain(CANARY)
  })

  test.each([
    [
      { exchange: 'krakn' },
      'prices.sources.0.exchange must be one of kraken, bitstamp, bitfinex, binance, okx, kucoin',
    ],
    [{ exchnage: 'kraken' }, 'prices.sources.0.exchnage is not a setting; did you mean exchange?'],
    [{}, 'prices.sources.0 has neither an exchange nor a url'],
    [{ exchange: 'kraken', headers: { 'x-key': 'a' } }, 'prices.sources.0.headers needs a url'],
    [
      { url: 'https://a.example', headers: { 'x key': 'a' } },
      'prices.sources.0.headers.x key is not a name of a header that can be set',
    ],
    [{ url: 'https://a.example', headers: { 'x-key': 'a\nb' } }, 'prices.sources.0.headers.x-key must match pattern'],
    [{ url: 'ftp://a.example' }, 'prices.sources.0.url must match pattern'],
    ['ftp://a.example', 'prices.sources.0.url must match pattern'],
    [{ url: 'https://[a' }, 'prices.sources.0.url is not a URL'],
    [{ url: 'http://a.example/usd' }, 'prices.sources.0.url has no HTTPS and is on another machine'],
    ['http://127.0.0.1.example/usd', 'prices.sources.0.url has no HTTPS and is on another machine'],
    [
      { exchange: 'kraken', url: 'http://mirror.example' },
      'prices.sources.0.url has no HTTPS and is on another machine',
    ],
  ])('T54: refuses the price source %j', (source, expected) => {
    const sources = [source, 'https://b.example', 'https://c.example', 'https://d.example']
    expect(problemsOf(production({ prices: { sources, quorum: 2 } }))).toEqual([
      expect.stringContaining(`SWAPYARD_CONFIG: ${expected}`),
    ])
  })

  test('T54: accepts price sources on this machine without HTTPS', () => {
    const sources = [
      'http://127.0.0.1:7000/usd',
      { exchange: 'kraken', url: 'http://localhost:7001' },
      'http://[::1]:7002/usd',
    ]
    expect(problemsOf(production({ prices: { sources, quorum: 2 } }))).toEqual([])
  })

  test('T54: refuses a quorum that the sources in US dollars cannot reach', () => {
    const sources = [{ exchange: 'kraken' }, { exchange: 'binance' }, { exchange: 'okx' }]
    expect(problemsOf(production({ prices: { sources, quorum: 2 } }))).toEqual([
      expect.stringContaining('SWAPYARD_CONFIG: prices.quorum is 2, and 1 of prices.sources quote in US dollars'),
    ])
    const enough = [...sources, { exchange: 'bitstamp' }]
    expect(problemsOf(production({ prices: { sources: enough, quorum: 2 } }))).toEqual([])
  })

  test("M22: requires the signer's own limits for every currency of a configured network, also of those that are not on offer", () => {
    const networks = { btc: { rpcUrls: ['https://a.example'] }, bsc: { rpcUrls: ['https://b.example'] } }
    const onBsc = currencies.filter(({ network }) => network === 'bsc').map(({ ticker }) => `${ticker}@bsc`)
    const limits = { 'btc@btc': { transaction: '1', hour: '2', day: '3' } }
    const missing = `SWAPYARD_CONFIG: signer.limits lacks ${onBsc.join(', ')}: in production`
    expect(problemsOf(production({ networks, signer: { limits } }))).toEqual([expect.stringContaining(missing)])
    // The wallet may still hold them.
    const disabled = Object.fromEntries(onBsc.map((id) => [id, { enabled: false }]))
    expect(problemsOf(production({ networks, signer: { limits }, currencies: disabled }))).toEqual([
      expect.stringContaining(missing),
    ])
  })

  // M27.8: the wallet trusts its daemon, and anyone on the way to it answers in its place.
  test('M27.8: refuses a remote Monero daemon of the wallet, and any without HTTPS, unless they are accepted', () => {
    const limits = { 'xmr@xmr': { transaction: '1', hour: '2', day: '3' } }
    const of = (rpcUrls: readonly string[], acceptRemoteDaemons = false) =>
      problemsOf(production({ networks: { xmr: { rpcUrls } }, signer: { limits }, monero: { acceptRemoteDaemons } }))
    for (const url of ['http://node.example:18081', 'https://node.example:18081', 'http://127.0.0.1.example:18081']) {
      expect(of([url])).toEqual([expect.stringContaining('networks.xmr.rpcUrls.0')])
      expect(of([url], true)).toEqual([])
    }
    for (const local of ['http://127.0.0.1:18081', 'http://[::1]:18081', 'http://localhost:18081']) {
      expect(of([local, 'https://node.example'])).toEqual([])
      expect(of([local, 'http://node.example'])).toEqual([expect.stringContaining('networks.xmr.rpcUrls.1')])
    }
  })

  test('refuses sandbox settings and short secrets', () => {
    const environment = {
      ...production(),
      SWAPYARD_RATE_LIMIT: 'off',
      SWAPYARD_SANDBOX_STILL: '1',
      SWAPYARD_CHAINS: '/x',
      SWAPYARD_PEPPER: 'short',
    }
    expect(problemsOf(environment)).toHaveLength(4)
  })

  test('requires traces of every network whose settings do not say otherwise', () => {
    const networks = { eth: { rpcUrls: ['https://a.example'] }, bsc: { rpcUrls: ['https://b.example'], traces: false } }
    const config = loadConfig(production({ networks }))
    expect([...config.networks].map(([network, { traces }]) => [network, traces])).toEqual([
      ['eth', true],
      ['bsc', false],
    ])
  })

  test('wants two nodes of Solana and Sui where their swaps are enabled, and no limits of their currencies', () => {
    const networks = { sol: { rpcUrls: ['https://a.example', 'https://a.example'] } }
    const swaps = { networks: { sol: { enabled: true }, sui: { enabled: true } } }
    const needs = (id: string) =>
      `SWAPYARD_CONFIG: swaps.networks.${id} is enabled: networks.${id}.rpcUrls needs two nodes or more`
    const signer = { limits: {} }
    expect(problemsOf(production({ networks, swaps, signer }))).toEqual([needs('sol'), needs('sui')])
    expect(problemsOf(production({ networks, signer }))).toEqual([])
    const two = { sol: { rpcUrls: ['https://a.example', 'https://b.example'] } }
    const config = loadConfig(production({ networks: two, swaps: { networks: { sol: { enabled: true } } }, signer }))
    expect([config.swaps.disabled.has('sol'), config.swaps.disabled.has('sui')]).toEqual([false, true])
  })

  test('reads secrets from files and generates none', () => {
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

test('accepts denied addresses in every encoding, and entries of networks on which nothing is paid', () => {
  const denied = [
    ...[DENIED, 'btc:bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'btc:1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu'],
    ...['bch:bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a', 'xrp:anything', `sui:0x${'Ab'.repeat(32)}`],
  ]
  expect(problemsOf(production({ screening: { denied } }))).toEqual([])
})

describe('an empty file of a secret', () => {
  const SECRETS = [
    ...['DATABASE_URL', 'SWAPYARD_KEYSTORE_PASSPHRASE', 'SWAPYARD_PEPPER', 'SWAPYARD_PEPPER_PREVIOUS'],
    ...['SWAPYARD_MAIL_URL', 'SWAPYARD_OPERATOR_TOKEN'],
  ]

  /** Without the variables of the same names, and all of them as files with this content. */
  function withFiles(environment: Record<string, string>, content: string): Record<string, string> {
    const others = Object.entries(environment).filter(([name]) => !SECRETS.includes(name))
    return Object.fromEntries([...others, ...SECRETS.map((name) => [`${name}_FILE`, write(name, content)])])
  }

  test.each(['', '\n', '\r\n'])('is no key, and counts as unset: %j', (content) => {
    const config = loadConfig(withFiles({ SWAPYARD_DATA_DIR: folder() }, content))
    expect(config).toMatchObject({ databaseUrl: null, previousPepper: null, mail: null, operatorToken: null })
    expect([config.pepper, config.keystore.passphrase]).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}$/),
      expect.stringMatching(/^[0-9a-f]{64}$/),
    ])
  })

  test('is missing in production where the secret is required', () => {
    expect(problemsOf(withFiles(production(), ''))).toEqual([
      expect.stringContaining('DATABASE_URL is missing'),
      expect.stringContaining('SWAPYARD_PEPPER is missing'),
    ])
    const previous = loadConfig({ ...production(), SWAPYARD_PEPPER_PREVIOUS_FILE: write('previous', '\n') })
    expect(previous.previousPepper).toBeNull()
  })
})

test.each(['SWAPYARD_PEPPER', 'SWAPYARD_PEPPER_PREVIOUS', 'SWAPYARD_KEYSTORE_PASSPHRASE', 'SWAPYARD_OPERATOR_TOKEN'])(
  'production refuses a short %s',
  (name) => {
    expect(problemsOf({ ...production(), [name]: 'short' })).toEqual([`${name} is shorter than 16 characters`])
    expect(problemsOf({ ...production(), [name]: 'of 16 characters' })).toEqual([])
  },
)

const root = join(import.meta.dirname, '../../..')

describe('the documented example of production', () => {
  const example = join(root, 'docs/examples/production.json')

  test('is accepted, with two nodes per network and five price sources', () => {
    const config = loadConfig({ ...production(), SWAPYARD_CONFIG: example })
    requireProduction(config)
    expect([...config.networks].map(([network, { rpcUrls }]) => [network, rpcUrls.length])).toEqual([
      ['btc', 2],
      ['eth', 2],
      ['bsc', 2],
      ['base', 2],
    ])
    expect(config.prices).toMatchObject({ sources: { length: 5 }, quorum: 2 })
    expect(config.clocks.fixedLockMs).toBe(900_000)
  })

  test('names listed currencies only', () => {
    const listed = currencies.map(({ ticker, network }) => `${ticker}@${network}`)
    const config = loadConfig({ ...production(), SWAPYARD_CONFIG: example })
    expect(listed).toEqual(expect.arrayContaining([...config.currencies.keys(), ...config.signerLimits.keys()]))
  })

  test('is the example on docs/settings.md', () => {
    const page = readFileSync(join(root, 'docs/settings.md'), 'utf8')
    expect(page).toContain(readFileSync(example, 'utf8'))
  })
})

describe('the generated pages', () => {
  test('.env.example and docs/settings.md are up to date (npm run swapyard -- settings --write)', () => {
    expect(readFileSync(join(root, '.env.example'), 'utf8')).toBe(envExample())
    expect(readFileSync(join(root, 'docs/settings.md'), 'utf8')).toBe(settingsPage())
  })
})
