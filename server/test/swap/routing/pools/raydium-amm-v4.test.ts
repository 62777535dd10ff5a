import { decodeRaydiumAmmV4Pool } from '@swapyard/lib/pools/solana/raydium-amm-v4.ts'
import { describe, expect, it } from 'vitest'
import { readPublicVectors } from '../../../../../test/support/vectors.ts'
import { replayAmmV4Pools, replayRaydiumAmmV4 } from '../../../../src/cli/lab/raydium-amm-v4.ts'
import { applyChanges, type Changes, expectedSwaps, type RecordedSwap } from './recorded-swaps.ts'

type Row = RecordedSwap &
  Readonly<{
    in?: string
    out?: string
    swapFee?: string
    ammDataChanges?: Changes
    after?: Readonly<{ coinVaultBalance: string; pcVaultBalance: string }>
  }>
type Recorded = Readonly<{
  pools: readonly Readonly<{
    ammData: string
    coinVaultBalance: string
    pcVaultBalance: string
    cases: readonly Row[]
  }>[]
}>

const file = readPublicVectors<Recorded>('solana_raydium_amm_v4.json')
const ACCEPTED = 210

describe.skipIf(file === null)('Raydium AMM v4', () => {
  it('replays every recorded swap to the unit', () => {
    const expected = expectedSwaps(file?.pools ?? [], (row) => ({ paid: row.in, received: row.out }))
    expect(expected.length).toBeGreaterThanOrEqual(352)
    expect(replayRaydiumAmmV4(file)).toEqual(expected)
  })

  it('leaves each pool and its vaults as the account bytes after every swap, with the recorded fee', () => {
    const replayed = replayAmmV4Pools(file)
    let [count, accepted] = [0, 0]
    for (const { ammData, coinVaultBalance, pcVaultBalance, cases } of file?.pools ?? []) {
      const bytes = Buffer.from(ammData, 'base64')
      let balances = { coinVaultBalance, pcVaultBalance }
      for (const { n, ammDataChanges = [], swapFee, after } of cases) {
        applyChanges(bytes, ammDataChanges)
        balances = after ?? balances
        const vaults = [BigInt(balances.coinVaultBalance), BigInt(balances.pcVaultBalance)] as const
        const { result, after: left } = replayed[count] ?? {}
        expect(left, `case ${n}`).toEqual(decodeRaydiumAmmV4Pool(bytes, vaults))
        count += 1
        if (after === undefined || result?.error !== null) continue
        expect(String(result.fee), `case ${n}`).toBe(swapFee)
        accepted += 1
      }
    }
    expect([count, accepted]).toEqual([replayed.length, ACCEPTED])
  })
})
