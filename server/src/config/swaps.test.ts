import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { decode } from './schema.ts'
import { swapsSchema, toSwapConfig } from './swaps.ts'

const folder = mkdtempSync(join(tmpdir(), 'swapyard-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

function read(swaps: object) {
  const problems: string[] = []
  return { config: toSwapConfig(decode(swapsSchema, swaps).value, problems), problems }
}

it('has a default for every setting, and no aggregators', () => {
  expect(read({}).config).toEqual({
    quoteMs: 30_000,
    deadlineMs: 1_200_000,
    droppedMs: 600_000,
    impactMaxPpm: 150_000,
    referenceLossMaxPpm: 100_000,
    feeAddresses: new Map(),
    tokens: new Map(),
    connectors: new Map(),
    disabled: new Set(),
    aggregators: [],
    aggregatorBudgetMs: 400,
    aggregatorGainBps: 5,
  })
})

it('reads keys from their files, and reports files that cannot be read or are empty', () => {
  const keyFile = join(folder, 'key')
  writeFileSync(keyFile, 'a key\n')
  const contracts = { eth: [`0x${'A'.repeat(40)}`] }
  const aggregators = { '0x': { keyFile }, openocean: { contracts }, kyberswap: { client: 'swapyard' } }
  const { config, problems } = read({ aggregators })
  expect(problems).toEqual([])
  expect(config.aggregators).toEqual([
    { id: '0x', key: 'a key', url: null, contracts: new Map() },
    { id: 'openocean', key: null, url: null, contracts: new Map([['eth', [`0x${'a'.repeat(40)}`]]]) },
    { id: 'kyberswap', key: 'swapyard', url: null, contracts: new Map() },
  ])
  const absent = join(folder, 'absent')
  const empty = join(folder, 'empty')
  writeFileSync(empty, '\n')
  expect(read({ aggregators: { '0x': { keyFile: absent }, openocean: { keyFile: empty } } }).problems).toEqual([
    `SWAPYARD_CONFIG: swaps.aggregators: ${absent} cannot be read`,
    `SWAPYARD_CONFIG: swaps.aggregators: ${empty} is empty`,
  ])
})

it('reads fee addresses, tokens, connector tokens and disabled networks', () => {
  const token = { address: `0x${'1'.repeat(40)}`, name: 'Own', symbol: 'OWN', decimals: 6 }
  const connectors = [`0x${'3'.repeat(40)}`]
  const networks = { eth: { feeAddress: `0x${'2'.repeat(40)}`, tokens: [token], connectors }, sei: { enabled: false } }
  const { config } = read({ networks, priceImpactMaxPercent: 10, deadline: '5m' })
  expect(config.feeAddresses.get('eth')).toBe(networks.eth.feeAddress)
  expect(config.tokens.get('eth')).toEqual([token])
  expect(config.connectors.get('eth')).toEqual(connectors)
  expect([...config.disabled]).toEqual(['sei'])
  expect([config.impactMaxPpm, config.deadlineMs]).toEqual([100_000, 300_000])
})
