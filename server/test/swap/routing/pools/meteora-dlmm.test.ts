import { type DlmmSwap, swapMeteoraDlmm } from '@swapyard/lib/pools/solana/meteora-dlmm.ts'
import {
  decodeDlmmBinArray,
  decodeDlmmExtension,
  decodeDlmmPair,
} from '@swapyard/lib/pools/solana/meteora-dlmm-accounts.ts'
import { dlmmPrice } from '@swapyard/lib/pools/solana/meteora-dlmm-bin.ts'
import { describe, expect, test } from 'vitest'
import { readPublicVectors } from '../../../../../test/support/vectors.ts'
import { replayDlmmPools, replayMeteoraDlmm } from '../../../../src/cli/lab/meteora-dlmm.ts'
import { applyChanges, type Changes, expectedSwaps, type RecordedSwap } from './recorded-swaps.ts'

type Recorded = Readonly<{
  pools: readonly Readonly<{
    pairData: string
    binArrays: readonly Readonly<{ index: number; data: string }>[]
    cases: readonly (RecordedSwap &
      Readonly<{
        event?: Readonly<{ mmFee: string; protocolFee: string; limitOrderFee: string; hostFee: string }>
        after?: Readonly<{ reserveXBalance: string; reserveYBalance: string }>
        pairDataChanges?: Changes
        binArrayDataChanges?: Readonly<Record<string, Changes>>
      }>)[]
  }>[]
}>

describe.each([
  { file: 'solana_meteora_dlmm.json', cases: 481, accepted: 311, prices: 500 },
  { file: 'solana_meteora_dlmm_dumps.json', cases: 121, accepted: 78, prices: 100 },
])('Meteora DLMM, $file', ({ file, cases: count, accepted, prices }) => {
  const recorded = readPublicVectors<Recorded>(file) as Recorded

  test.skipIf(recorded === null)(`the program's ${count} recorded swaps, accepted and refused`, () => {
    const expected = expectedSwaps(recorded.pools)
    expect(expected).toHaveLength(count)
    expect(expected.filter(({ error }) => error === null)).toHaveLength(accepted)
    expect(replayMeteoraDlmm(recorded)).toEqual(expected)
  })

  test.skipIf(recorded === null)('pair, bins and fees equal the recorded ones after every swap', () => {
    const replayed = replayDlmmPools(recorded)
    let index = 0
    for (const { pairData, binArrays, cases } of recorded.pools) {
      const pair = Buffer.from(pairData, 'base64')
      const arrays = new Map(binArrays.map(({ index: key, data }) => [key, Buffer.from(data, 'base64')]))
      for (const { n, event, after: recordedAfter, pairDataChanges = [], binArrayDataChanges = {} } of cases) {
        applyChanges(pair, pairDataChanges)
        for (const [key, changes] of Object.entries(binArrayDataChanges)) applyChanges(arrays.get(Number(key)), changes)
        const { result, after } = replayed[index] ?? {}
        expect(after?.pair, `case ${n}`).toEqual(decodeDlmmPair(pair))
        for (const [key, data] of arrays)
          expect(after?.binArrays.get(key), `case ${n}, array ${key}`).toEqual(decodeDlmmBinArray(data))
        if (recordedAfter !== undefined)
          expect(after?.reserves.map(String), `case ${n}`).toEqual([
            recordedAfter.reserveXBalance,
            recordedAfter.reserveYBalance,
          ])
        const fees = result?.error === null ? result.fees : undefined
        expect(fees, `case ${n}`).toEqual(event && feesOf(event))
        index += 1
      }
    }
    expect(index).toBe(count)
  })

  test.skipIf(recorded === null)('computes the price that the program stored in each bin with liquidity', () => {
    const bins = recorded.pools.flatMap(({ pairData, binArrays }) => {
      const { binStep } = decodeDlmmPair(Buffer.from(pairData, 'base64'))
      return binArrays
        .flatMap(({ data }) => decodeDlmmBinArray(Buffer.from(data, 'base64')).bins)
        .filter(({ price }) => price > 0n)
        .map(({ id, price }) => ({ id, binStep, price }))
    })
    expect(bins.length).toBeGreaterThan(prices)
    expect(bins.map(({ id, binStep }) => ({ id, binStep, price: dlmmPrice(id, binStep) }))).toEqual(bins)
  })
})

describe('Meteora DLMM', () => {
  const recorded = readPublicVectors<Recorded>('solana_meteora_dlmm.json') as Recorded

  test.skipIf(recorded === null)('refuses a disabled pair and one before its activation', () => {
    const first = replayDlmmPools({ pools: recorded.pools.slice(0, 1) })[0]
    if (first === undefined) throw new Error('no recorded pool')
    const { pair } = first.after
    const swapWith = (changes: Partial<typeof pair>) =>
      swapMeteoraDlmm({ ...first.after, pair: { ...pair, ...changes } }, createSwap(pair.activeId)).error
    expect(swapWith({})).toBeNull()
    expect(swapWith({ isEnabled: false })).toBe(6042)
    expect(swapWith({ activation: { point: 101n, isSlot: true } })).toBe(6042)
    expect(swapWith({ activation: { point: 100n, isSlot: true } })).toBeNull()
    expect(swapWith({ activation: { point: 2_000_000_001n, isSlot: false } })).toBe(6042)
    expect(swapWith({ activation: { point: 2_000_000_000n, isSlot: false } })).toBeNull()
  })

  test.skipIf(recorded === null)('refuses an output beyond the balance of the reserve', () => {
    const first = replayDlmmPools({ pools: recorded.pools.slice(0, 1) })[0]
    if (first === undefined) throw new Error('no recorded pool')
    const pool = { ...first.after, reserves: [0n, 1n] as const }
    expect(swapMeteoraDlmm(pool, createSwap(pool.pair.activeId))).toEqual({ error: 1 })
  })

  // Layout of the account: 12 parts of 512 bits above the pair's bitmap, then 12 below it, which run away from 0.
  test('reads the bitmap extension on both sides', () => {
    const data = Buffer.alloc(1576)
    data.writeUInt8(0b110, 40)
    data.writeUInt8(0b1000_0000, 40 + 12 * 64 - 1)
    data.writeUInt8(0b1, 40 + 12 * 64)
    data.writeUInt8(0b10, 40 + 13 * 64)
    expect(decodeDlmmExtension(data)).toEqual([-1026, -513, 513, 514, 6655])
  })
})

function createSwap(activeId: number): DlmmSwap {
  return {
    swapForY: true,
    amounts: { kind: 'exactIn', amountIn: 1_000_000n, minimumOut: 0n },
    unixTime: 2_000_000_000n,
    slot: 100n,
    binArrays: [Math.floor(activeId / 70)],
    hasExtension: false,
    hostToken: null,
  }
}

function feesOf({
  mmFee,
  protocolFee,
  limitOrderFee,
  hostFee,
}: Readonly<Record<'mmFee' | 'protocolFee' | 'limitOrderFee' | 'hostFee', string>>) {
  return {
    makers: BigInt(mmFee),
    orders: BigInt(limitOrderFee),
    protocol: BigInt(protocolFee),
    host: BigInt(hostFee),
  }
}
