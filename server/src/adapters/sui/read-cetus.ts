import {
  cetusConfigSchema,
  cetusPoolSchema,
  readCetusTick,
  tickTableOf,
  toCetusState,
} from '@swapyard/lib/pools/sui/cetus-objects.ts'
import type { Dex } from '../../swap/domain/dex.ts'
import type { CetusPool } from '../../swap/routing/pools/sui/cetus.ts'
import { parseCoinType } from './address-format.ts'
import type { SuiNode, SuiObject } from './node.ts'

/** A pool with the version of its object; the ticks change only with it. Null: paused, or of coins that we do not read. */
export type ReadPool = Readonly<{ version: bigint; pool: CetusPool | null }>

const POOL = /^(0x[0-9a-f]+)::pool::Pool<([^<>]+),([^<>]+)>$/

/** The coins of a pool's type; null for an object of another type. */
function coinsOf({ type }: SuiObject): readonly [string, string] | null {
  const [, , first, second] = POOL.exec(type.replaceAll(' ', '')) ?? []
  const [a, b] = [parseCoinType(first ?? ''), parseCoinType(second ?? '')]
  return a === null || b === null ? null : [a, b]
}

async function readPool(
  node: SuiNode,
  dex: Dex,
  object: SuiObject,
  protocolFeeRate: bigint,
): Promise<CetusPool | 'moved' | null> {
  const tokens = coinsOf(object)
  if (tokens === null) return null
  const parsed = cetusPoolSchema.parse(object.contents)
  if (parsed.isPaused) return null
  const ticks = (await node.listFields(tickTableOf(parsed))).map(readCetusTick)
  const [again] = await node.readObjects([object.id])
  if (again?.version !== object.version) return 'moved'
  return {
    ...{ kind: 'cetus', id: object.id, address: object.id, dex: dex.name, tokens },
    ...{ package: dex.factory, config: dex.config ?? '' },
    ...toCetusState(parsed, ticks, protocolFeeRate),
  }
}

/**
 * The pools of a DEX by id. An unchanged pool is not read again. A pool that moves while its ticks are read keeps its former state until
 * the next call.
 */
export async function readCetusPools(
  node: SuiNode,
  dex: Dex,
  before: ReadonlyMap<string, ReadPool>,
): Promise<ReadonlyMap<string, ReadPool>> {
  const [config, ...objects] = await node.readObjects([dex.config ?? '', ...(dex.pools ?? [])])
  if (!config) throw new Error(`${dex.name} has no settings at ${dex.config}`)
  const protocolFeeRate = BigInt(cetusConfigSchema.parse(config.contents).protocolFeeRate)
  const pools = new Map<string, ReadPool>()
  for (const object of objects) {
    if (!object) continue
    const known = before.get(object.id)
    if (known?.version === object.version) {
      pools.set(object.id, known)
      continue
    }
    const pool = await readPool(node, dex, object, protocolFeeRate)
    if (pool !== 'moved') pools.set(object.id, { version: object.version, pool })
    else if (known !== undefined) pools.set(object.id, known)
  }
  return pools
}
