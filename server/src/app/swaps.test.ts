import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { dexNetworks } from '../../dexes/index.ts'
import { createPackageLists } from '../adapters/token-lists/package-lists.ts'
import { decode } from '../config/schema.ts'
import { type AddressUse, parseSwapAddress } from '../config/swap-addresses.ts'
import { swapsSchema, toSwapConfig } from '../config/swaps.ts'
import { createListedTokens } from '../swap/tokens/listed-tokens.ts'
import { coinsOwn, productionSwaps, serveNetworks } from './swaps.ts'

/** The example that operators are given. */
const page = readFileSync(join(import.meta.dirname, '../../../docs/guides/operate.md'), 'utf8')
const [, example = ''] = /```json\n(\{\s*"swaps"[\s\S]*?)```/.exec(page) ?? []
const { swaps } = JSON.parse(example)
const config = toSwapConfig(decode(swapsSchema, swaps).value, [])
const lists = createPackageLists()
/** Real chain ids of the networks of the example. */
const networks = { sei: 1_329, sonic: 146 } as const

describe.for(Object.entries(networks))('%s', ([network, chainId]) => {
  it('has the tokens of the operator’s file before those of the lists', async () => {
    const published = lists.list(chainId)
    const offer = productionSwaps([{ network, rpcUrls: ['http://127.0.0.1:1'] }], config)
    const own = swaps.networks[network].tokens as { address: string; symbol: string }[]
    expect(own.length).toBeGreaterThan(0)
    // The example says something that the lists do not.
    const known = new Set(published.map(({ address }) => address))
    expect(own.filter(({ address }) => known.has(address.toLowerCase()))).toEqual([])
    const all = [...own, ...published]
    // The router looks for their pools from the beginning.
    expect(offer.routing.map(({ tokens }) => tokens)).toEqual([all.map(({ address }) => address)])
    const { chain } = (await serveNetworks('production', offer.routing)).get(network) ?? {}
    expect(chain?.network.evm?.chainId).toBe(chainId)
    const listed = createListedTokens({
      own: (id) => offer.ownTokens.get(id) ?? [],
      published: () => published,
      hidden: () => new Set(),
    })
    expect(listed(network).map(({ symbol }) => symbol)).toEqual(all.map(({ symbol }) => symbol))
    // What is written there has a right checksum, and is not the coin.
    for (const { address } of own) expect(chain?.formatAddress(chain.parse(address) ?? '')).toBe(address)
  })
})

it('lists no contract of the coin as a token, though published lists name it', async () => {
  const coins = {
    matic: '0x0000000000000000000000000000000000001010',
    celo: '0x471ece3750da237f93b8e339c536989b8978a438',
  }
  const nodes = Object.keys(coins).map((network) => ({ network, rpcUrls: ['http://127.0.0.1:1'] }))
  const served = await serveNetworks('production', productionSwaps(nodes, config).routing)
  for (const [network, coin] of Object.entries(coins)) {
    const published = lists.list(served.get(network)?.chain.network.evm?.chainId ?? 0)
    expect(published.map(({ address }) => address)).toContain(coin)
    const hidden = () => coinsOwn(served.get(network))
    const listed = createListedTokens({ own: () => [], published: () => published, hidden })(network)
    expect(listed).toHaveLength(published.length - 1)
    expect(listed.map(({ address }) => address)).not.toContain(coin)
  }
})

/**
 * Connector tokens that no published list names: Lido's wstETH (docs.lido.fi/deployed-contracts), Beets' stS (docs.beets.fi), and on Solana
 * and Sui, for which no list is installed, USDC (developers.circle.com) and USDT (tether.to/supported-protocols).
 */
const otherSources: Readonly<Record<string, readonly string[]>> = {
  arbitrum: ['0x5979d7b546e38e414f7e9822514be443a4800529'],
  base: ['0xc1cba3fcea344f92d9239c08c0568f6f2f0ee452'],
  linea: ['0xb5bedd42000b71fdde22d3ee8a79bd49a568fc8f'],
  matic: ['0x03b54a6e9a984069379fae1a4fc4dbae93b3bccd'],
  sol: [
    'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'.toLowerCase(),
    'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'.toLowerCase(),
  ],
  sonic: ['0xe5da20f15420ad15de0fa650600afc998bbe3955'],
  sui: ['0xdba34672e30cb065b1f93e3ab55318768fd6fef66c15942c9f7cb846e2f900e7::usdc::usdc'],
  uni: ['0xc02fe7317d4eb8753a02c35fe019786854a92001'],
}

it.for(dexNetworks.map((one) => [one.network, one] as const))(
  'D2: connector tokens of %s are on a published list, or have a named source',
  async ([network, { connectors, stablecoin }]) => {
    const offer = productionSwaps([{ network, rpcUrls: ['http://127.0.0.1:1'] }], config)
    const served = await serveNetworks('production', offer.routing)
    const chainId = served.get(network)?.chain.network.evm?.chainId ?? 0
    const published = new Set(lists.list(chainId).map(({ address }) => address))
    const lower = connectors.map((one) => one.toLowerCase())
    expect(lower.filter((one) => !published.has(one))).toEqual(otherSources[network] ?? [])
    expect(new Set(lower).size).toBe(lower.length)
    expect(lower).toContain(stablecoin?.toLowerCase())
  },
)

it('adds connector tokens of the operator to those of the program', () => {
  const own = `0x${'ab'.repeat(20)}`
  const withOwn = toSwapConfig(decode(swapsSchema, { networks: { base: { connectors: [own] } } }).value, [])
  const [routed] = productionSwaps([{ network: 'base', rpcUrls: ['http://127.0.0.1:1'] }], withOwn).routing
  const known = dexNetworks.find(({ network }) => network === 'base')?.connectors ?? []
  expect(routed?.dexNetwork.connectors).toEqual([...known, own])
})

describe('on Solana and Sui', () => {
  const nodes = ['sol', 'sui'].map((network) => ({ network, rpcUrls: ['http://127.0.0.1:1', 'http://127.0.0.1:2'] }))
  const offerOf = (settings: object) => productionSwaps(nodes, toSwapConfig(decode(swapsSchema, settings).value, []))

  it('serves swaps only if the operator enables them', async () => {
    expect(offerOf({}).routing).toEqual([])
    const { routing } = offerOf({ networks: { sol: { enabled: true }, sui: { enabled: true } } })
    expect(routing.map(({ dexNetwork }) => dexNetwork.network)).toEqual(['sol', 'sui'])
    const served = await serveNetworks('production', routing)
    expect([...served.values()].map(({ chain }) => chain.native)).toEqual([
      'So11111111111111111111111111111111111111112',
      '0x2::sui::SUI',
    ])
    // Every address of the program has the form of its network.
    for (const { dexNetwork } of routing) {
      const { network, wrapped, connectors, dexes } = dexNetwork
      const canonical = (use: AddressUse, text: string) => parseSwapAddress(network, use, text)
      for (const token of [wrapped, ...connectors]) expect(canonical('token', token)).toBe(token)
      for (const { factory, config, pools = [] } of dexes)
        for (const one of [factory, ...(config === undefined ? [] : [config]), ...pools])
          expect(canonical('contract', one)).toBe(one)
    }
  })

  it('reads the tokens, pools and packages that the operator adds', () => {
    const [pool, replaced] = [`0x${'ab'.repeat(32)}`, `0x${'cd'.repeat(32)}`]
    const own = { address: `0x${'ef'.repeat(32)}::own::OWN`, name: 'Own', symbol: 'OWN', decimals: 6 }
    const settings = { enabled: true, tokens: [own], dexes: { cetus: { package: replaced, pools: [pool] } } }
    const [routed] = offerOf({ networks: { sui: settings } }).routing
    const known = dexNetworks.find(({ network }) => network === 'sui')?.dexes[0]
    expect(routed?.tokens).toEqual([own.address])
    expect(routed?.dexNetwork.dexes).toEqual([
      { ...known, factory: replaced, pools: [...(known?.pools ?? []), pool] },
      ...(dexNetworks.find(({ network }) => network === 'sui')?.dexes.slice(1) ?? []),
    ])
  })
})
