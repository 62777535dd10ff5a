import pMap from 'p-map'
import type { Dex, DexKind } from '../../swap/domain/dex.ts'
import type { Pool } from '../../swap/routing/pool-kinds.ts'
import { algebraDex } from './algebra.ts'
import { algebraIntegralDex } from './algebra-integral.ts'
import { balancerWeightedDex } from './balancer-weighted.ts'
import { balancerStableDex } from './balancer-stable.ts'
import { curveDex } from './curve.ts'
import { liquidityBookDex } from './liquidity-book.ts'
import { dynamicFeeV3Dexes } from './dynamic-fee-v3.ts'
import { solidlyDex } from './solidly.ts'
import type { DexReader, PoolIdentity, ReadContext, TrackedPool } from './tracked-pool.ts'
import { uniswapV2Dex } from './uniswap-v2.ts'
import { uniswapV3Dex } from './uniswap-v3.ts'
import { uniswapV4Dex } from './uniswap-v4.ts'

/** The kinds of DEX that are read. A new one is a file and a line here. */
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

/** Under what a pool is kept: its id, or for Balancer the pool's own address, which some of its logs have alone. */
export const keyOf = (pool: Pool): string =>
  pool.kind === 'balancer-weighted' || pool.kind === 'balancer-stable' ? pool.id.slice(0, 42) : pool.id

/** What its factory said of a pool, for reading it again. */
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

/** Found pools by their addresses. */
export async function resolveAll(readContext: ReadContext, at: string, found: readonly PoolIdentity[]): Promise<PoolIdentity[]> {
  const resolved: PoolIdentity[] = []
  for (const [dex, pools] of Map.groupBy(found, ({ dex }) => dex)) {
    const resolve = readerOf(dex)?.resolve
    resolved.push(...(resolve ? await resolve(readContext, at, pools) : pools))
  }
  return resolved
}

/** Found pools by DEX, each read by its kind; in no order. */
export async function readBases(readContext: ReadContext, at: string, found: readonly PoolIdentity[]): Promise<TrackedPool[]> {
  const byDex = Map.groupBy(found, ({ dex }) => dex)
  const read: TrackedPool[] = []
  for (const [dex, pools] of byDex) {
    const states = (await readerOf(dex)?.readBase(readContext, at, pools)) ?? []
    for (const state of states) if (state !== null) read.push(state)
  }
  return read
}

/** Pools whose ticks are read at once. */
const AT_ONCE = 8

/** The same pools with all that is needed to trade, in this order; without those whose ticks the chain does not tell. */
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
  const read = await pMap(bases, readOne, { concurrency: AT_ONCE })
  return read.filter((one) => one !== null)
}
