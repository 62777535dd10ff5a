import { expect, test } from 'vitest'
import { networks } from '../../../networks/index.ts'

// Private exchanges distinguish wallets by address. One key on two chains has two addresses and would look like two wallets.
test('every network has a hot wallet key of its own', () => {
  const keys = networks.map(({ coinType, hotIndex = 0 }) => `${coinType}/${hotIndex}`)
  expect(new Set(keys).size).toBe(keys.length)
})

// EVM networks share the address format, so a common key is visible.
test('only EVM networks share a coin type', () => {
  const otherCoinTypes = networks.filter(({ family }) => family !== 'evm').map(({ coinType }) => coinType)
  const evmCoinTypes = new Set(networks.filter(({ family }) => family === 'evm').map(({ coinType }) => coinType))
  expect(new Set(otherCoinTypes).size).toBe(otherCoinTypes.length)
  expect(otherCoinTypes.filter((coinType) => evmCoinTypes.has(coinType))).toEqual([])
})
