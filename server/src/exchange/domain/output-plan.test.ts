import { expect, test } from 'vitest'
import { outputDefaults, planConsolidation, planSplit, smallUnits, usefulUnits } from './output-plan.ts'

const COIN = 100_000_000n
/** 68 vB at 20 per vB. At 20 basis points an output needs 500 times as much to be useful. */
const inputFeeUnits = 1_360n
const wallet = (walletUnits: bigint, useful: number) => ({ walletUnits, useful, inputFeeUnits })

/* M26: a wallet that was filled with one output signed one transaction each 20 to 30 minutes. */
test('M26: splits a wallet with few outputs into equal shares, and keeps one as change', () => {
  expect(planSplit(wallet(8n * COIN, 1), outputDefaults)).toEqual({ purpose: 'split', outputs: 7, units: COIN })
  expect(planSplit(wallet(8n * COIN, 4), outputDefaults)).toEqual({ purpose: 'split', outputs: 4, units: COIN })
  expect(planSplit(wallet(8n * COIN, 5), outputDefaults)).toBeNull()
})

test('makes no output whose later fee is above its bound', () => {
  expect(usefulUnits(inputFeeUnits, outputDefaults)).toBe(680_000n)
  // Three outputs of 700 000 and not eight of 262 500.
  expect(planSplit(wallet(2_100_000n, 1), outputDefaults)).toEqual({ purpose: 'split', outputs: 2, units: 700_000n })
  expect(planSplit(wallet(1_300_000n, 1), outputDefaults)).toBeNull()
  expect(planSplit(wallet(0n, 0), outputDefaults)).toBeNull()
})

test('never splits where one output is enough', () => {
  expect(planSplit(wallet(8n * COIN, 1), { ...outputDefaults, ready: 1 })).toBeNull()
})

test('M26: merges more small outputs than the setting allows, into two', () => {
  // A quarter of an eighth.
  expect(smallUnits(32n * COIN, outputDefaults)).toBe(COIN)
  const units = Array.from({ length: 101 }, () => 1_000n)
  expect(planConsolidation(units, outputDefaults)).toEqual({ purpose: 'consolidate', outputs: 1, units: 50_500n })
  expect(planConsolidation(units.slice(1), outputDefaults)).toBeNull()
  expect(planConsolidation(units, { ...outputDefaults, smallMax: 0 })).toBeNull()
})
