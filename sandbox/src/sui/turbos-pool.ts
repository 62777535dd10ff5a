/* Creates a Turbos CLMM pool with its ticks. */
import { bcs } from '@mysten/sui/bcs'
import { tickAtSqrtPrice } from '@swapyard/lib/pools/sui/q64-tick.ts'
import { i32, toI32, toI128 } from '@swapyard/lib/pools/sui/signed-integers.ts'
import { TURBOS_WORD_SPACINGS } from '@swapyard/lib/pools/sui/turbos.ts'
import { turbosIndexType, turbosPoolSchema, turbosTickSchema } from '@swapyard/lib/pools/sui/turbos-objects.ts'
import { deriveCreatedId } from './digests.ts'
import type { DynamicFields, TypedBytes } from './field-store.ts'
import { type Position, sumActive, sumHeld, sumTicks, type Tick } from './positions.ts'
import type { SuiNode } from './sui-node.ts'

/** Stands for the transactions that created the maps and the ticks. */
const tableDigest = '4'.repeat(32)
const idsPerPool = 10_000
const feeProtocol = 200_000
const noLimit = 2n ** 128n - 1n

type Identity = Readonly<{
  address: string
  types: readonly [string, string]
  /** The type that stands for the fee. */
  feeType: string
  /** Number of the pool; different pools have different numbers. */
  index: number
  /** Millionths. */
  feeRate: number
  tickSpacing: number
  /** Q64.64. */
  sqrtPrice: bigint
}>

/** A pool in any state that swaps can lead to. */
export type TurbosStart = Identity &
  Readonly<{
    /** Millionths of the fee. */
    feeProtocol: number
    tick: number
    liquidity: bigint
    ticks: ReadonlyMap<number, Tick>
    /** Base units that the pool holds. */
    coins: readonly [bigint, bigint]
  }>

const nameOf = (address: string, index: number): TypedBytes => ({
  ...{ type: turbosIndexType(address), bytes: i32.serialize(toI32(index)).toBytes() },
})

/** The words of the map, whose bits say which ticks there are. */
function wordsOf({ ticks, tickSpacing }: TurbosStart): ReadonlyMap<number, bigint> {
  const words = new Map<number, bigint>()
  for (const index of ticks.keys()) {
    const spacings = index / tickSpacing
    const word = Math.floor(spacings / TURBOS_WORD_SPACINGS)
    words.set(word, (words.get(word) ?? 0n) | (1n << BigInt(spacings - word * TURBOS_WORD_SPACINGS)))
  }
  return words
}

/** Ticks are fields of the pool. */
function addTicks(fields: DynamicFields, pool: string, { address, index: poolIndex, ticks }: TurbosStart): void {
  let created = idsPerPool * poolIndex
  for (const [index, { net, gross }] of ticks) {
    created += 1
    const tick = {
      ...{ id: deriveCreatedId(tableDigest, created), liquidityGross: gross, liquidityNet: toI128(net) },
      ...{ feeGrowthOutsideA: 0, feeGrowthOutsideB: 0, rewardGrowthsOutside: [], isInitialized: true },
    }
    const bytes = turbosTickSchema.serialize(tick).toBytes()
    fields.set(pool, nameOf(address, index), { type: `${address}::pool::Tick`, bytes })
  }
}

/** Returns the id of the pool. */
export function startTurbosPool(node: SuiNode, start: TurbosStart): string {
  const { address, types, feeType, index, feeRate, tickSpacing, sqrtPrice, tick, coins, liquidity, feeProtocol } = start
  const mapId = deriveCreatedId(tableDigest, idsPerPool * index)
  const words = wordsOf(start)
  const encode = (id: string) =>
    turbosPoolSchema
      .serialize({
        ...{ id, coinA: coins[0], coinB: coins[1], protocolFeesA: 0, protocolFeesB: 0, sqrtPrice, tick: toI32(tick) },
        ...{ tickSpacing, liquidityPerTickMax: noLimit, fee: feeRate, feeProtocol, isUnlocked: true, liquidity },
        ...{ feeGrowthA: 0, feeGrowthB: 0, tickMap: { id: mapId, size: words.size } },
        ...{ deployedMs: 0, rewards: [], rewardsUpdatedMs: 0 },
      })
      .toBytes()
  const type = `${address}::pool::Pool<${[...types, feeType].join(', ')}>`
  const shared = { kind: 'shared', initialVersion: 1n } as const
  const { id } = node.createObject({ type, owner: shared, hasPublicTransfer: false }, encode)
  node.changeFields(id, (fields) => {
    addTicks(fields, id, start)
    for (const [word, bits] of words)
      fields.set(mapId, nameOf(address, word), { type: 'u256', bytes: bcs.u256().serialize(bits).toBytes() })
  })
  return id
}

/** A pool that has only seen its positions. */
export function createTurbosPool(
  node: SuiNode,
  { positions, ...identity }: Identity & Readonly<{ positions: readonly Position[] }>,
): string {
  const { sqrtPrice } = identity
  const tick = tickAtSqrtPrice(sqrtPrice)
  const [liquidity, ticks, coins] = [sumActive(positions, tick), sumTicks(positions), sumHeld(positions, sqrtPrice)]
  return startTurbosPool(node, { ...identity, feeProtocol, tick, liquidity, ticks, coins })
}
