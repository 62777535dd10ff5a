import type { Q64State } from '@swapyard/lib/pools/sui/concentrated-q64.ts'

/** What recorded pools of Cetus and Turbos have in common. Integers as text. */
export type RecordedQ64Pool = Readonly<{
  sqrtPrice: string
  tick: number
  liquidity: string
  /** Index, net and gross liquidity. */
  ticks: readonly (readonly [number, string, string])[]
}>

/** The state of a recorded pool, without its fee rates. */
export const readQ64Pool = (recorded: RecordedQ64Pool): Omit<Q64State, 'feeRate' | 'protocolFeeRate'> => ({
  sqrtPrice: BigInt(recorded.sqrtPrice),
  tick: recorded.tick,
  liquidity: BigInt(recorded.liquidity),
  ticks: recorded.ticks.map(([index, net]) => ({ index, net: BigInt(net) })),
  feeGrowth: [0n, 0n],
  protocolFees: [0n, 0n],
})
