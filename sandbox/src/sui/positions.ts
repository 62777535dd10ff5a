/* Positions of concentrated liquidity, from which a pool is created. */
import { cetusAmountsOfLiquidity } from '@swapyard/lib/pools/sui/cetus-liquidity.ts'

export type Position = Readonly<{ tickLower: number; tickUpper: number; liquidity: bigint }>
export type Tick = Readonly<{ net: bigint; gross: bigint }>

/** By index. */
export function sumTicks(positions: readonly Position[]): ReadonlyMap<number, Tick> {
  const ticks = new Map<number, Tick>()
  const add = (index: number, net: bigint, gross: bigint) => {
    const tick = ticks.get(index) ?? { net: 0n, gross: 0n }
    ticks.set(index, { net: tick.net + net, gross: tick.gross + gross })
  }
  for (const { tickLower, tickUpper, liquidity } of positions) {
    add(tickLower, liquidity, liquidity)
    add(tickUpper, -liquidity, liquidity)
  }
  return ticks
}

/** The liquidity of the positions around a tick. */
export const sumActive = (positions: readonly Position[], tick: number): bigint =>
  positions
    .filter(({ tickLower, tickUpper }) => tickLower <= tick && tick < tickUpper)
    .reduce((sum, { liquidity }) => sum + liquidity, 0n)

/** What the positions hold of both coins, in base units. */
export function sumHeld(positions: readonly Position[], sqrtPrice: bigint): readonly [bigint, bigint] {
  const held = positions.map(({ liquidity, ...range }) =>
    cetusAmountsOfLiquidity({ ...range, sqrtPrice }, liquidity, true),
  )
  return [held.reduce((sum, [a]) => sum + a, 0n), held.reduce((sum, [, b]) => sum + b, 0n)]
}
