import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { decode } from './schema.ts'
import { swapsSchema, toSwapConfig } from './swaps.ts'

const folder = mkdtempSync(join(tmpdir(), 'swapyard-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

function read(swaps: object) {
  const problems: string[] = []
  return { config: toSwapConfig(decode(swapsSchema, swaps).value, problems), problems }
}

it('has a default for every setting, and no aggregators', () => {
  expect(read({}).config).toEqual({
    quoteMs: 30_000,
    deadlineMs: 1_200_000,
    droppedMs: 600_000,
    feeAddressDelayMs: 172_800_000,
    impactMaxPpm: 150_000,
    referenceLossMaxPpm: 100_000,
    feeAddresses: new Map(),
    tokens: new Map(),
    connectors: new Map(),
    lookupTables: new Map(),
    disabled: new Set(['sol', 'sui']),
    dexes: new Map(),
    aggregators: [],
    aggregatorBudgetMs: 400,
    aggregatorGainBps: 5,
  })
})

it('reads keys from their files, and reports files that cannot be read or are empty', () => {
  const keyFile = join(folder, 'key')
  writeFileSync(keyFile, 'a key\n')
  const contracts = { eth: [`0x${'A'.repeat(40)}`] }
  const aggregators = { '0x': { keyFile }, openocean: { contracts }, kyberswap: { client: 'swapyard' } }
  const { config, problems } = read({ aggregators })
  expect(problems).toEqual([])
  expect(config.aggregators).toEqual([
    { id: '0x', key: 'a key', url: null, contracts: new Map() },
    { id: 'openocean', key: null, url: null, contracts: new Map([['eth', [`0x${'a'.repeat(40)}`]]]) },
    { id: 'kyberswap', key: 'swapyard', url: null, contracts: new Map() },
  ])
  const absent = join(folder, 'absent')
  const empty = join(folder, 'empty')
  writeFileSync(empty, '\n')
  expect(read({ aggregators: { '0x': { keyFile: absent }, openocean: { keyFile: empty } } }).problems).toEqual([
    `SWAPYARD_CONFIG: swaps.aggregators: ${absent} cannot be read`,
    `SWAPYARD_CONFIG: swaps.aggregators: ${empty} is empty`,
  ])
})

const USDC_ON_SOL = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const USDC_ON_SUI = '0xdba34672e30cb065b1f93e3ab55318768fd6fef66c15942c9f7cb846e2f900e7::usdc::USDC'
const SUI_ACCOUNT = `0x${'ab'.repeat(32)}`
const own = { name: 'Own', symbol: 'OWN', decimals: 6 }

it('reads addresses in the form of their network', () => {
  const keyFile = join(folder, 'jupiter')
  writeFileSync(keyFile, 'a key')
  const networks = {
    // A token's mint has no key, and an account must have one.
    sol: {
      feeAddress: '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV',
      ...{ tokens: [{ address: USDC_ON_SOL, ...own }], connectors: [USDC_ON_SOL] },
    },
    sui: { feeAddress: SUI_ACCOUNT, tokens: [{ address: USDC_ON_SUI, ...own }], connectors: [USDC_ON_SUI] },
  }
  const program = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4'
  const aggregators = {
    jupiter: { keyFile, contracts: { sol: [program] } },
    cetus: { contracts: { sui: [SUI_ACCOUNT.toUpperCase().replace('X', 'x')] } },
  }
  const { config, problems } = read({ networks, aggregators })
  expect(problems).toEqual([])
  expect(config.aggregators).toEqual([
    { id: 'jupiter', key: 'a key', url: null, contracts: new Map([['sol', [program]]]) },
    { id: 'cetus', key: null, url: null, contracts: new Map([['sui', [SUI_ACCOUNT]]]) },
  ])
  expect([config.feeAddresses.get('sol'), config.feeAddresses.get('sui')]).toEqual([
    networks.sol.feeAddress,
    SUI_ACCOUNT,
  ])
})

it.each([
  ['feeAddress', 'sol', { feeAddress: SUI_ACCOUNT }],
  // The incinerator: an address without a key.
  ['feeAddress', 'sol', { feeAddress: '1nc1nerator11111111111111111111111111111111' }],
  ['feeAddress', 'sui', { feeAddress: '0x2' }],
  ['feeAddress', 'eth', { feeAddress: USDC_ON_SOL }],
  ['connectors.0', 'sui', { connectors: [SUI_ACCOUNT] }],
  ['connectors.1', 'sol', { connectors: [USDC_ON_SOL, USDC_ON_SOL.slice(4)] }],
  // One letter in another case: the checksum is wrong.
  ['connectors.0', 'eth', { connectors: ['0xa0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'] }],
  ['lookupTables.0', 'sol', { lookupTables: [SUI_ACCOUNT] }],
  ['tokens.0.address', 'eth', { tokens: [{ address: USDC_ON_SUI, ...own }] }],
])('refuses %s of %s in the form of another network', (path, network, settings) => {
  const { problems } = read({ networks: { [network]: settings } })
  expect(problems).toEqual([expect.stringContaining(`SWAPYARD_CONFIG: swaps.networks.${network}.${path} is not`)])
})

it('refuses the contract of the wrapped coin as a fee address, which would lose fees in the native coin', () => {
  // The published address of WETH9.
  const feeAddress = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'
  expect(read({ networks: { eth: { feeAddress } } }).problems).toEqual([
    expect.stringContaining('swaps.networks.eth.feeAddress is the wrapped coin of eth'),
  ])
  expect(read({ networks: { base: { feeAddress } } }).problems).toEqual([])
})

it('refuses DEXes whose pools are not listed, and pools that are no objects', () => {
  const pools = [SUI_ACCOUNT]
  expect(read({ networks: { sui: { dexes: { cetus: { pools } } } } }).problems).toEqual([])
  expect(read({ networks: { sol: { dexes: { cetus: { pools: [] } } } } }).problems).toEqual([
    'SWAPYARD_CONFIG: swaps.networks.sol.dexes.cetus: sol has no DEX of this name whose pools are listed',
  ])
  expect(read({ networks: { sui: { dexes: { cetus: { pools: ['0x2'] } } } } }).problems).toEqual([
    expect.stringContaining('swaps.networks.sui.dexes.cetus.pools.0 is not'),
  ])
})

it('reads lookup tables of Solana, and refuses those of other networks', () => {
  const table = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV'
  expect(read({ networks: { sol: { lookupTables: [table] } } }).config.lookupTables.get('sol')).toEqual([table])
  expect(read({ networks: { sui: { lookupTables: [SUI_ACCOUNT] } } }).problems).toEqual([
    'SWAPYARD_CONFIG: swaps.networks.sui.lookupTables: sui has no lookup tables',
  ])
})

it('refuses contracts of aggregators that are no addresses', () => {
  const { problems } = read({ aggregators: { openocean: { contracts: { eth: [USDC_ON_SOL] } } } })
  expect(problems).toEqual([expect.stringContaining('swaps.aggregators.openocean.contracts.eth.0 is not')])
})

it('reads fee addresses, tokens, connector tokens and disabled networks', () => {
  const token = { address: `0x${'1'.repeat(40)}`, name: 'Own', symbol: 'OWN', decimals: 6 }
  const connectors = [`0x${'3'.repeat(40)}`]
  const networks = { eth: { feeAddress: `0x${'2'.repeat(40)}`, tokens: [token], connectors }, sei: { enabled: false } }
  const { config } = read({ networks, priceImpactMaxPercent: 10, deadline: '5m' })
  expect(config.feeAddresses.get('eth')).toBe(networks.eth.feeAddress)
  expect(config.tokens.get('eth')).toEqual([token])
  expect(config.connectors.get('eth')).toEqual(connectors)
  expect([...config.disabled]).toEqual(['sol', 'sui', 'sei'])
  expect([config.impactMaxPpm, config.deadlineMs]).toEqual([100_000, 300_000])
})
