import { describe, expect, it } from 'vitest'
import { readPublicVectors } from '../../../../../test/support/vectors.ts'
import { replayRaydiumAmmV4 } from '../../../../src/cli/lab/raydium-amm-v4.ts'
import { expectedSwaps, type RecordedSwap } from './recorded-swaps.ts'

type Row = RecordedSwap & Readonly<{ in?: string; out?: string }>

const file = readPublicVectors<{ pools: readonly { cases: readonly Row[] }[] }>('solana_raydium_amm_v4.json')

describe.skipIf(file === null)('Raydium AMM v4', () => {
  it('replays every recorded swap to the unit', () => {
    const expected = expectedSwaps(file?.pools ?? [], (row) => ({ paid: row.in, received: row.out }))
    expect(expected.length).toBeGreaterThanOrEqual(352)
    expect(replayRaydiumAmmV4(file)).toEqual(expected)
  })
})
