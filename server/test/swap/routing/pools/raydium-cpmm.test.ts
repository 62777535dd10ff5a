import { describe, expect, it } from 'vitest'
import { readPublicVectors } from '../../../../../test/support/vectors.ts'
import { replayRaydiumCpmm } from '../../../../src/cli/lab/raydium-cpmm.ts'
import { expectedSwaps, type RecordedSwap } from './recorded-swaps.ts'

const file = readPublicVectors<{ pools: readonly { cases: readonly RecordedSwap[] }[] }>('solana_raydium_cpmm.json')

describe.skipIf(file === null)('Raydium CPMM', () => {
  it('replays every recorded swap to the unit', () => {
    const expected = expectedSwaps(file?.pools ?? [])
    expect(expected.length).toBeGreaterThanOrEqual(570)
    expect(replayRaydiumCpmm(file)).toEqual(expected)
  })
})
