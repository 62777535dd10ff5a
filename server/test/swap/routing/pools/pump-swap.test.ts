import { tradePumpSwap } from '@swapyard/lib/pools/solana/pump-swap.ts'
import { describe, expect, test } from 'vitest'
import { readPublicVectors } from '../../../../../test/support/vectors.ts'
import { replayPumpSwap, replayPumpSwapPools } from '../../../../src/cli/lab/pump-swap.ts'
import { expectedSwaps, type RecordedSwap } from './recorded-swaps.ts'

type Recorded = Readonly<{
  pools: readonly Readonly<{
    canonical: boolean
    cases: readonly (RecordedSwap &
      Readonly<{
        instruction: string
        userBase?: string
        userQuote?: string
        protocolReceived?: string
        coinCreatorReceived?: string
        buybackReceived?: string
        cashbackReceived?: string
        after?: Readonly<{ baseReserve: string; quoteReserve: string }>
      }>)[]
  }>[]
}>

const CASES = 378
const ACCEPTED = 277

describe('PumpSwap', () => {
  const recorded = readPublicVectors<Recorded>('solana_pumpswap.json') as Recorded

  test.skipIf(recorded === null)(`the program's ${CASES} recorded trades, accepted and refused`, () => {
    const expected = expectedSwaps(recorded.pools, ({ instruction, userBase = '0', userQuote = '0' }) => {
      const [paid, received] = instruction === 'sell' ? [userBase, userQuote] : [userQuote, userBase]
      return { paid: String(-BigInt(paid)), received }
    })
    expect(expected).toHaveLength(CASES)
    expect(expected.filter(({ error }) => error === null)).toHaveLength(ACCEPTED)
    expect(replayPumpSwap(recorded)).toEqual(expected)
  })

  test.skipIf(recorded === null)(
    'reserves and the recipients of fees equal the recorded ones after every trade',
    () => {
      const replayed = replayPumpSwapPools(recorded)
      const rows = recorded.pools.flatMap(({ canonical, cases }) => cases.map((row) => ({ canonical, ...row })))
      let count = 0
      for (const [index, row] of rows.entries()) {
        const { result, after } = replayed[index] ?? {}
        expect(after?.isCanonical).toBe(row.canonical)
        if (row.after === undefined || result === undefined || result.error !== null) continue
        expect([String(after?.baseReserve), String(after?.quoteReserve)], `case ${row.n}`).toEqual([
          row.after.baseReserve,
          row.after.quoteReserve,
        ])
        expect(result.payouts, `case ${row.n}`).toEqual({
          protocol: BigInt(row.protocolReceived ?? 0),
          buyback: BigInt(row.buybackReceived ?? 0),
          coinCreator: BigInt(row.coinCreatorReceived ?? 0),
          cashback: BigInt(row.cashbackReceived ?? 0),
        })
        count += 1
      }
      expect(count).toBe(ACCEPTED)
    },
  )

  // Bits and codes of the public interface of the program.
  test.skipIf(recorded === null)('refuses buys and sells that the global config disables', () => {
    const pool = replayPumpSwapPools(recorded)[0]?.after
    if (pool === undefined) throw new Error('no recorded pool')
    const disable = (disableFlags: number) => ({ ...pool, config: { ...pool.config, disableFlags } })
    const buy = { kind: 'buy', baseOut: 1000n, quoteInMax: 10n ** 12n } as const
    const sell = { kind: 'sell', baseIn: 1_000_000n, quoteOutMin: 0n } as const
    expect(tradePumpSwap(disable(8), buy)).toEqual({ error: 6020 })
    expect(tradePumpSwap(disable(16), sell)).toEqual({ error: 6021 })
    expect(tradePumpSwap(disable(16), buy).error).toBeNull()
    expect(tradePumpSwap(disable(8), sell).error).toBeNull()
  })
})
