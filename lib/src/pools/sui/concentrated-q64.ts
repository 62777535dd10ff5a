/* What the concentrated liquidity of Cetus and Turbos has in common. */
import { largest, smallest } from '../../bigint.ts'
import { addAt, replaceAt, type TokenPair } from '../token-pair.ts'
import { SQRT_PRICE_MAX, SQRT_PRICE_MIN } from './q64-tick.ts'

/** `net` is the liquidity added (positive) or removed (negative) when the price crosses this tick upward. */
export type Q64Tick = Readonly<{ index: number; net: bigint }>

/** Index of the last of ascending ticks at or below `tick`, or −1. */
export function findTick(ticks: readonly Q64Tick[], tick: number): number {
  let low = -1
  let high = ticks.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((ticks[middle] as Q64Tick).index <= tick) low = middle
    else high = middle - 1
  }
  return low
}

export type Q64State = Readonly<{
  /** Parts per million of the input. */
  feeRate: bigint
  /** The protocol's share of the fee. Its denominator is the protocol's own. */
  protocolFeeRate: bigint
  /** Q64.64. */
  sqrtPrice: bigint
  tick: number
  liquidity: bigint
  /** Initialised ticks, ascending. */
  ticks: readonly Q64Tick[]
  /** Q64.64 per unit of liquidity, modulo 2^128; coin A, coin B. */
  feeGrowth: TokenPair
  /** Base units; coin A, coin B. */
  protocolFees: TokenPair
}>

export type Q64Swap = Readonly<{
  a2b: boolean
  /** Whether `amount` is the input with the fee; otherwise the output. */
  isExactIn: boolean
  /** Base units. */
  amount: bigint
  /** Q64.64. The swap stops at the limit and takes only the used part of the input. */
  sqrtPriceLimit: bigint
}>

/** The last price in a direction. */
export const lastPriceOf = (a2b: boolean): bigint => (a2b ? SQRT_PRICE_MIN : SQRT_PRICE_MAX)

/** The end of a step: the price of the next tick, or the limit if it comes first. */
export const targetOf = (tickPrice: bigint, limit: bigint, a2b: boolean): bigint =>
  a2b ? largest(tickPrice, limit) : smallest(tickPrice, limit)

type Fees = Readonly<{ liquidity: bigint; fee: bigint; protocolFee: bigint; feeGrowth: bigint; steps: number }>

/** Books the fee of one step. The fee growth is rounded down. */
export function bookFee({ liquidity, ...sums }: Fees, fee: bigint, protocolFee: bigint): Omit<Fees, 'liquidity'> {
  const growth = liquidity === 0n ? 0n : ((fee - protocolFee) << 64n) / liquidity
  return {
    fee: sums.fee + fee,
    protocolFee: sums.protocolFee + protocolFee,
    feeGrowth: BigInt.asUintN(128, sums.feeGrowth + growth),
    steps: sums.steps + 1,
  }
}

type End = Pick<Q64State, 'sqrtPrice' | 'tick' | 'liquidity'> & Pick<Fees, 'feeGrowth' | 'protocolFee'>

/** The pool after a swap that ends there. */
export function settle<S extends Q64State>(pool: S, a2b: boolean, end: End): S {
  const { sqrtPrice, tick, liquidity } = end
  const input = a2b ? 0 : 1
  return {
    ...{ ...pool, sqrtPrice, tick, liquidity },
    feeGrowth: replaceAt(pool.feeGrowth, input, end.feeGrowth),
    protocolFees: addAt(pool.protocolFees, input, end.protocolFee),
  }
}
