import { expect, it } from 'vitest'
import { createPackageLists } from './package-lists.ts'

const lists = createPackageLists()
/** Production chain ids. */
const chainIds = {
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

it.for(Object.entries(chainIds))('lists tokens of %s, each once, in lower case', ([, chainId]) => {
  const tokens = lists.list(chainId)
  expect(tokens.length).toBeGreaterThan(3)
  expect(new Set(tokens.map(({ address }) => address)).size).toBe(tokens.length)
  for (const { address, symbol, name, decimals, icon } of tokens) {
    expect(address).toMatch(/^0x[0-9a-f]{40}$/)
    // The zero address represents native currency.
    expect(address).not.toMatch(/^0x0+$/)
    expect(symbol.length * name.length).toBeGreaterThan(0)
    expect(decimals).toBeLessThanOrEqual(36)
    if (icon !== null) expect(icon).toMatch(/^https:\/\//)
  }
})

/** From Circle's documentation. */
it.for([
  ['eth', '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'],
  ['linea', '0x176211869ca2b568f2a7d4ee941e073a821ee1ff'],
  ['sei', '0xe15fc38f6d8c56af07bbcbe3baf5708a2bf42392'],
  ['sonic', '0x29219dd400f2bf60e5a23d13be72b486d4038894'],
] as const)('lists the USDC of %s', ([network, contract]) => {
  const usdc = lists.list(chainIds[network]).find(({ address }) => address === contract)
  expect(usdc).toMatchObject({ symbol: 'USDC', decimals: 6 })
})

it('lists the wrapped native tokens of Sei and Sonic', () => {
  expect(lists.list(chainIds.sei).map(({ symbol }) => symbol)).toContain('WSEI')
  expect(lists.list(chainIds.sonic).map(({ symbol }) => symbol)).toContain('wS')
})

it('uses the newer name of a renamed token', () => {
  const symbols = lists.list(chainIds.sei).map(({ symbol }) => symbol)
  expect(symbols).toContain('frxUSD')
  expect(symbols).not.toContain('FRAX')
})

it('lists nothing for an unknown chain', () => {
  expect(lists.list(3_133_700_001)).toEqual([])
})
