/** How a DEX's factory and pools are spoken to; the pools' maths are those of the kinds in `domain/swap/kinds.ts`. */
export type DexKind =
  | 'uniswap-v2'
  | 'uniswap-v3'
  | ForkedV3
  | 'uniswap-v4'
  | 'algebra'
  | 'algebra-integral'
  | 'solidly'
  | 'curve-stable'
  | 'balancer-weighted'
  | 'balancer-stable'
  | 'liquidity-book'

/**
 * Forks of Uniswap V3 whose fee moves (adapters/evm/dex/moving-v3.ts).
 * `slipstream` (Velodrome, Aerodrome): told apart by tick spacing, its fee by a module that follows time.
 * `ramses-v2` (Ramses, Nile): told apart by the fee that they were made with, beacon proxies.
 * `ramses-v3` (Shadow, Pharaoh): told apart by tick spacing, with a Mint of its own.
 * `solidly-v3`: told apart by tick spacing, its fee beside the price.
 */
export type ForkedV3 = 'slipstream' | 'ramses-v2' | 'ramses-v3' | 'solidly-v3'

/**
 * Whose contracts a fork of Solidly has. They differ in how the factory names its pools, in whom to ask for a fee, and in the
 * iteration of stable pools (`newton` in docs/pool-maths.md: `v2` for velodrome-v2, `v1` for the others).
 * `solidly`: PairCreated, getPair; the fee is in the code, `feePpm`.
 * `velodrome-v1` (Thena, Lynex): as that, but getFee(stable) in ten-thousandths.
 * `velodrome-v2` (Aerodrome): PoolCreated, getPool, getFee(pool, stable) in ten-thousandths, SetCustomFee.
 * `equalizer`: as velodrome-v1, but getRealFee(pool), of 10^18.
 * `ramses`: as velodrome-v1, but pairFee(pool), and getFee(stable) where that is zero.
 * `blackhole`: as velodrome-v1, but getFee(pool, stable).
 */
export type SolidlyFork = 'solidly' | 'velodrome-v1' | 'velodrome-v2' | 'equalizer' | 'ramses' | 'blackhole'

/** One DEX of a network, as the files of `server/dexes` and the sandbox's chains.json state it. Addresses in any case. */
export type Dex = Readonly<{
  /** Unique in its network: `sushiswap-v2`. */
  name: string
  kind: DexKind
  /** For Uniswap V4 the pool manager. */
  factory: string
  /** Fee of every pool, millionths of the input, where the kind has one for all. */
  feePpm?: number
  /** Hash by which CREATE2 makes the pools' addresses, made by `deployer` or else the factory. */
  initCodeHash?: string
  deployer?: string
  /** Of kind `solidly`; absent means the first. */
  fork?: SolidlyFork
  /** Balancer's vault. */
  vault?: string
  /** Which way the pools of a Balancer stable factory round: `up` those of 2021, `down` since 2022 (docs/pool-maths.md). */
  rounding?: 'up' | 'down'
  /**
   * Curve's factories of before StableSwap-NG: the implementations whose pools keep their balances themselves and hold plain tokens
   * alone. Others (coins that rebase, rates of oracles, the native coin) are not read. Absent: a factory of StableSwap-NG.
   */
  implementations?: readonly string[]
  /** Curve's registry of the pools that no factory made: those that are read, plain ones that were looked at one by one. */
  pools?: readonly string[]
  /**
   * Of a factory of StableSwap-NG: pools with coins whose rates oracles or ERC-4626 tell, whose sources of rates were looked at one
   * by one. Read every block, so they are few. Others are not read: whoever makes a pool makes its oracle.
   */
  rated?: readonly string[]
  /** Block of the factory. Unknown: pools are looked up by pairs instead of in history. */
  deployedAt?: number
  /** False: listed alone. Absent means true. */
  enabled?: boolean
  note?: string
}>

/** What a network trades on. A network without it has no DeFi here. */
export type DexNetwork = Readonly<{
  network: string
  /** The token that stands for the coin in pools. */
  wrapped: string
  /** Celo: the coin is that token. */
  nativeIsToken?: boolean
  /** Tokens through which others are traded; `wrapped` counts as one. */
  connectors: readonly string[]
  /** A token worth a US dollar, for telling liquidity in dollars. */
  stablecoin?: string
  multicall3?: string
  dexes: readonly Dex[]
}>

export function defineDexes(definition: DexNetwork): DexNetwork {
  return definition
}
