import pMap from 'p-map'
import type { Dex, DexKind } from '../../swap/domain/dex.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { algebraDex } from './algebra.ts'
import { algebraIntegralDex } from './algebra-integral.ts'
import { balancerStableDex } from './balancer-stable.ts'
import { balancerWeightedDex } from './balancer-weighted.ts'
import { curveDex } from './curve.ts'
import { dynamicFeeV3Dexes } from './dynamic-fee-v3.ts'
import { liquidityBookDex } from './liquidity-book.ts'
import { solidlyDex } from './solidly.ts'
import type { DexReader, PoolIdentity, ReadContext, TrackedPool } from './tracked-pool.ts'
import { uniswapV2Dex } from './uniswap-v2.ts'
import { uniswapV3Dex } from './uniswap-v3.ts'
import { uniswapV4Dex } from './uniswap-v4.ts'

/** The supported kinds of DEX. A new kind needs a file and a line here. */
const readers: Readonly<Partial<Record<DexKind, DexReader>>> = {
  'uniswap-v2': uniswapV2Dex,
  'uniswap-v3': uniswapV3Dex,
  ...dynamicFeeV3Dexes,
  'uniswap-v4': uniswapV4Dex,
  algebra: algebraDex,
  'algebra-integral': algebraIntegralDex,
  solidly: solidlyDex,
  'balancer-weighted': balancerWeightedDex,
  'balancer-stable': balancerStableDex,
  'curve-stable': curveDex,
  'liquidity-book': liquidityBookDex,
}

export const readerOf = (dex: Dex): DexReader | null => readers[dex.kind] ?? null

/** The key of a pool: its id, or for Balancer its address, because some logs contain only the address. */
export const keyOf = (pool: Pool): string =>
  pool.kind === 'balancer-weighted' || pool.kind === 'balancer-stable' ? pool.id.slice(0, 42) : pool.id

/** The identity of a pool, for a full read. */
export function identityOf({ pool }: TrackedPool, dexes: ReadonlyMap<string, Dex>): PoolIdentity | null {
  const dex = dexes.get(pool.dex)
  if (dex === undefined) return null
  const isBalancer = pool.kind === 'balancer-weighted' || pool.kind === 'balancer-stable'
  return {
    id: keyOf(pool),
    address: isBalancer ? keyOf(pool) : pool.address,
    dex,
    tokens: pool.tokens,
    ...(pool.native === true ? { native: true } : {}),
    ...(pool.kind === 'uniswap-v2' || pool.kind === 'uniswap-v3' ? { feePpm: pool.feePpm } : {}),
    ...(pool.kind === 'uniswap-v4' ? { feePpm: pool.lpFeePpm, tickSpacing: pool.tickSpacing } : {}),
  }
}

/** Resolves pools whose creation log has no address or no tokens. */
export async function resolveAll(
  readContext: ReadContext,
  at: string,
  identities: readonly PoolIdentity[],
): Promise<PoolIdentity[]> {
  const resolved: PoolIdentity[] = []
  for (const [dex, pools] of Map.groupBy(identities, ({ dex }) => dex)) {
    const resolve = readerOf(dex)?.resolve
    resolved.push(...(resolve ? await resolve(readContext, at, pools) : pools))
  }
  return resolved
}

/**
 * Reads the base state of the pools with the reader of each DEX, in no particular order. Omits pools of the native currency where that
 * is a token: the executor pays the two in different ways, so that a route through such a pool would revert.
 */
export async function readBases(
  readContext: ReadContext,
  at: string,
  identities: readonly PoolIdentity[],
): Promise<TrackedPool[]> {
  const tradable = identities.filter(({ native }) => !(native === true && readContext.nativeIsToken))
  const byDex = Map.groupBy(tradable, ({ dex }) => dex)
  const bases: TrackedPool[] = []
  for (const [dex, pools] of byDex) {
    const states = (await readerOf(dex)?.readBase(readContext, at, pools)) ?? []
    for (const state of states) if (state !== null) bases.push(state)
  }
  return bases
}

/** Pools whose ticks are read concurrently. */
const AT_ONCE = 8

/** Adds the ticks to the pools, in the same order. Omits pools whose ticks cannot be read. */
export async function readWhole(
  readContext: ReadContext,
  at: string,
  bases: readonly TrackedPool[],
  dexes: ReadonlyMap<string, Dex>,
): Promise<TrackedPool[]> {
  const readOne = (base: TrackedPool): Promise<TrackedPool | null> | TrackedPool => {
    const dex = dexes.get(base.pool.dex)
    const readTicks = dex === undefined ? null : readerOf(dex)?.readTicks
    return readTicks ? readTicks(readContext, at, base) : base
  }
  const pools = await pMap(bases, readOne, { concurrency: AT_ONCE })
  return pools.filter((one) => one !== null)
}
