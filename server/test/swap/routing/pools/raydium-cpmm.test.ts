import { decodeRaydiumCpmmConfig, decodeRaydiumCpmmPool } from '@swapyard/lib/pools/solana/raydium-cpmm.ts'
import { describe, expect, it } from 'vitest'
import { readPublicVectors } from '../../../../../test/support/vectors.ts'
import { replayCpmmPools, replayRaydiumCpmm } from '../../../../src/cli/lab/raydium-cpmm.ts'
import { type RecordedFees, readTransferFees } from '../../../../src/cli/lab/replay-pools.ts'
import { applyChanges, type Changes, expectedSwaps, type RecordedSwap } from './recorded-swaps.ts'

type Row = RecordedSwap &
  Readonly<{
    inputIs: 0 | 1
    poolDataChanges?: Changes
    tradeFee?: string
    protocolFee?: string
    fundFee?: string
    after?: Readonly<{ vault0: string; vault1: string }>
  }>
type Recorded = Readonly<{
  pools: readonly Readonly<{
    config: Readonly<{ data: string }>
    poolData: string
    vault0: string
    vault1: string
    transferFees?: RecordedFees
    cases: readonly Row[]
  }>[]
}>

const file = readPublicVectors<Recorded>('solana_raydium_cpmm.json')
const ACCEPTED = 345

describe.skipIf(file === null)('Raydium CPMM', () => {
  it('replays every recorded swap to the unit', () => {
    const expected = expectedSwaps(file?.pools ?? [])
    expect(expected.length).toBeGreaterThanOrEqual(570)
    expect(replayRaydiumCpmm(file)).toEqual(expected)
  })

  it('leaves each pool and its vaults as the account bytes after every swap, with the recorded fees', () => {
    const replayed = replayCpmmPools(file)
    let [count, accepted] = [0, 0]
    for (const { config, poolData, vault0, vault1, transferFees, cases } of file?.pools ?? []) {
      const [bytes, rates] = [Buffer.from(poolData, 'base64'), Buffer.from(config.data, 'base64')]
      let balances = { vault0, vault1 }
      for (const { n, inputIs, poolDataChanges = [], tradeFee, protocolFee, fundFee, after } of cases) {
        applyChanges(bytes, poolDataChanges)
        balances = after ?? balances
        const vaults = [BigInt(balances.vault0), BigInt(balances.vault1)] as const
        const state = decodeRaydiumCpmmPool(
          ...([bytes, decodeRaydiumCpmmConfig(rates), vaults, readTransferFees(transferFees)] as const),
        )
        const { before, result, after: left } = replayed[count] ?? {}
        expect(left, `case ${n}`).toEqual(state)
        count += 1
        if (after === undefined || result?.error !== null || before === undefined) continue
        const grown = (fees: 'protocolFees' | 'fundFees') => String(state[fees][inputIs] - before[fees][inputIs])
        const fees = [String(result.tradeFee), grown('protocolFees'), grown('fundFees')]
        expect(fees, `case ${n}`).toEqual([tradeFee, protocolFee, fundFee])
        accepted += 1
      }
    }
    expect([count, accepted]).toEqual([replayed.length, ACCEPTED])
  })
})
