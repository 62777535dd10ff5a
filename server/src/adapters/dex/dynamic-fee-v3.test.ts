import { encodeAbiParameters, encodeEventTopics, type Hex, parseAbi, parseAbiParameters } from 'viem'
import { describe, expect, test } from 'vitest'
import type { UniswapV3Pool } from '../../swap/routing/pools/uniswap-v3.ts'
import type { DexLog } from './logs.ts'
import { dynamicFeeV3Dexes } from './dynamic-fee-v3.ts'
import type { TrackedPool } from './tracked-pool.ts'

/* What Ramses' and Shadow's pools write of new liquidity, as another library encodes it. */

const ADDRESS = `0x${'11'.repeat(20)}` as const
const OWNER = `0x${'22'.repeat(20)}` as const
const usual = parseAbi([
  'event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)',
])
const numbered = parseAbi([
  'event Mint(address sender, address indexed owner, uint256 index, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)',
])
const args = { owner: OWNER, tickLower: -120, tickUpper: 60 }
const logOf = (topics: readonly unknown[], fields: Hex): DexLog => ({
  ...{ address: ADDRESS, topics: topics as Hex[], fields, blockHash: '0x', height: 1, index: 0 },
})
const pool: UniswapV3Pool = {
  ...{ kind: 'uniswap-v3', id: ADDRESS, address: ADDRESS, dex: 'shadow', tokens: ['0xa', '0xb'] },
  ...{ sqrtPrice: 2n ** 96n, tick: 0, tickSpacing: 60, liquidity: 5n, feePpm: 500 },
  ticks: [],
}
const tracked: TrackedPool = { pool, ticks: [] }

describe('liquidity that comes to a fork of Uniswap V3', () => {
  test.each(['ramses-v2', 'ramses-v3'] as const)('is the same by both forms of Mint, of %s', (kind) => {
    const { apply, topics } = dynamicFeeV3Dexes[kind]
    const amounts = [1_234n, 7n, 8n] as const
    const byUsual = logOf(
      encodeEventTopics({ abi: usual, eventName: 'Mint', args }),
      encodeAbiParameters(parseAbiParameters('address, uint128, uint256, uint256'), [OWNER, ...amounts]),
    )
    const byNumbered = logOf(
      encodeEventTopics({ abi: numbered, eventName: 'Mint', args }),
      encodeAbiParameters(parseAbiParameters('address, uint256, uint128, uint256, uint256'), [OWNER, 99n, ...amounts]),
    )
    const after = apply(tracked, byNumbered)
    expect(after).toEqual(apply(tracked, byUsual))
    expect(after).toMatchObject({
      pool: { liquidity: 1_239n },
      ticks: [
        { index: -120, gross: 1_234n, net: 1_234n },
        { index: 60, gross: 1_234n, net: -1_234n },
      ],
    })
    for (const { topics: written } of [byUsual, byNumbered]) expect(topics).toContain(written[0])
  })

  test('of a pool that was not tried yet has it read', () => {
    const log = logOf(encodeEventTopics({ abi: usual, eventName: 'Mint', args }), '0x')
    expect(dynamicFeeV3Dexes.slipstream.apply({ ...tracked, idle: true }, log)).toBe('reread')
  })
})
