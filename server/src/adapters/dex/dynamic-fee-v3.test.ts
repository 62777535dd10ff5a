import { encodeAbiParameters, encodeEventTopics, type Hex, parseAbi, parseAbiParameters } from 'viem'
import { describe, expect, test } from 'vitest'
import type { UniswapV3Pool } from '../../swap/routing/pools/uniswap-v3.ts'
import { dynamicFeeV3Dexes } from './dynamic-fee-v3.ts'
import type { DexLog } from './logs.ts'
import type { TrackedPool } from './tracked-pool.ts'

/* The Mint events of Ramses' and Shadow's pools, encoded by viem. */

const ADDRESS = `0x${'11'.repeat(20)}` as const
const OWNER = `0x${'22'.repeat(20)}` as const
const standard = parseAbi([
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

describe('Mint events of forks of Uniswap V3', () => {
  test.each(['ramses-v2', 'ramses-v3'] as const)('both forms of Mint give the same pool: %s', (kind) => {
    const { apply, topics } = dynamicFeeV3Dexes[kind]
    const amounts = [1_234n, 7n, 8n] as const
    const byStandard = logOf(
      encodeEventTopics({ abi: standard, eventName: 'Mint', args }),
      encodeAbiParameters(parseAbiParameters('address, uint128, uint256, uint256'), [OWNER, ...amounts]),
    )
    const byNumbered = logOf(
      encodeEventTopics({ abi: numbered, eventName: 'Mint', args }),
      encodeAbiParameters(parseAbiParameters('address, uint256, uint128, uint256, uint256'), [OWNER, 99n, ...amounts]),
    )
    const after = apply(tracked, byNumbered)
    expect(after).toEqual(apply(tracked, byStandard))
    expect(after).toMatchObject({
      pool: { liquidity: 1_239n },
      ticks: [
        { index: -120, gross: 1_234n, net: 1_234n },
        { index: 60, gross: 1_234n, net: -1_234n },
      ],
    })
    for (const { topics: eventTopics } of [byStandard, byNumbered]) expect(topics).toContain(eventTopics[0])
  })

  test('trigger a full read of a pool without a trial', () => {
    const log = logOf(encodeEventTopics({ abi: standard, eventName: 'Mint', args }), '0x')
    expect(dynamicFeeV3Dexes.slipstream.apply({ ...tracked, idle: true }, log)).toBe('reread')
  })
})
