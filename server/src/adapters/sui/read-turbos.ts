import { deriveDynamicFieldID } from '@mysten/sui/utils'
import { i32, toI32 } from '@swapyard/lib/pools/sui/signed-integers.ts'
import {
  readTurbosTick,
  readTurbosWord,
  toTurbosState,
  turbosIndexType,
  turbosPoolSchema,
} from '@swapyard/lib/pools/sui/turbos-objects.ts'
import { type PoolReader, parseOnce, readTypeArguments } from './read-pools.ts'

const validUntilMs = Number.POSITIVE_INFINITY
const readTick = parseOnce(readTurbosTick)

/** The ticks are fields of the pool beside the positions of all users, so they are found by the map of ticks. */
export const readTurbosPool: PoolReader = async ({ node, dex }, object) => {
  const types = readTypeArguments(object)
  const feeType = types?.others[0]
  if (types === null || feeType === undefined || dex.config === undefined) return { pool: null, validUntilMs }
  const parsed = turbosPoolSchema.parse(object.contents)
  if (!parsed.isUnlocked) return { pool: null, validUntilMs }
  const words = await node.listFields(parsed.tickMap.id)
  const indexType = turbosIndexType(object.type.split('::', 1)[0] ?? '')
  const ids = words
    .flatMap(({ contents }) => readTurbosWord(contents, parsed.tickSpacing))
    .map((index) => deriveDynamicFieldID(object.id, indexType, i32.serialize(toI32(index)).toBytes()))
  const ticks = (await node.readObjects(ids)).flatMap((tick) => (tick === null ? [] : [readTick(tick)]))
  const pool = {
    ...({ kind: 'turbos', id: object.id, address: object.id, dex: dex.name, tokens: types.tokens } as const),
    ...{ package: dex.factory, config: dex.config, feeType },
    ...toTurbosState(parsed, ticks),
  }
  return { pool, validUntilMs }
}
