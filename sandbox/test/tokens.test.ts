import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { currencies } from '../../server/currencies/index.ts'
import { networks } from '../../server/networks/index.ts'
import { compileTokens, generatedFile } from '../scripts/compile-tokens.ts'
import { evmNetworks, sandboxChainIdOffset } from '../src/networks.ts'
import { sandboxTokens } from '../src/tokens.ts'

const evm = networks.filter((network) => network.family === 'evm')

test('has every EVM network of the server', () => {
  expect(evmNetworks.map((one) => one.network).sort()).toEqual(evm.map((one) => one.id).sort())
  for (const one of evmNetworks) {
    const definition = evm.find((network) => network.id === one.network)
    expect(definition?.production.evm?.chainId).toBe(one.realChainId)
    expect(definition?.sandbox.evm?.chainId).toBe(sandboxChainIdOffset + one.realChainId)
    const native = currencies.find((currency) => currency.network === one.network && currency.contract === null)
    expect(native?.ticker).toBe(one.nativeTicker)
  }
})

test('has every EVM token of the catalogue with its decimals', () => {
  const ids = new Set(evm.map((network) => network.id))
  const listed = currencies.filter((currency) => currency.contract !== null && ids.has(currency.network))
  const row = (one: { network: string; ticker: string; decimals: number }) =>
    `${one.network} ${one.ticker} ${one.decimals}`
  expect(sandboxTokens.map(row).sort()).toEqual(listed.map(row).sort())
})

test('has token bytecode that matches the sources', () => {
  expect(readFileSync(generatedFile, 'utf8')).toBe(compileTokens())
})
