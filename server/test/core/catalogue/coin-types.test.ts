import { expect, test } from 'vitest'
import { networks } from '../../../networks/index.ts'

// Private exchanges tell wallets apart by their addresses: the same key would look like two on two chains.
test('no two networks have a hot wallet of one key', () => {
  const keys = networks.map(({ coinType, hotIndex = 0 }) => `${coinType}/${hotIndex}`)
  expect(new Set(keys).size).toBe(keys.length)
})

test('no two networks have their keys in common but those of the EVM family, whose addresses show it', () => {
  const others = networks.filter(({ family }) => family !== 'evm').map(({ coinType }) => coinType)
  const evm = new Set(networks.filter(({ family }) => family === 'evm').map(({ coinType }) => coinType))
  expect(new Set(others).size).toBe(others.length)
  expect(others.filter((coinType) => evm.has(coinType))).toEqual([])
})
