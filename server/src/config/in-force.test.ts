import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { settingsPage } from './describe.ts'
import { describeConfig } from './in-force.ts'
import { loadConfig } from './load.ts'

const folder = mkdtempSync(join(tmpdir(), 'swapyard-in-force-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const CANARY = 'canary-0a1b2c3d4e5f'
const COLD = 'btc:bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'
const DENIED = 'eth:0x1111111111111111111111111111111111111111'
const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const TOKEN = '0x6b175474e89094c44da98b954eedeac495271d0f'
const limit = { transaction: '1', hour: '2', day: '3' }
const key = join(folder, 'key')
writeFileSync(key, CANARY)

const full = {
  environment: 'production',
  networks: {
    btc: {
      rpcUrls: [`https://user:${CANARY}@node.example/${CANARY}`],
      headers: { 'node.example': { 'api-key': CANARY } },
    },
  },
  currencies: { 'btc@btc': { rank: 7 } },
  prices: {
    quorum: 2,
    sources: [
      { exchange: 'kraken' },
      { exchange: 'bitstamp', url: `https://mirror.example/${CANARY}` },
      { url: 'https://document.example/usd', headers: { authorization: `Bearer ${CANARY}` } },
    ],
  },
  treasury: { coldAddresses: [COLD] },
  screening: { denied: [DENIED] },
  clocks: { fixedLock: '15m' },
  spreads: { majorBps: 35 },
  bitcoin: { outputsReady: 9, consolidateBelow: { btc: 5 } },
  limits: { hourUsd: 100_000 },
  signer: { limits: { 'btc@btc': limit } },
  swaps: {
    aggregators: { '0x': { keyFile: key, url: `https://aggregator.example/${CANARY}`, contracts: { eth: [TOKEN] } } },
    networks: {
      eth: { tokens: [{ address: TOKEN, name: 'Dai', symbol: 'DAI', decimals: 18 }], connectors: [TOKEN] },
      sol: { enabled: false, lookupTables: [MINT] },
    },
  },
}

function load(file: object, name = 'config.json') {
  const path = join(folder, name)
  writeFileSync(path, JSON.stringify(file))
  return loadConfig({
    ...{
      SWAPYARD_DATA_DIR: folder,
      SWAPYARD_CONFIG: path,
      DATABASE_URL: `postgres://swapyard:${CANARY}@db.example/swapyard`,
    },
    ...{ SWAPYARD_PEPPER: CANARY, SWAPYARD_KEYSTORE_PASSPHRASE: CANARY, SWAPYARD_OPERATOR_TOKEN: CANARY },
    ...{ SWAPYARD_PEPPER_PREVIOUS: CANARY, SWAPYARD_LOG_LEVEL: 'warn', PORT: '8090' },
    ...{ SWAPYARD_MAIL_URL: `smtps://user:${CANARY}@mail.example:465`, SWAPYARD_MAIL_FROM: 'alerts@example.com' },
  })
}

/** Every name of docs/settings.md, which is generated from the schemas. */
const documented = [...settingsPage().matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = '']) => name)

const toPattern = (parts: readonly string[]): string =>
  parts.map((part) => (part.startsWith('<') ? '[^.]+' : part.replaceAll(/[^\w]/g, '\\$&'))).join('\\.')

/** The names that are not shown: neither themselves, nor a part of them, nor a map or list above them that is empty. */
function findMissing(settings: Readonly<Record<string, unknown>>): readonly string[] {
  const shown = Object.keys(settings)
  const empty = shown.filter((name) => settings[name] === null || JSON.stringify(settings[name]) === '[]')
  return documented.filter((name) => {
    const parts = name.split('.')
    const own = new RegExp(`^${toPattern(parts)}(\\.|$)`)
    const above = parts.flatMap((part, n) => (part.startsWith('<') ? [toPattern(parts.slice(0, n))] : []))
    return (
      !shown.some((one) => own.test(one)) && !above.some((map) => empty.some((one) => new RegExp(`^${map}$`).test(one)))
    )
  })
}

const isPlain = (value: unknown): boolean =>
  value === null ||
  ['string', 'number', 'boolean'].includes(typeof value) ||
  (Array.isArray(value) && value.every(isPlain))

describe('settings in force', () => {
  test.each([
    ['a full file', full],
    ['a file with the defaults', { ...full, swaps: {}, screening: undefined, currencies: {}, bitcoin: {} }],
  ])('have every name of docs/settings.md, of %s, and no value is an object', (_what, file) => {
    expect(documented.length).toBeGreaterThan(100)
    const settings = describeConfig(load(file))
    expect(findMissing(settings)).toEqual([])
    expect(Object.entries(settings).filter(([, value]) => !isPlain(value))).toEqual([])
  })

  test('have every name in the sandbox, too, with its own defaults', () => {
    const settings = describeConfig(loadConfig({ SWAPYARD_DATA_DIR: folder }))
    expect(findMissing(settings)).toEqual([])
    expect(settings).toMatchObject({
      ...{ environment: 'sandbox', 'clocks.drain': '0s', 'privacy.delay': '2s', 'admin.twoPersons': false },
      ...{ SWAPYARD_PEPPER: null, 'prices.sources': null, 'screening.denied': null },
    })
  })

  test('are written as in the file, by the names of the file', () => {
    expect(describeConfig(load(full))).toMatchObject({
      ...{ PORT: 8090, SWAPYARD_LOG_LEVEL: 'warn', HOST: '127.0.0.1', SWAPYARD_WORKER_PORT: null },
      ...{ 'clocks.fixedLock': '15m', 'clocks.expiry': '1d', 'spreads.majorBps': 35, 'limits.hourUsd': 100_000 },
      ...{ 'bitcoin.outputsReady': 9, 'bitcoin.consolidateBelow.btc': 5, 'bitcoin.consolidateBelow.doge': 2_000 },
      ...{ 'treasury.coldAddresses': [COLD], 'screening.denied': [DENIED], 'currencies.btc@btc.rank': 7 },
      ...{ 'currencies.btc@btc.enabled': true, 'signer.limits.btc@btc.hour': '2', 'networks.btc.traces': true },
      ...{ 'swaps.networks.sol.lookupTables': [MINT], 'swaps.networks.sol.enabled': false },
      ...{ 'swaps.networks.eth.tokens.0.symbol': 'DAI', 'swaps.networks.eth.connectors': [TOKEN] },
      ...{ 'swaps.aggregators.0x.keyFile': key, 'swaps.aggregators.0x.contracts.eth': [TOKEN] },
    })
  })

  test('have no secret, and of URLs the host alone', () => {
    const settings = describeConfig(load(full))
    expect(JSON.stringify(settings)).not.toContain(CANARY)
    expect(settings).toMatchObject({
      ...{ DATABASE_URL: 'db.example', SWAPYARD_MAIL_URL: 'mail.example:465', SWAPYARD_PEPPER: '[secret]' },
      ...{ SWAPYARD_OPERATOR_TOKEN: '[secret]', SWAPYARD_PEPPER_PREVIOUS: '[secret]' },
      ...{ 'networks.btc.rpcUrls': ['node.example'], 'swaps.aggregators.0x.url': 'aggregator.example' },
      ...{ 'networks.btc.headers.node.example.api-key': '[secret]' },
      ...{ 'prices.sources.1.url': 'mirror.example', 'prices.sources.2.headers.authorization': '[secret]' },
    })
  })

  test('have at most 1,000 entries of a list, and the number of the others', () => {
    const denied = Array.from({ length: 1_002 }, (_, n) => `eth:0x${String(n).padStart(40, '0')}`)
    const shown = describeConfig(load({ ...full, screening: { denied } }))['screening.denied'] as readonly string[]
    expect(shown).toEqual([...denied.slice(0, 1_000), 'and 2 more'])
  })
})
