import { expect, test } from 'vitest'
import { noPoolPauses } from '../../swap/domain/pool-pauses.ts'
import type { UniswapV3Pool } from '../../swap/routing/pools/uniswap-v3.ts'
import type { ListedTokens } from '../pools/rank.ts'
import { createDroppedPools } from './dropped-pools.ts'
import { createPoolSet } from './pool-set.ts'
import type { SyncContext } from './sync-context.ts'
import { dropExcessPools } from './token-lookup.ts'
import type { TrackedPool } from './tracked-pool.ts'

const ETHER = 10n ** 18n
const [WETH, USDC] = ['0xee', '0xdc']
const connectors = new Set([WETH, USDC])
const listing: ListedTokens = { wrapped: WETH, connectors, listed: connectors }

/** A pool at a price of one with so many ticks on each side of it. */
function poolWith(id: string, liquidity: bigint, ticksPerSide: number): TrackedPool {
  const places = Array.from({ length: ticksPerSide }, (_, n) => n + 1)
  const ticks = [
    ...places.map((n) => ({ index: -n, net: 1n, gross: 1n })).reverse(),
    ...places.map((n) => ({ index: n, net: -1n, gross: 1n })),
  ]
  const pool: UniswapV3Pool = {
    ...{ kind: 'uniswap-v3', id, address: id, dex: 'dex', tokens: [WETH, USDC], feePpm: 100, tickSpacing: 1 },
    ...{ sqrtPrice: 2n ** 96n, tick: 0, liquidity, ticks },
  }
  return { pool, ticks }
}

const ticksOf = (pools: readonly TrackedPool[]) => pools.map(({ pool, ticks }) => [pool.id, ticks?.length])

test('D3: pools with too many ticks lose the farthest of them, no pool its place, and a rollback brings them back', () => {
  const pools = createPoolSet(64)
  const small = Array.from({ length: 8 }, (_, n) => poolWith(`small ${n}`, ETHER, 5))
  const before = poolWith('deep', 100n * ETHER, 10)
  pools.reset({ height: 1, hash: '0x1' }, [before, ...small])
  pools.append({ height: 2, hash: '0x2' }, new Map([['deep', poolWith('deep', 100n * ETHER, 500)]]))
  const dropExcess = () =>
    dropExcessPools({
      ...{
        pools,
        listing,
        pauses: { value: noPoolPauses },
        dropped: createDroppedPools(connectors),
        setup: { value: null },
      },
      settings: { poolsMax: 100, ticksMax: 500 },
    } as unknown as SyncContext)

  dropExcess()
  // Nine tenths of 500 are for pools of listed tokens.
  const shortened = [['deep', 450 - 8 * 10], ...ticksOf(small)]
  expect(ticksOf(pools.all())).toEqual(shortened)
  dropExcess()
  expect(ticksOf(pools.all())).toEqual(shortened)
  expect(pools.undo()).toBe(true)
  expect(pools.get('deep')).toEqual(before)
})
