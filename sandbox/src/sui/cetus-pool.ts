/* Creates a Cetus CLMM pool with its ticks. */
import { bcs } from '@mysten/sui/bcs'
import { cetusPoolSchema, cetusTickNodeSchema } from '@swapyard/lib/pools/sui/cetus-objects.ts'
import { sqrtPriceAtTick, TICK_MAX, tickAtSqrtPrice } from '@swapyard/lib/pools/sui/q64-tick.ts'
import { toI32, toI128 } from '@swapyard/lib/pools/sui/signed-integers.ts'
import { deriveCreatedId } from './digests.ts'
import type { DynamicFields } from './field-store.ts'
import { type Position, sumActive, sumHeld, sumTicks, type Tick } from './positions.ts'
import type { SuiNode } from './sui-node.ts'

const none = { isNone: true, v: 0 }
/** Stands for the transactions that created the tables of ticks and positions. */
const tableDigest = '2'.repeat(32)

function addTicks(fields: DynamicFields, address: string, table: string, ticks: ReadonlyMap<number, Tick>): void {
  const type = `${address}::skip_list::Node<${address}::tick::Tick>`
  for (const [index, { net, gross }] of ticks) {
    const score = index + TICK_MAX
    const tick = {
      ...{ index: toI32(index), sqrtPrice: sqrtPriceAtTick(index), liquidityNet: toI128(net), liquidityGross: gross },
      ...{ feeGrowthOutsideA: 0, feeGrowthOutsideB: 0, pointsGrowthOutside: 0, rewardsGrowthOutside: [] },
    }
    const bytes = cetusTickNodeSchema.serialize({ score, nexts: [], prev: none, tick }).toBytes()
    fields.set(table, { type: 'u64', bytes: bcs.u64().serialize(score).toBytes() }, { type, bytes })
  }
}

/** Returns the id of the pool. */
export function createCetusPool(
  node: SuiNode,
  pool: Readonly<{
    address: string
    types: readonly [string, string]
    /** Number of the pool; different pools have different numbers. */
    index: number
    /** Millionths. */
    feeRate: number
    tickSpacing: number
    /** Q64.64. */
    sqrtPrice: bigint
    positions: readonly Position[]
  }>,
): string {
  const { address, types, index, feeRate, tickSpacing, sqrtPrice, positions } = pool
  const [ticksId, positionsId] = [deriveCreatedId(tableDigest, 2 * index), deriveCreatedId(tableDigest, 2 * index + 1)]
  const ticks = sumTicks(positions)
  const tick = tickAtSqrtPrice(sqrtPrice)
  const [coinA, coinB] = sumHeld(positions, sqrtPrice)
  const tickList = {
    ...{ id: ticksId, head: [], tail: none, level: 1, maxLevel: 16, listP: 2, size: ticks.size, random: { seed: 0 } },
  }
  const encode = (id: string) =>
    cetusPoolSchema
      .serialize({
        ...{ id, tickSpacing, feeRate, sqrtPrice, tick: toI32(tick), isPaused: false, index, url: '' },
        ...{ coinA, coinB, liquidity: sumActive(positions, tick) },
        ...{ feeGrowthA: 0, feeGrowthB: 0, protocolFeeA: 0, protocolFeeB: 0 },
        tickManager: { tickSpacing, ticks: tickList },
        rewarderManager: { rewarders: [], pointsReleased: 0, pointsGrowthGlobal: 0, lastUpdatedTime: 0 },
        positionManager: {
          ...{ tickSpacing, positionIndex: positions.length },
          positions: { id: positionsId, head: null, tail: null, size: positions.length },
        },
      })
      .toBytes()
  const type = `${address}::pool::Pool<${types.join(', ')}>`
  const shared = { kind: 'shared', initialVersion: 1n } as const
  const { id } = node.createObject({ type, owner: shared, hasPublicTransfer: false }, encode)
  node.changeFields(id, (fields) => addTicks(fields, address, ticksId, ticks))
  return id
}
