/* Creates a Cetus CLMM pool with its ticks. */
import { bcs } from '@mysten/sui/bcs'
import { cetusAmountsOfLiquidity } from '@swapyard/lib/pools/sui/cetus-liquidity.ts'
import { cetusPoolSchema, cetusTickNodeSchema, toI32, toI128 } from '@swapyard/lib/pools/sui/cetus-objects.ts'
import { sqrtPriceAtTick, TICK_MAX, tickAtSqrtPrice } from '@swapyard/lib/pools/sui/q64-tick.ts'
import { deriveCreatedId } from './digests.ts'
import type { DynamicFields } from './field-store.ts'
import type { SuiNode } from './sui-node.ts'

export type CetusPosition = Readonly<{ tickLower: number; tickUpper: number; liquidity: bigint }>

type Tick = { net: bigint; gross: bigint }

const none = { isNone: true, v: 0 }
/** Stands for the transactions that created the tables of ticks and positions. */
const tableDigest = '2'.repeat(32)

function sumTicks(positions: readonly CetusPosition[]): ReadonlyMap<number, Tick> {
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
    positions: readonly CetusPosition[]
  }>,
): string {
  const { address, types, index, feeRate, tickSpacing, sqrtPrice, positions } = pool
  const [ticksId, positionsId] = [deriveCreatedId(tableDigest, 2 * index), deriveCreatedId(tableDigest, 2 * index + 1)]
  const ticks = sumTicks(positions)
  const tick = tickAtSqrtPrice(sqrtPrice)
  const active = positions.filter(({ tickLower, tickUpper }) => tickLower <= tick && tick < tickUpper)
  const held = positions.map(({ liquidity, ...range }) =>
    cetusAmountsOfLiquidity({ ...range, sqrtPrice }, liquidity, true),
  )
  const tickList = {
    ...{ id: ticksId, head: [], tail: none, level: 1, maxLevel: 16, listP: 2, size: ticks.size, random: { seed: 0 } },
  }
  const encode = (id: string) =>
    cetusPoolSchema
      .serialize({
        ...{ id, tickSpacing, feeRate, sqrtPrice, tick: toI32(tick), isPaused: false, index, url: '' },
        coinA: held.reduce((sum, [a]) => sum + a, 0n),
        coinB: held.reduce((sum, [, b]) => sum + b, 0n),
        liquidity: active.reduce((sum, { liquidity }) => sum + liquidity, 0n),
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
