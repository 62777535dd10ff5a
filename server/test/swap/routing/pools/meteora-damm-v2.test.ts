import { type DammSwap, swapMeteoraDammV2 } from '@swapyard/lib/pools/solana/meteora-damm-v2.ts'
import { decodeDammPool } from '@swapyard/lib/pools/solana/meteora-damm-v2-accounts.ts'
import { describe, expect, test } from 'vitest'
import { readPublicVectors } from '../../../../../test/support/vectors.ts'
import { replayDammPools, replayMeteoraDammV2 } from '../../../../src/cli/lab/meteora-damm-v2.ts'
import { applyChanges, type Changes, expectedSwaps, type RecordedSwap } from './recorded-swaps.ts'

type Recorded = Readonly<{
  pools: readonly Readonly<{
    what: string
    poolData: string
    cases: readonly (RecordedSwap &
      Readonly<{
        event?: Readonly<{ claimingFee: string; compoundingFee: string; protocolFee: string; referralFee: string }>
        after?: Readonly<{ vaultA: string; vaultB: string }>
        poolDataChanges?: Changes
      }>)[]
  }>[]
}>

const CASES = 629
const ACCEPTED = 486

describe('Meteora DAMM v2', () => {
  const recorded = readPublicVectors<Recorded>('solana_meteora_damm_v2.json') as Recorded

  test.skipIf(recorded === null)(`the program's ${CASES} recorded swaps, accepted and refused`, () => {
    const expected = expectedSwaps(recorded.pools)
    expect(expected).toHaveLength(CASES)
    expect(expected.filter(({ error }) => error === null)).toHaveLength(ACCEPTED)
    expect(replayMeteoraDammV2(recorded)).toEqual(expected)
  })

  test.skipIf(recorded === null)('pool, vaults and fees equal the recorded ones after every swap', () => {
    const replayed = replayDammPools(recorded)
    let index = 0
    for (const { poolData, cases } of recorded.pools) {
      const bytes = Buffer.from(poolData, 'base64')
      for (const { n, event, after: balances, poolDataChanges = [] } of cases) {
        applyChanges(bytes, poolDataChanges)
        const { result, after } = replayed[index] ?? {}
        expect(after?.state, `case ${n}`).toEqual(decodeDammPool(bytes))
        if (balances !== undefined)
          expect(after?.vaults.map(String), `case ${n}`).toEqual([balances.vaultA, balances.vaultB])
        const fees = result?.error === null ? result.fees : undefined
        expect(fees, `case ${n}`).toEqual(
          event && {
            providers: BigInt(event.claimingFee),
            compounding: BigInt(event.compoundingFee),
            protocol: BigInt(event.protocolFee),
            referral: BigInt(event.referralFee),
          },
        )
        index += 1
      }
    }
    expect(index).toBe(CASES)
  })

  test.skipIf(recorded === null)('refuses a disabled pool', () => {
    const first = replayDammPools({ pools: recorded.pools.slice(0, 1) }).at(-1)
    if (first === undefined) throw new Error('no recorded pool')
    const swap: DammSwap = {
      ...{ aToB: true, kind: 'exactIn', amount: 1_000_000n, limit: 0n, unixTime: 2_000_000_000n, slot: 0n },
      ...{ hasReferral: false, hasInstructions: true },
    }
    expect(swapMeteoraDammV2(first.after, swap).error).toBeNull()
    const disabled = { ...first.after, state: { ...first.after.state, isEnabled: false } }
    expect(swapMeteoraDammV2(disabled, swap)).toEqual({ error: 6003 })
  })
})
