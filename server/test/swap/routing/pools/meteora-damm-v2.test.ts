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

  // The recordings have no exact output of a rate limiter above its reference amount.
  test.skipIf(recorded === null)('an exact output of a rate limiter costs what an exact input needs for it', () => {
    const last = replayDammPools({ pools: recorded.pools.filter(({ what }) => what === 'rate limiter') }).at(-1)
    if (last === undefined) throw new Error('no recorded pool with a rate limiter')
    const pool = last.after
    const { point } = pool.state.activation
    const swap: DammSwap = {
      ...{ aToB: false, kind: 'exactOut', amount: 1_000_000_000n, limit: 10n ** 18n },
      ...{ unixTime: point + 1n, slot: point, hasReferral: false, hasInstructions: true },
    }
    const bought = swapMeteoraDammV2(pool, swap)
    if (bought.error !== null) throw new Error(`refused with ${bought.error}`)
    expect(bought.received).toBe(swap.amount)
    const sold = swapMeteoraDammV2(pool, { ...swap, kind: 'exactIn', amount: bought.paid, limit: 0n })
    if (sold.error !== null) throw new Error(`refused with ${sold.error}`)
    // The rate is rounded up to 10^-9 of the input, which is worth less than 10^-8 of the output.
    const tolerance = swap.amount / 100_000_000n
    expect(sold.received).toBeGreaterThanOrEqual(swap.amount - tolerance)
    expect(sold.received).toBeLessThanOrEqual(swap.amount + tolerance)
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
