import { type DlmmPool, dlmmFeeRate, swapMeteoraDlmm } from '@swapyard/lib/pools/solana/meteora-dlmm.ts'
import { dlmmArrayIndex } from '@swapyard/lib/pools/solana/meteora-dlmm-accounts.ts'
import { dlmmBinCapacity } from '@swapyard/lib/pools/solana/meteora-dlmm-bin.ts'
import { createCurve } from '../../curve.ts'
import type { PoolMaths } from '../../pool.ts'
import { FALL_MIN, hyperbola } from '../sampled-curve.ts'
import { type SolanaPoolIdentity, withTransferFees } from './solana-pool.ts'

/** A pair of Meteora DLMM with the bin arrays beside its price, and the accounts that a swap names. Token 0 is X. */
export type MeteoraDlmmRoutePool = SolanaPoolIdentity &
  Readonly<{
    kind: 'meteora-dlmm'
    state: DlmmPool
    /** Of the read: the fee follows the time since the last swaps. */
    unixTime: bigint
    slot: bigint
    oracle: string
    /** The account of the bitmap extension; null if no bin array is that far from price 1. */
    extension: string | null
    /** Accounts of the bin arrays of `state`, ascending. Nothing beyond them is traded. */
    arrays: readonly BinArrayAccount[]
  }>

export type BinArrayAccount = Readonly<{ index: number; address: string }>

/** Compute units of one swap. */
const GAS = 100_000
const RATE = 1e9
const Q64 = 2 ** 64
/** Relative price decrease within a bin of the curve. In the program the price of a bin is constant. */
const BIN_FALL = 10 * FALL_MIN

/** The bin arrays that a swap in this direction may use, in its order. */
function arraysInDirection({ arrays, state }: MeteoraDlmmRoutePool, swapForY: boolean): readonly BinArrayAccount[] {
  const current = dlmmArrayIndex(state.pair.activeId)
  return swapForY
    ? arrays.filter(({ index }) => index <= current).reverse()
    : arrays.filter(({ index }) => index >= current)
}

function swap(pool: MeteoraDlmmRoutePool, tokenIn: number, _tokenOut: number, amount: bigint) {
  const swapForY = tokenIn === 0
  const { unixTime, slot, extension } = pool
  const result = swapMeteoraDlmm(pool.state, {
    ...{ swapForY, amounts: { kind: 'exactIn', amountIn: amount, minimumOut: 0n }, unixTime, slot, hostToken: null },
    ...{ binArrays: arraysInDirection(pool, swapForY).map(({ index }) => index), hasExtension: extension !== null },
  })
  if (result.error !== null || result.received === 0n) return null
  return { amountOut: result.received, next: { ...pool, state: result.next } }
}

/** The bins that a swap in this direction may reach, the active one first. */
function binsInDirection(pool: MeteoraDlmmRoutePool, swapForY: boolean) {
  const { activeId } = pool.state.pair
  return arraysInDirection(pool, swapForY)
    .flatMap(({ index }) => {
      const bins = pool.state.binArrays.get(index)?.bins ?? []
      return swapForY ? [...bins].reverse() : bins
    })
    .filter(({ id }) => (swapForY ? id <= activeId : id >= activeId))
}

/** One hyperbola per bin, nearly a straight line. */
function curve(pool: MeteoraDlmmRoutePool, tokenIn: number) {
  const swapForY = tokenIn === 0
  const { pair, transferFees } = pool.state
  const { hasLimitOrders, hasFeesInY } = pair
  const hyperbolas = []
  let last = Number.POSITIVE_INFINITY
  for (const bin of binsInDirection(pool, swapForY)) {
    const capacity = Number(dlmmBinCapacity({ bin, swapForY, hasLimitOrders }))
    if (capacity === 0 || bin.price === 0n) continue
    const rest = 1 - Number(dlmmFeeRate(pair, pool.unixTime, bin.id)) / RATE
    const price = Number(bin.price) / Q64
    // The variable fee may decrease toward the reference bin. The price of the curve must decrease nevertheless.
    const net = Math.min((swapForY ? price : 1 / price) * rest, last * (1 - BIN_FALL))
    const available = hasFeesInY && swapForY ? capacity * rest : capacity
    hyperbolas.push(hyperbola(net * (1 + BIN_FALL / 2), BIN_FALL, available / net))
    last = net
  }
  return hyperbolas.length === 0 ? null : withTransferFees(createCurve(hyperbolas, 1, GAS), transferFees, tokenIn)
}

export const meteoraDlmm: PoolMaths<MeteoraDlmmRoutePool> = { swap, curve }
