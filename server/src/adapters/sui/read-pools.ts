/* What readers of pools have in common. */
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

/** What a reader asks of a node, or of what was read of one. */
export type PoolNode = Pick<SuiNode, 'readObjects' | 'listFields' | 'callFunction'>

export type PoolRead = Readonly<{
  node: PoolNode
  dex: Dex
  tip: Checkpoint
  /** MIST per computation unit, that our transactions pay. */
  gasPrice: bigint
}>

/** Computes the pool from objects alone: of the same objects the same pool, until the epoch or the price of gas changes. */
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

/** Parses the contents of an object once: most fields of a changed pool are those from before. */
export function parseOnce<T>(parse: (contents: Uint8Array) => T): (object: Pick<SuiObject, 'contents'>) => T {
  const parsed = new WeakMap<Uint8Array, Readonly<{ value: T }>>()
  return ({ contents }) => {
    const known = parsed.get(contents) ?? { value: parse(contents) }
    parsed.set(contents, known)
    return known.value
  }
}
