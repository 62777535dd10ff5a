/* The objects of Cetus CLMM in BCS, as package mainnet-v1.3.0 declares them. */
import { bcs } from '@mysten/sui/bcs'
import type { Q64State, Q64Tick } from './concentrated-q64.ts'
import { fromI32, fromI128, i32, i128 } from './signed-integers.ts'

const optionU64 = bcs.struct('OptionU64', { isNone: bcs.bool(), v: bcs.u64() })

const ticksSchema = bcs.struct('SkipList', {
  ...{ id: bcs.Address, head: bcs.vector(optionU64), tail: optionU64, level: bcs.u64(), maxLevel: bcs.u64() },
  ...{ listP: bcs.u64(), size: bcs.u64(), random: bcs.struct('Random', { seed: bcs.u64() }) },
})

const rewarderSchema = bcs.struct('Rewarder', {
  ...{ rewardCoin: bcs.string(), emissionsPerSecond: bcs.u128(), growthGlobal: bcs.u128() },
})

export const cetusPoolSchema = bcs.struct('Pool', {
  ...{ id: bcs.Address, coinA: bcs.u64(), coinB: bcs.u64(), tickSpacing: bcs.u32(), feeRate: bcs.u64() },
  ...{ liquidity: bcs.u128(), sqrtPrice: bcs.u128(), tick: i32 },
  ...{ feeGrowthA: bcs.u128(), feeGrowthB: bcs.u128(), protocolFeeA: bcs.u64(), protocolFeeB: bcs.u64() },
  tickManager: bcs.struct('TickManager', { tickSpacing: bcs.u32(), ticks: ticksSchema }),
  rewarderManager: bcs.struct('RewarderManager', {
    ...{ rewarders: bcs.vector(rewarderSchema), pointsReleased: bcs.u128(), pointsGrowthGlobal: bcs.u128() },
    lastUpdatedTime: bcs.u64(),
  }),
  positionManager: bcs.struct('PositionManager', {
    ...{ tickSpacing: bcs.u32(), positionIndex: bcs.u64() },
    positions: bcs.struct('LinkedTable', {
      ...{ id: bcs.Address, head: bcs.option(bcs.Address), tail: bcs.option(bcs.Address), size: bcs.u64() },
    }),
  }),
  ...{ isPaused: bcs.bool(), index: bcs.u64(), url: bcs.string() },
})
type CetusPoolObject = typeof cetusPoolSchema.$inferType

/** A tick in the pool's skip list. */
export const cetusTickNodeSchema = bcs.struct('Node', {
  ...{ score: bcs.u64(), nexts: bcs.vector(optionU64), prev: optionU64 },
  tick: bcs.struct('Tick', {
    ...{ index: i32, sqrtPrice: bcs.u128(), liquidityNet: i128, liquidityGross: bcs.u128() },
    ...{ feeGrowthOutsideA: bcs.u128(), feeGrowthOutsideB: bcs.u128(), pointsGrowthOutside: bcs.u128() },
    rewardsGrowthOutside: bcs.vector(bcs.u128()),
  }),
})

/** The dynamic field of a tick. */
const tickFieldSchema = bcs.struct('Field', { id: bcs.Address, score: bcs.u64(), node: cetusTickNodeSchema })

/** The first members of the object GlobalConfig. */
export const cetusConfigSchema = bcs.struct('GlobalConfig', { id: bcs.Address, protocolFeeRate: bcs.u64() })

export function readCetusTick(field: Uint8Array): Q64Tick {
  const { index, liquidityNet } = tickFieldSchema.parse(field).node.tick
  return { index: fromI32(index), net: fromI128(liquidityNet) }
}

/** Id of the object that owns the pool's ticks. */
export const tickTableOf = (pool: CetusPoolObject): string => pool.tickManager.ticks.id

/** The pool for the mathematics of swaps. */
export function toCetusState(pool: CetusPoolObject, ticks: readonly Q64Tick[], protocolFeeRate: bigint): Q64State {
  return {
    ...{ feeRate: BigInt(pool.feeRate), protocolFeeRate, sqrtPrice: BigInt(pool.sqrtPrice), tick: fromI32(pool.tick) },
    liquidity: BigInt(pool.liquidity),
    ticks: [...ticks].sort((a, b) => a.index - b.index),
    feeGrowth: [BigInt(pool.feeGrowthA), BigInt(pool.feeGrowthB)],
    protocolFees: [BigInt(pool.protocolFeeA), BigInt(pool.protocolFeeB)],
  }
}
