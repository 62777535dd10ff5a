import {
  cetusConfigSchema,
  cetusPoolSchema,
  readCetusTick,
  tickTableOf,
  toCetusState,
} from '@swapyard/lib/pools/sui/cetus-objects.ts'
import { present } from '../../lib/assert.ts'
import type { FieldLimits } from './node.ts'
import { type PoolReader, parseOnce, readTypeArguments } from './read-pools.ts'

const validUntilMs = Number.POSITIVE_INFINITY
const readTick = parseOnce(readCetusTick)

/** `limits`: of the list of a pool's ticks. */
export const createCetusReader =
  (limits: FieldLimits): PoolReader =>
  async ({ node, dex }, object) => {
    const types = readTypeArguments(object)
    if (types === null) return { pool: null, validUntilMs }
    const parsed = cetusPoolSchema.parse(object.contents)
    if (parsed.isPaused) return { pool: null, validUntilMs }
    const [config] = await node.readObjects([dex.config ?? ''])
    const { protocolFeeRate } = cetusConfigSchema.parse(present(config, `the settings of ${dex.name}`).contents)
    const ticks = (await node.listFields(tickTableOf(parsed), limits)).map(readTick)
    const pool = {
      ...({ kind: 'cetus', id: object.id, address: object.id, dex: dex.name, tokens: types.tokens } as const),
      ...{ package: dex.factory, config: dex.config ?? '' },
      ...toCetusState(parsed, ticks, BigInt(protocolFeeRate)),
    }
    return { pool, validUntilMs }
  }

export const readCetusPool = createCetusReader({})
