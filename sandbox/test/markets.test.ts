import { expect, test } from 'vitest'
import { createEmbeddedPrices } from '../../server/src/adapters/prices/embedded.ts'
import { prepareMarket } from '../scripts/markets/prepare-market.ts'
import { listPoolPlans } from '../src/market/pool-plans.ts'
import { createSnapshotReader } from '../src/market/snapshot.ts'
import { squareRoot } from '../src/market/sqrt-price.ts'
import { marketTokens } from '../src/market/tokens.ts'
import { evmNetworks } from '../src/networks.ts'
import { priceOf } from '../src/prices.ts'
import { catalogueTokens, marketPools, testTokens } from '../src/solana/solana-market.ts'
import { suiCoin, suiTokens } from '../src/sui/coins.ts'
import { createSuiMarket } from '../src/sui/market.ts'
import { startTestNode } from '../src/sui/sui-node.fixture.ts'

/** Test tokens without a server price. */
const unlisted = ['levy', 'mute']
const networks = evmNetworks.map(({ network }) => network)

test("computes the same prices as the server's embedded source", async () => {
  const keys = new Set([
    ...evmNetworks.flatMap(({ network, nativeTicker }) => [
      nativeTicker,
      ...marketTokens(network).map(({ ticker }) => ticker),
    ]),
    ...suiTokens.map(({ ticker }) => ticker),
  ])
  for (const second of [null, 0, 1_767_225_600, 1_795_000_001, 1_795_000_006, 1_799_999_999]) {
    const { usd } = await createEmbeddedPrices({ now: () => (second ?? 0) * 1000, still: second === null }).read()
    for (const key of keys) {
      if (unlisted.includes(key)) continue
      const { bid = 0n, ask = 0n } = usd.get(key) ?? {}
      expect([key, second, priceOf(key, second)]).toEqual([key, second, (bid + ask) / 2n])
    }
  }
})

test('has at least twelve tokens and five pool kinds on every network', () => {
  for (const network of networks) {
    expect(marketTokens(network).length).toBeGreaterThanOrEqual(12)
    const kinds = new Set(listPoolPlans(network).map(({ kind }) => kind))
    expect([...kinds].sort()).toEqual(['algebra', 'balancer-weighted', 'uniswap-v2', 'uniswap-v3', 'uniswap-v4'])
  }
})

test('trades at least twelve listed tokens beside the native coin on sol, in pools of six programs', () => {
  // The router refuses a mint whose permanent delegate may take every balance.
  const tradable = marketPools.filter(({ mints }) => mints.every((mint) => mint.hasPermanentDelegate !== true))
  const traded = new Set(tradable.flatMap(({ tickers }) => tickers))
  const listed = [...catalogueTokens, ...testTokens].map(({ ticker }) => ticker)
  expect(listed.length).toBeGreaterThanOrEqual(12)
  expect(listed.filter((ticker) => !traded.has(ticker))).toEqual([])
  expect(new Set(marketPools.map(({ program }) => program.address)).size).toBe(6)
})

test('trades at least twelve tokens beside the native coin on sui, in pools of different depths and in books', async () => {
  const { node } = await startTestNode()
  const { pools, books } = createSuiMarket(node)
  const traded = new Set([...pools, ...books].flatMap(({ coins }) => coins.map(({ ticker }) => ticker)))
  traded.delete(suiCoin.ticker)
  expect(traded.size).toBeGreaterThanOrEqual(12)
  // Each listed coin can be bought, and each DEX has pools.
  expect([...traded].sort()).toEqual(suiTokens.map(({ ticker }) => ticker).sort())
  expect(new Set(pools.map(({ dex }) => dex))).toEqual(new Set(['cetus', 'turbos']))
})

test('rounds square roots down', () => {
  for (const square of [0n, 1n, 2n, 3n, 4n, 15n, 16n, 17n, 10n ** 60n - 1n, 10n ** 60n, 2n ** 255n + 12345n]) {
    const root = squareRoot(square)
    expect(root * root <= square && (root + 1n) ** 2n > square).toBe(true)
  }
})

test.for(networks)('rebuilds the stored snapshot of %s', async (network) => {
  const stored = createSnapshotReader()(network)
  const rebuilt = await prepareMarket(network)
  expect(rebuilt.market).toEqual(stored.market)
  // Compares to a boolean: a diff of three million characters is useless.
  expect(rebuilt.state === stored.state, 'run node sandbox/scripts/prepare-markets.ts').toBe(true)
})
