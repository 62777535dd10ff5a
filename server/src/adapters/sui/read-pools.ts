/* The pools of the DEXes of Sui, with what has changed since they were last read. */
import type { Dex } from '../../swap/domain/dex.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { parseCoinType } from './address-format.ts'
import type { Checkpoint, SuiNode, SuiObject } from './node.ts'

/** The pool of an object. Null: paused, or of coins or settings that we do not read. */
export type PoolReading = Readonly<{
  pool: Pool | null
  /** Milliseconds since 1970, until when an unchanged object means an unchanged pool. */
  validUntilMs: number
  /** Why the operator must act to get the pool back. */
  fault?: string
}>

/** A pool with the version of its object, the epoch and the price of gas: nothing else changes what belongs to the object. */
export type ReadPool = PoolReading & Readonly<{ version: bigint; epoch: number; gasPrice: bigint }>

export type PoolRead = Readonly<{
  node: SuiNode
  dex: Dex
  tip: Checkpoint
  /** MIST per computation unit, that our transactions pay. */
  gasPrice: bigint
}>

export type PoolReader = (read: PoolRead, object: SuiObject) => Promise<PoolReading>

const POOL = /^0x[0-9a-f]+::pool::Pool<([^<>]+)>$/

/** The two coins of a pool's type, and its other type arguments; null for an object of another type. */
export function readTypeArguments({
  type,
}: SuiObject): Readonly<{ tokens: readonly [string, string]; others: readonly string[] }> | null {
  const [first = '', second = '', ...others] = POOL.exec(type.replaceAll(' ', ''))?.[1]?.split(',') ?? []
  const [a, b] = [parseCoinType(first), parseCoinType(second)]
  return a === null || b === null ? null : { tokens: [a, b], others }
}

/**
 * The pools of a DEX by id. An unchanged pool is not read again. A pool that moves while the objects that belong to it are read keeps its
 * former state until the next call.
 */
export async function readPools(
  read: PoolRead,
  reader: PoolReader,
  before: ReadonlyMap<string, ReadPool>,
): Promise<ReadonlyMap<string, ReadPool>> {
  const { node, dex, tip, gasPrice } = read
  const isCurrent = (known: ReadPool, version: bigint) =>
    known.version === version &&
    known.epoch === tip.epoch &&
    known.gasPrice === gasPrice &&
    tip.atMs <= known.validUntilMs
  const pools = new Map<string, ReadPool>()
  for (const object of await node.readObjects(dex.pools ?? [])) {
    if (object === null) continue
    const { id, version } = object
    const known = before.get(id)
    if (known !== undefined && isCurrent(known, version)) {
      pools.set(id, known)
      continue
    }
    const reading = await reader(read, object)
    const [again] = await node.readObjects([id])
    if (again?.version === version) pools.set(id, { ...reading, version, epoch: tip.epoch, gasPrice })
    else if (known !== undefined) pools.set(id, known)
  }
  return pools
}
