import type { DammPoolState } from '@swapyard/lib/pools/solana/meteora-damm-v2-accounts.ts'
import {
  DLMM_BINS_PER_ARRAY,
  type DlmmBin,
  type DlmmPair,
  dlmmArrayIndex,
} from '@swapyard/lib/pools/solana/meteora-dlmm-accounts.ts'
import { dlmmPrice } from '@swapyard/lib/pools/solana/meteora-dlmm-bin.ts'
import { clmmArrayStart, isInPoolBitmap } from '@swapyard/lib/pools/solana/raydium-clmm-accounts.ts'
import { placesAround } from '../../../src/adapters/solana/dexes/solana-dex.ts'
import type { Concentrated } from '../../../src/swap/routing/pools/concentrated.ts'

/* States of pools of Solana, with only those tick and bin arrays that the server reads: two in each direction. */

/** The accounts of a pool with these ticks. */
export function clmmStateOf({ sqrtPrice, tick, liquidity, tickSpacing, ticks }: Concentrated, feePpm: number) {
  const starts = [...new Set(ticks.map(({ index }) => clmmArrayStart(index, tickSpacing)))].sort((a, b) => a - b)
  const isNear = (start: number) => isInPoolBitmap(start, tickSpacing)
  const arrays = placesAround(starts, clmmArrayStart(tick, tickSpacing)).map((start) => ({
    ...{ start, address: `ticks from ${start}` },
  }))
  const ticksFrom = (start: number) =>
    ticks
      .filter(({ index }) => clmmArrayStart(index, tickSpacing) === start)
      .map(({ index, net }) => ({
        ...{ tick: index, liquidityNet: net, liquidityGross: net < 0n ? -net : net },
        feeGrowthBeyond: [0n, 0n] as const,
      }))
  const none = [0n, 0n] as const
  const sums = {
    feeGrowthGlobal: none,
    protocolFees: none,
    fundFees: none,
    totalFees: none,
    swapIn: none,
    swapOut: none,
  }
  const extensionStarts = starts.filter((start) => !isNear(start))
  return {
    ...{ kind: 'raydium-clmm' as const, config: 'config', observation: 'observation', arrays },
    extension: extensionStarts.length === 0 ? null : 'extension',
    state: {
      config: { tradeFeeRate: BigInt(feePpm), protocolFeeRate: 120_000n, fundFeeRate: 40_000n },
      state: {
        ...{ tickSpacing, liquidity, sqrtPrice, tickCurrent: tick, ...sums },
        ...{ status: 0, openTime: 0n, arrayStarts: starts.filter(isNear) },
      },
      extensionStarts,
      tickArrays: new Map(arrays.map(({ start }) => [start, { startTick: start, ticks: ticksFrom(start) }])),
    },
  }
}

/** Greatest and least root of a price of a pool of DAMM v2. */
const [DAMM_ROOT_MIN, DAMM_ROOT_MAX] = [4_295_048_016n, 79_226_673_521_066_979_257_578_248_091n]

type DammTerms = Pick<DammPoolState, 'baseFee' | 'dynamicFee' | 'volatility' | 'feeMode' | 'compoundingBps'> &
  Readonly<{
    sqrtPrice: bigint
    /** Of the price's root, up and down; null = all prices. */
    width: number | null
    /** Of the root of the product of both amounts. */
    liquidity: bigint
  }>

/** A pool that holds what its liquidity needs. It was activated at time zero. */
export function dammStateOf({ sqrtPrice, width, liquidity, ...terms }: DammTerms) {
  const times = (factor: number) => (sqrtPrice * BigInt(Math.round(factor * 2 ** 32))) >> 32n
  const [low, high] = width === null ? [DAMM_ROOT_MIN, DAMM_ROOT_MAX] : [times(1 / (1 + width)), times(1 + width)]
  const reserves = [
    ((liquidity << 64n) * (high - sqrtPrice)) / (high * sqrtPrice) + 1n,
    (liquidity * (sqrtPrice - low)) / (1n << 64n) + 1n,
  ] as const
  const none = [0n, 0n] as const
  return {
    kind: 'meteora-damm-v2' as const,
    state: {
      state: {
        ...{ ...terms, sqrtPrice, sqrtPriceMin: low, sqrtPriceMax: high, initialSqrtPrice: sqrtPrice },
        ...{ liquidity: liquidity << 64n, reserves, feeRateMax: 990_000_000n, protocolShare: 20n, referralShare: 20n },
        ...{ isEnabled: true, activation: { point: 0n, isSlot: false } },
        ...{ protocolFees: none, lpFees: none, feeGrowth: none },
      },
      vaults: reserves,
    },
  }
}

export const emptyBin = {
  ...{ amounts: [0n, 0n], liquiditySupply: 0n, fulfilledOrders: [0n, 0n], orderFees: [0n, 0n], feeGrowth: [0n, 0n] },
  ...{ openOrders: 0n, processingOrders: 0n, processedRest: 0n, orderAge: 0, isAskSide: false },
} as const satisfies Omit<DlmmBin, 'id' | 'price'>

/** The accounts of a pair with these bins. */
export function dlmmStateOf(pair: Omit<DlmmPair, 'arrayIndexes'>, filled: readonly Omit<DlmmBin, 'price'>[]) {
  const byId = new Map(filled.map((bin) => [bin.id, bin]))
  const indexes = [...new Set(filled.map(({ id }) => dlmmArrayIndex(id)))].sort((a, b) => a - b)
  const arrays = placesAround(indexes, dlmmArrayIndex(pair.activeId)).map((index) => ({
    ...{ index, address: `bins ${index}` },
  }))
  const binsOf = (index: number) =>
    Array.from({ length: DLMM_BINS_PER_ARRAY }, (_, place): DlmmBin => {
      const id = index * DLMM_BINS_PER_ARRAY + place
      return { ...emptyBin, ...byId.get(id), id, price: dlmmPrice(id, pair.binStep) }
    })
  const sum = (token: 0 | 1) =>
    filled.reduce((total, { amounts, openOrders, processedRest, isAskSide }) => {
      const ofOrders = isAskSide === (token === 0) ? openOrders + processedRest : 0n
      return total + amounts[token] + ofOrders
    }, 0n)
  return {
    ...{ kind: 'meteora-dlmm' as const, oracle: 'oracle', extension: null, arrays },
    state: {
      pair: { ...pair, arrayIndexes: indexes },
      extensionIndexes: [],
      binArrays: new Map(arrays.map(({ index }) => [index, { index, bins: binsOf(index) }])),
      reserves: [sum(0), sum(1)] as const,
    },
  }
}
