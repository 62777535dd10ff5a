import { expect, it } from 'vitest'
import { createPackageLists } from './package-lists.ts'

const lists = createPackageLists()
/** Real chain ids of the networks that both lists know. */
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
}

it.for(Object.entries(known))('lists tokens of %s, each once, in lower case', ([, chainId]) => {
  const tokens = lists.list(chainId)
  expect(tokens.length).toBeGreaterThan(3)
  expect(new Set(tokens.map(({ address }) => address)).size).toBe(tokens.length)
  for (const { address, symbol, name, decimals, icon } of tokens) {
    expect(address).toMatch(/^0x[0-9a-f]{40}$/)
    expect(symbol.length * name.length).toBeGreaterThan(0)
    expect(decimals).toBeLessThanOrEqual(36)
    if (icon !== null) expect(icon).toMatch(/^https:\/\//)
  }
})

it('knows USDC by its contract', () => {
  const usdc = lists.list(1).find(({ address }) => address === '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48')
  expect(usdc).toMatchObject({ symbol: 'USDC', decimals: 6 })
  expect(lists.list(3_133_700_001)).toEqual([])
})
