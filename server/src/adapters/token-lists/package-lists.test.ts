import { expect, it } from 'vitest'
import { createPackageLists } from './package-lists.ts'

const lists = createPackageLists()
/** Real chain ids. */
const known = {
  eth: 1,
  op: 10,
  bsc: 56,
  uni: 130,
  matic: 137,
  base: 8453,
  arbitrum: 42161,
  celo: 42220,
  cchain: 43114,
  linea: 59144,
  sei: 1_329,
  sonic: 146,
}

it.for(Object.entries(known))('lists tokens of %s, each once, in lower case', ([, chainId]) => {
  const tokens = lists.list(chainId)
  expect(tokens.length).toBeGreaterThan(3)
  expect(new Set(tokens.map(({ address }) => address)).size).toBe(tokens.length)
  for (const { address, symbol, name, decimals, icon } of tokens) {
    expect(address).toMatch(/^0x[0-9a-f]{40}$/)
    // That would be the coin.
    expect(address).not.toMatch(/^0x0+$/)
    expect(symbol.length * name.length).toBeGreaterThan(0)
    expect(decimals).toBeLessThanOrEqual(36)
    if (icon !== null) expect(icon).toMatch(/^https:\/\//)
  }
})

/** As Circle names them. */
it.for([
  ['eth', '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'],
  ['linea', '0x176211869ca2b568f2a7d4ee941e073a821ee1ff'],
  ['sei', '0xe15fc38f6d8c56af07bbcbe3baf5708a2bf42392'],
  ['sonic', '0x29219dd400f2bf60e5a23d13be72b486d4038894'],
] as const)('knows the USDC of %s by its contract', ([network, contract]) => {
  const usdc = lists.list(known[network]).find(({ address }) => address === contract)
  expect(usdc).toMatchObject({ symbol: 'USDC', decimals: 6 })
})

it('knows the wrapped coins of Sei and Sonic', () => {
  expect(lists.list(known.sei).map(({ symbol }) => symbol)).toContain('WSEI')
  expect(lists.list(known.sonic).map(({ symbol }) => symbol)).toContain('wS')
})

it('calls a token by its newer name', () => {
  const symbols = lists.list(known.sei).map(({ symbol }) => symbol)
  expect(symbols).toContain('frxUSD')
  expect(symbols).not.toContain('FRAX')
})

it('knows nothing of a chain that nobody lists', () => {
  expect(lists.list(3_133_700_001)).toEqual([])
})
