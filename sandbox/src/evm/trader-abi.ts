import { parseAbi } from 'viem'
import type { MarketPool } from '../market/snapshot.ts'

/** ABI of `sandbox/contracts/PoolTrader.sol`. */
export const traderAbi = parseAbi([
  'struct Pool { uint8 kind; address at; address token0; address token1; uint24 fee; int24 spacing; }',
  'function call(address to, uint256 value, bytes payload)',
  'function add(Pool pool, int24 lower, int24 upper, uint128 liquidity)',
  'function move(Pool[] pools, uint160[] sqrtPrices)',
  'function sqrtPriceOf(Pool pool) view returns (uint160)',
])

const kindCodes: Readonly<Record<MarketPool['kind'], number>> = {
  'uniswap-v2': 2,
  'uniswap-v3': 3,
  'uniswap-v4': 4,
  algebra: 5,
  // The trader does not move weighted pools.
  'balancer-weighted': 0,
}

/** Converts a pool to the contract's `Pool` struct. */
export const toTraderPool = ({ kind, address: at, tokens: [token0, token1], feePpm: fee, spacing }: MarketPool) => ({
  kind: kindCodes[kind],
  at,
  token0,
  token1,
  fee,
  spacing,
})
