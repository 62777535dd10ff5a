/* The objects of Turbos CLMM in BCS, as its public sources of version 18 declare them. */
import { bcs } from '@mysten/sui/bcs'
import type { Q64Tick } from './concentrated-q64.ts'
import { fromI32, fromI128, i32, i128 } from './signed-integers.ts'
import { TURBOS_WORD_SPACINGS, type TurbosState } from './turbos.ts'

const rewardSchema = bcs.struct('PoolRewardInfo', {
  ...{ id: bcs.Address, vault: bcs.Address, vaultCoinType: bcs.string() },
  ...{ emissionsPerSecond: bcs.u128(), growthGlobal: bcs.u128(), manager: bcs.Address },
})

export const turbosPoolSchema = bcs.struct('Pool', {
  ...{ id: bcs.Address, coinA: bcs.u64(), coinB: bcs.u64(), protocolFeesA: bcs.u64(), protocolFeesB: bcs.u64() },
  ...{ sqrtPrice: bcs.u128(), tick: i32, tickSpacing: bcs.u32(), liquidityPerTickMax: bcs.u128() },
  /** Parts per million: of the input, and of the fee. */
  ...{ fee: bcs.u32(), feeProtocol: bcs.u32(), isUnlocked: bcs.bool() },
  ...{ feeGrowthA: bcs.u128(), feeGrowthB: bcs.u128(), liquidity: bcs.u128() },
  tickMap: bcs.struct('Table', { id: bcs.Address, size: bcs.u64() }),
  ...{ deployedMs: bcs.u64(), rewards: bcs.vector(rewardSchema), rewardsUpdatedMs: bcs.u64() },
})
type TurbosPoolObject = typeof turbosPoolSchema.$inferType

/** A tick, under its index in the pool. */
export const turbosTickSchema = bcs.struct('Tick', {
  ...{ id: bcs.Address, liquidityGross: bcs.u128(), liquidityNet: i128 },
  ...{ feeGrowthOutsideA: bcs.u128(), feeGrowthOutsideB: bcs.u128(), rewardGrowthsOutside: bcs.vector(bcs.u128()) },
  isInitialized: bcs.bool(),
})
const tickField = bcs.struct('Field', { id: bcs.Address, index: i32, tick: turbosTickSchema })
const wordField = bcs.struct('Field', { id: bcs.Address, position: i32, word: bcs.u256() })

/** The type of an index, which names a tick in a pool of this package and a word in its map. */
export const turbosIndexType = (address: string): string => `${address}::i32::I32`

export function readTurbosTick(field: Uint8Array): Q64Tick {
  const { index, tick } = tickField.parse(field)
  return { index: fromI32(index), net: fromI128(tick.liquidityNet) }
}

/** The initialised ticks of a word. */
export function readTurbosWord(field: Uint8Array, tickSpacing: number): readonly number[] {
  const { position, word } = wordField.parse(field)
  const bits = BigInt(word)
  const first = fromI32(position) * TURBOS_WORD_SPACINGS
  const places = Array.from({ length: TURBOS_WORD_SPACINGS }, (_, place) => place)
  return places.filter((place) => (bits >> BigInt(place)) & 1n).map((place) => (first + place) * tickSpacing)
}

/** The pool for the mathematics of swaps. */
export const toTurbosState = (pool: TurbosPoolObject, ticks: readonly Q64Tick[]): TurbosState => ({
  ...{ tickSpacing: pool.tickSpacing, feeRate: BigInt(pool.fee), protocolFeeRate: BigInt(pool.feeProtocol) },
  ...{ sqrtPrice: BigInt(pool.sqrtPrice), tick: fromI32(pool.tick), liquidity: BigInt(pool.liquidity) },
  ticks: [...ticks].sort((a, b) => a.index - b.index),
  feeGrowth: [BigInt(pool.feeGrowthA), BigInt(pool.feeGrowthB)],
  protocolFees: [BigInt(pool.protocolFeesA), BigInt(pool.protocolFeesB)],
})
