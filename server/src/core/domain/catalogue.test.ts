import { describe, expect, it } from 'vitest'
import { canonicalNetwork, canonicalTicker, createCatalogue, feedCodes, iconFile } from './catalogue.ts'
import type { CurrencyDefinition } from './currency.ts'
import type { NetworkDefinition } from './network.ts'

function network(id: string, tokenSuffix: string): NetworkDefinition {
  const depths = {
    confirmations: 3,
    finalityBlocks: 12,
    regexAddress: '^x$',
    addressExplorer: 'a{}',
    txExplorer: 't{}',
  }
  const common = { name: id, family: 'evm', coinType: 60, symbol: 'X', decimals: 18, memo: 'none' } as const
  return {
    id,
    tokenSuffix,
    blockTimeMs: 12_000,
    ...common,
    production: depths,
    sandbox: { ...depths, blockTimeMs: 1000 },
  }
}

function listing(ticker: string, on: string, contract: string | null, rank: number, more = {}): CurrencyDefinition {
  const flags = {
    isStable: false,
    isPeggedToUsd: false,
    isFiat: false,
    supportsFixedRate: true,
    icon: ticker,
    priceKey: ticker,
  } as const
  const names = { ticker, network: on, symbol: ticker.toUpperCase(), name: ticker } as const
  return { ...names, decimals: 18, contract, assetClass: 'major', rank, ...flags, ...more }
}

const networks = [network('eth', 'ERC20'), network('base', 'BASE')]
const currencies = [
  listing('usdt', 'eth', '0xreal', 3),
  listing('eth', 'base', null, 2),
  listing('eth', 'eth', null, 1),
  listing('dai', 'eth', '0xrealdai', 4),
]
const everywhere = () => true

describe('createCatalogue', () => {
  const sandbox = createCatalogue({
    networks,
    currencies,
    environment: 'sandbox',
    tokens: { eth: { usdt: '0xlocal', dai: '0xlocaldai' } },
    enabled: (id) => id === 'eth',
  })

  it('lists by rank', () => {
    expect(sandbox.list().map((currency) => currency.asset.id)).toEqual(['eth@eth', 'eth@base', 'usdt@eth', 'dai@eth'])
  })

  it('finds listed currencies in any letter case and by aliases', () => {
    expect(sandbox.find('USDT', 'ERC20')?.asset.id).toBe('usdt@eth')
    expect(sandbox.find('Ethereum', 'Base')?.asset.id).toBe('eth@base')
    for (const [ticker, on] of [
      ['usdt', 'base'],
      ['', ''],
      ['__proto__', 'eth'],
      ['usdt@eth', ''],
      ['eth ', 'eth'],
    ] as const) {
      expect(sandbox.find(ticker, on)).toBeNull()
    }
    expect(sandbox.findNetwork('ETHEREUM')?.id).toBe('eth')
    expect(sandbox.findNetwork('constructor')).toBeNull()
  })

  it('applies the parameters of the environment', () => {
    expect(sandbox.find('eth', 'eth')?.network.blockTimeMs).toBe(1000)
    const production = createCatalogue({
      networks,
      currencies,
      environment: 'production',
      tokens: {},
      enabled: everywhere,
    })
    expect(production.find('eth', 'eth')?.network.blockTimeMs).toBe(12_000)
    expect(production.find('usdt', 'eth')?.asset.contract).toBe('0xreal')
  })

  it('uses the contracts of the sandbox chains in the sandbox', () => {
    expect(sandbox.find('usdt', 'eth')?.asset.contract).toBe('0xlocal')
  })

  it('enables currencies with a node and, for a token, a contract', () => {
    expect(sandbox.find('eth', 'eth')?.enabled).toBe(true)
    expect(sandbox.find('eth', 'base')?.enabled).toBe(false)
  })

  it('never turns a token without deployment into the native currency', () => {
    const bare = createCatalogue({ networks, currencies, environment: 'sandbox', tokens: {}, enabled: everywhere })
    expect(bare.find('usdt', 'eth')).toMatchObject({ enabled: false, asset: { contract: '0xreal' } })
    const hostile = { eth: Object.create({ usdt: '0xinherited' }) as Record<string, string> }
    const catalogue = createCatalogue({
      networks,
      currencies,
      environment: 'sandbox',
      tokens: hostile,
      enabled: everywhere,
    })
    expect(catalogue.find('usdt', 'eth')?.enabled).toBe(false)
  })

  it('finds assets by their stored ids', () => {
    expect(sandbox.assetById('dai@eth').contract).toBe('0xlocaldai')
    expect(sandbox.findAsset('dai@base')).toBeNull()
    expect(() => sandbox.assetById('dai@base')).toThrow('dai@base')
  })

  it.each([
    ['a duplicate listing', { currencies: [...currencies, listing('eth', 'eth', null, 9)] }],
    ['a duplicate network', { networks: [...networks, network('eth', 'X')] }],
    ['a listing on an unknown network', { currencies: [listing('btc', 'btc', null, 1)] }],
    [
      'a native currency with other decimals than its network',
      { currencies: [listing('eth', 'eth', null, 1, { decimals: 8 })] },
    ],
  ])('rejects %s', (_, change) => {
    const parts = { networks, currencies, environment: 'sandbox', tokens: {}, enabled: everywhere, ...change } as const
    expect(() => createCatalogue(parts)).toThrow()
  })
})

describe('aliases', () => {
  it.each([
    ['bitcoin', 'btc'],
    ['Ethereum', 'eth'],
    ['ERC20', 'eth'],
    ['trc20', 'trx'],
    ['BEP20', 'bsc'],
    ['avaxc', 'cchain'],
    ['polygon', 'matic'],
    ['POL', 'matic'],
    ['optimism', 'op'],
    ['unichain', 'uni'],
    ['nowhere', 'nowhere'],
  ])('network %s is %s', (alias, name) => {
    expect(canonicalNetwork(alias)).toBe(name)
  })

  it.each([
    ['Bitcoin', 'btc'],
    ['ETHEREUM', 'eth'],
    ['matic', 'pol'],
    ['pol', 'pol'],
    ['USDT', 'usdt'],
  ])('ticker %s is %s', (alias, name) => {
    expect(canonicalTicker(alias)).toBe(name)
  })
})

describe('feedCodes', () => {
  const codesOf = (listings: readonly CurrencyDefinition[]) =>
    Object.fromEntries(
      feedCodes(
        createCatalogue({
          networks,
          currencies: listings,
          environment: 'production',
          tokens: {},
          enabled: everywhere,
        }).list(),
      ),
    )

  it('omits the suffix of a native currency on its main network only', () => {
    expect(codesOf(currencies)).toEqual({
      'eth@eth': 'ETH',
      'eth@base': 'ETHBASE',
      'usdt@eth': 'USDTERC20',
      'dai@eth': 'DAIERC20',
    })
  })

  it('uses the code of the listing if it has one', () => {
    expect(codesOf([listing('arb', 'eth', '0xarb', 1, { feedCode: 'ARB' })])).toEqual({ 'arb@eth': 'ARB' })
  })

  it('omits the suffix of a native currency of a single network', () => {
    expect(codesOf([listing('bnb', 'base', null, 1)])).toEqual({ 'bnb@base': 'BNB' })
  })

  it('rejects a duplicate code', () => {
    expect(() => codesOf([...currencies, listing('btc', 'eth', '0xbtc', 5, { feedCode: 'ETH' })])).toThrow('ETH')
  })
})

describe('iconFile', () => {
  it('returns a plain file name', () => {
    expect(iconFile({ icon: 'btc' })).toBe('btc.svg')
  })

  it.each(['../btc', 'a/b', 'a\\b', '.', '', 'a.b', 'btc\0', 'BTC', '%2e'])('rejects %j', (icon) => {
    expect(() => iconFile({ icon })).toThrow()
  })
})
