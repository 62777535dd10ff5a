import { readFileSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { getAddress } from 'viem'
import * as chains from 'viem/chains'
import { describe, expect, it } from 'vitest'
import { currencies } from '../../../currencies/index.ts'
import { networks } from '../../../networks/index.ts'
import {
  createCatalogue,
  feedCodes,
  iconFile,
  iconPath,
  networkAliases,
  tickerAliases,
} from '../../../src/core/domain/catalogue.ts'
import { type Environment, resolveNetwork } from '../../../src/core/domain/network.ts'

const environments: readonly Environment[] = ['production', 'sandbox']
const production = createCatalogue({ networks, currencies, environment: 'production', tokens: {}, enabled: () => true })
const listed = production.list()
const ids = listed.map((currency) => currency.asset.id)
const iconDir = join(
  dirname(createRequire(import.meta.url).resolve('cryptocurrency-icons/package.json')),
  'svg',
  'color',
)

describe('networks', () => {
  it('are the DeFi networks of the specification and nine others', () => {
    const defi = [
      'eth',
      'sol',
      'sui',
      'sei',
      'arbitrum',
      'base',
      'bsc',
      'cchain',
      'celo',
      'linea',
      'matic',
      'op',
      'sonic',
      'uni',
    ]
    const others = ['btc', 'ltc', 'doge', 'bch', 'xmr', 'xrp', 'xlm', 'ton', 'trx']
    expect(networks.map((network) => network.id).sort()).toEqual([...defi, ...others].sort())
  })

  it('have the chain ids, native currencies, decimals and explorers of viem', () => {
    const expected = {
      eth: chains.mainnet,
      arbitrum: chains.arbitrum,
      base: chains.base,
      bsc: chains.bsc,
      cchain: chains.avalanche,
      celo: chains.celo,
      linea: chains.linea,
      matic: chains.polygon,
      op: chains.optimism,
      sei: chains.sei,
      sonic: chains.sonic,
      uni: chains.unichain,
    }
    expect(
      networks
        .filter((network) => network.family === 'evm')
        .map((network) => network.id)
        .sort(),
    ).toEqual(Object.keys(expected).sort())
    for (const [id, chain] of Object.entries(expected)) {
      const network = production.findNetwork(id)
      expect([id, network?.evm?.chainId, network?.symbol, network?.decimals]).toEqual([
        id,
        chain.id,
        chain.nativeCurrency.symbol,
        chain.nativeCurrency.decimals,
      ])
      const explorer = chain.blockExplorers.default.url
      expect(network?.addressExplorer).toBe(`${explorer}/address/{}`)
    }
  })

  it('have sandbox chain ids that no real chain uses', () => {
    const real = new Set<number>(Object.values(chains).map((chain) => chain.id))
    for (const definition of networks) {
      const evm = resolveNetwork(definition, 'sandbox').evm
      if (!evm) continue
      expect(real.has(evm.chainId)).toBe(false)
      expect(evm.chainId).toBe(3_133_700_000 + (resolveNetwork(definition, 'production').evm?.chainId ?? Number.NaN))
    }
  })

  it.each(environments)('are complete in %s', (environment) => {
    for (const definition of networks) {
      const network = resolveNetwork(definition, environment)
      expect(network.id).toMatch(/^[a-z0-9]{2,16}$/)
      expect(network.tokenSuffix).toMatch(/^[A-Z0-9]+$/)
      for (const template of [network.addressExplorer, network.txExplorer]) expect(template.split('{}')).toHaveLength(2)
      const host = environment === 'production' ? /^https:\/\/[a-z0-9.]+\// : /^\/sandbox\/explorer\//
      expect(network.addressExplorer).toMatch(host)
      expect(network.txExplorer).toMatch(host)
      for (const count of [
        network.confirmations,
        network.finalityBlocks,
        network.blockTimeMs,
        network.decimals,
        network.coinType,
      ]) {
        expect(Number.isSafeInteger(count) && count >= 0).toBe(true)
      }
      expect(network.confirmations).toBeGreaterThan(0)
      expect(network.bitcoin !== undefined).toBe(network.family === 'bitcoin')
      expect(network.evm !== undefined).toBe(network.family === 'evm')
    }
  })

  it('set finality no lower than the confirmations of the highest value tier', () => {
    for (const definition of networks) {
      const { confirmations, finalityBlocks } = resolveNetwork(definition, 'production')
      expect(finalityBlocks).toBeGreaterThanOrEqual(4 * confirmations)
    }
  })

  it('require few confirmations in the sandbox', () => {
    for (const definition of networks) {
      const network = resolveNetwork(definition, 'sandbox')
      // Monero locks every output for ten blocks, also on test chains.
      const [confirmations, finalityBlocks] = network.family === 'monero' ? [10, 20] : [3, 10]
      expect(network.confirmations).toBeLessThanOrEqual(confirmations)
      expect([network.finalityBlocks, network.blockTimeMs]).toEqual([finalityBlocks, 1000])
    }
  })

  it('have the coin types of SLIP-44', () => {
    const registered: Record<string, number> = {
      btc: 0,
      ltc: 2,
      doge: 3,
      bch: 145,
      xmr: 128,
      xrp: 144,
      xlm: 148,
      trx: 195,
      sol: 501,
      ton: 607,
      sui: 784,
    }
    for (const network of networks)
      expect([network.id, network.coinType]).toEqual([network.id, registered[network.id] ?? 60])
  })
})

describe('listings', () => {
  it('are at least 40 on at least 15 networks, each once', () => {
    expect(ids.length).toBeGreaterThanOrEqual(40)
    expect(new Set(ids).size).toBe(ids.length)
    expect(new Set(listed.map((currency) => currency.network.id)).size).toBeGreaterThanOrEqual(15)
  })

  it("include every network's native currency under its symbol", () => {
    for (const network of production.networks()) {
      const natives = listed.filter(
        (currency) => currency.network.id === network.id && currency.asset.contract === null,
      )
      expect(natives.map(({ definition }) => definition.symbol)).toEqual([network.symbol])
    }
  })

  it('exclude ERC-20 contracts of native currencies', () => {
    const mirrors = ['0x471ece3750da237f93b8e339c536989b8978a438', '0x0000000000000000000000000000000000001010']
    for (const { asset } of listed) expect(mirrors).not.toContain(asset.contract?.toLowerCase())
  })

  it('have consecutive ranks', () => {
    expect(listed.map((currency) => currency.definition.rank)).toEqual(listed.map((_, index) => index + 1))
  })

  it('have valid fields that agree across networks', () => {
    const byTicker = new Map<string, string>()
    for (const { definition } of listed) {
      expect(definition.ticker).toMatch(/^[a-z0-9]{1,16}$/)
      expect(definition.symbol.toLowerCase()).toBe(definition.ticker)
      expect(definition.name).toBe(definition.name.trim())
      expect(definition.name).not.toBe('')
      expect(definition.decimals).toBeGreaterThanOrEqual(0)
      expect(definition.decimals).toBeLessThanOrEqual(24)
      expect(definition.isStable).toBe(definition.assetClass === 'stable')
      // The API serves one icon and one price per ticker.
      const shared = [definition.icon, definition.priceKey, definition.name].join()
      expect([definition.ticker, byTicker.get(definition.ticker) ?? shared]).toEqual([definition.ticker, shared])
      byTicker.set(definition.ticker, shared)
    }
  })

  it('name the bridged tokens that are priced as their originals, and so does the guide of operators', () => {
    const bridged = listed.filter(({ definition }) => definition.isBridged).map(({ asset }) => asset.id)
    expect(bridged.toSorted()).toEqual([
      ...['dai@arbitrum', 'dai@matic', 'dai@op', 'eth@bsc', 'link@arbitrum', 'usdc@bsc'],
      ...['usdt@arbitrum', 'usdt@bsc', 'usdt@linea', 'usdt@matic', 'usdt@op', 'wbtc@arbitrum', 'wbtc@matic'],
    ])
    for (const { definition } of listed.filter(({ asset }) => bridged.includes(asset.id))) {
      expect(definition.contract).not.toBeNull()
      const isOriginal = ({ definition: other }: (typeof listed)[number]) =>
        other.priceKey === definition.priceKey && !other.isBridged
      expect(listed.filter(isOriginal)).not.toEqual([])
    }
    const guide = readFileSync(join(import.meta.dirname, '../../../../docs/guides/operate.md'), 'utf8')
    const [, section = ''] = /^### Bridged tokens\n(.*?)^### /ms.exec(guide) ?? []
    const named = section.match(/`[a-z]+@[a-z]+`/g) ?? []
    expect(named.map((text) => text.slice(1, -1)).toSorted()).toEqual(bridged.toSorted())
  })

  it('have contracts in canonical format', () => {
    const formats: Record<string, RegExp> = {
      sol: /^[1-9A-HJ-NP-Za-km-z]{43,44}$/,
      sui: /^0x[0-9a-f]{64}::[a-z_]+::[A-Z_]+$/,
      xlm: /^[A-Z0-9]{1,12}:G[A-D][A-Z2-7]{54}$/,
      ton: /^EQ[A-Za-z0-9_-]{46}$/,
      trx: /^T[1-9A-HJ-NP-Za-km-z]{33}$/,
    }
    for (const { asset, network } of listed) {
      if (asset.contract === null) continue
      if (network.family === 'evm')
        expect(getAddress(asset.contract.toLowerCase() as `0x${string}`)).toBe(asset.contract)
      else expect(asset.contract).toMatch(formats[network.id] ?? /^never$/)
    }
    const contracts = listed.flatMap(({ asset }) =>
      asset.contract === null ? [] : [`${asset.network} ${asset.contract}`],
    )
    expect(new Set(contracts).size).toBe(contracts.length)
  })

  /** On BNB Smart Chain these tokens have 18 decimals, on Stellar 7, elsewhere 6. */
  it('have the right decimals for USDT and USDC', () => {
    for (const { asset } of listed.filter(({ asset }) => asset.ticker === 'usdt' || asset.ticker === 'usdc')) {
      expect([asset.id, asset.decimals]).toEqual([
        asset.id,
        asset.network === 'bsc' ? 18 : asset.network === 'xlm' ? 7 : 6,
      ])
    }
  })

  it('have an icon file', async () => {
    for (const { definition } of listed) await access(join(iconDir, iconFile(definition)))
    expect(iconPath({ ticker: 'usdt' })).toBe('/icons/usdt.svg')
  })
})

describe('feed codes', () => {
  const codes = feedCodes(listed)

  it('are unique', () => {
    expect(codes.size).toBe(listed.length)
    expect(new Set(codes.values()).size).toBe(listed.length)
  })

  it('are the codes of rate monitors', () => {
    const expected = {
      'btc@btc': 'BTC',
      'eth@eth': 'ETH',
      'eth@base': 'ETHBASE',
      'eth@arbitrum': 'ETHARBTM',
      'eth@op': 'ETHOPTM',
      'eth@bsc': 'ETHBEP20',
      'bnb@bsc': 'BNB',
      'avax@cchain': 'AVAX',
      'pol@matic': 'POL',
      'usdt@eth': 'USDTERC20',
      'usdt@trx': 'USDTTRC20',
      'usdt@bsc': 'USDTBEP20',
      'usdt@matic': 'USDTPOLYGON',
      'usdt@arbitrum': 'USDTARBTM',
      'usdt@op': 'USDTOPTM',
      'usdt@cchain': 'USDTAVAXC',
      'usdt@ton': 'USDTTON',
      'usdc@sol': 'USDCSOL',
      'btcb@bsc': 'BTCBEP20',
      'trx@trx': 'TRX',
    } as const
    for (const [id, code] of Object.entries(expected))
      expect([id, codes.get(id as `${string}@${string}`)]).toEqual([id, code])
  })
})

describe('aliases', () => {
  it('point to existing ids and shadow none', () => {
    const networkIds = new Set<string>(networks.map((network) => network.id))
    for (const [alias, id] of networkAliases) {
      expect(networkIds.has(id)).toBe(true)
      expect([alias, networkIds.has(alias)]).toEqual([alias, false])
    }
    const tickers = new Set(listed.map((currency) => currency.definition.ticker))
    for (const [alias, ticker] of tickerAliases) {
      expect([ticker, tickers.has(ticker)]).toEqual([ticker, true])
      expect([alias, tickers.has(alias)]).toEqual([alias, false])
    }
  })

  it.each([
    ['BITCOIN', 'Bitcoin', 'btc@btc'],
    ['usdt', 'trc20', 'usdt@trx'],
    ['USDT', 'ERC20', 'usdt@eth'],
    ['usdc', 'bep20', 'usdc@bsc'],
    ['avax', 'avaxc', 'avax@cchain'],
    ['pol', 'polygon', 'pol@matic'],
    ['matic', 'pol', 'pol@matic'],
    ['eth', 'optimism', 'eth@op'],
    ['eth', 'unichain', 'eth@uni'],
    ['s', 'sonic', 's@sonic'],
  ])('resolve %s on %s to %s', (ticker, network, id) => {
    expect(production.find(ticker, network)?.asset.id).toBe(id)
  })
})

describe('in the sandbox', () => {
  it('enables only native currencies and deployed tokens', () => {
    const usdt = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
    const sandbox = createCatalogue({
      networks,
      currencies,
      environment: 'sandbox',
      tokens: { eth: { usdt } },
      enabled: (id) => id === 'eth' || id === 'btc',
    })
    expect(
      sandbox
        .list()
        .filter((currency) => currency.enabled)
        .map((currency) => currency.asset.id),
    ).toEqual(['btc@btc', 'eth@eth', 'usdt@eth'])
    expect(sandbox.find('usdt', 'eth')?.asset.contract).toBe(usdt)
    expect(sandbox.list()).toHaveLength(listed.length)
  })
})
