import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { toMs } from './file.ts'
import { assembleSwaps, swapProblems } from './swaps.ts'

const folder = mkdtempSync(join(tmpdir(), 'swapyard-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('has a default for everything, and asks nobody else', () => {
  expect(assembleSwaps(undefined, toMs)).toEqual({
    quoteMs: 30_000,
    deadlineMs: 1_200_000,
    droppedMs: 600_000,
    impactMaxPpm: 500_000,
    feeAddresses: new Map(),
    tokens: new Map(),
    disabled: new Set(),
    aggregators: [],
    aggregatorBudgetMs: 400,
    aggregatorGainBps: 5,
  })
})

it('reads keys from their files, and says which cannot be read', () => {
  const keyFile = join(folder, 'key')
  writeFileSync(keyFile, 'a key\n')
  const aggregators = { '0x': { keyFile }, openocean: {}, kyberswap: { client: 'swapyard' } }
  expect(swapProblems({ aggregators })).toEqual([])
  expect(assembleSwaps({ aggregators }, toMs).aggregators).toEqual([
    { id: '0x', key: 'a key', url: null, contracts: new Map() },
    { id: 'openocean', key: null, url: null, contracts: new Map() },
    { id: 'kyberswap', key: 'swapyard', url: null, contracts: new Map() },
  ])
  const absent = join(folder, 'absent')
  expect(swapProblems({ aggregators: { '0x': { keyFile: absent } } })).toEqual([
    `SWAPYARD_CONFIG: swaps.aggregators: ${absent} cannot be read`,
  ])
})

it('keeps what it says of networks', () => {
  const token = { address: `0x${'1'.repeat(40)}`, name: 'Own', symbol: 'OWN', decimals: 6 }
  const networks = { eth: { feeAddress: `0x${'2'.repeat(40)}`, tokens: [token] }, sei: { enabled: false } }
  const assembled = assembleSwaps({ networks, priceImpactMaxPercent: 10, deadline: '5m' }, toMs)
  expect(assembled.feeAddresses.get('eth')).toBe(networks.eth.feeAddress)
  expect(assembled.tokens.get('eth')).toEqual([token])
  expect([...assembled.disabled]).toEqual(['sei'])
  expect([assembled.impactMaxPpm, assembled.deadlineMs]).toEqual([100_000, 300_000])
})
