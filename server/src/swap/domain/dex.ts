/** Interface of a DEX's factory and pools. The pools' maths is that of the kinds in `swap/routing/pool-kinds.ts`. */
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
  | SolanaDexKind
  | SuiDexKind

/** Programs of Solana. */
export type SolanaDexKind =
  | 'raydium-cpmm'
  | 'raydium-clmm'
  | 'raydium-amm-v4'
  | 'meteora-dlmm'
  | 'meteora-damm-v2'
  | 'pump-swap'

/** Packages of Sui. */
export type SuiDexKind = 'cetus' | 'deepbook' | 'turbos'

/**
 * Forks of Uniswap V3 with a dynamic fee. They differ in the key of a pool within its pair.
 * `slipstream` (Velodrome, Aerodrome): keyed by tick spacing; a module sets a fee that depends on time.
 * `ramses-v2` (Ramses, Nile): keyed by the initial fee; beacon proxies.
 * `ramses-v3` (Shadow, Pharaoh): keyed by tick spacing; a Mint event of its own.
 * `solidly-v3`: keyed by tick spacing; the fee is stored beside the price.
 */
export type ForkedV3 = 'slipstream' | 'ramses-v2' | 'ramses-v3' | 'solidly-v3'

/**
 * The contracts of a Solidly fork. They differ in the factory's events and getters, in the source of the fee, and in the
 * iteration of stable pools (`newton` in docs/pool-maths.md: `v2` for velodrome-v2, `v1` for the others).
 * `solidly`: PairCreated, getPair; a constant fee, `feePpm`.
 * `velodrome-v1` (Thena, Lynex): as `solidly`, but getFee(stable) in ten-thousandths.
 * `velodrome-v2` (Aerodrome): PoolCreated, getPool, getFee(pool, stable) in ten-thousandths, SetCustomFee.
 * `equalizer`: as velodrome-v1, but getRealFee(pool), of 10^18.
 * `ramses`: as velodrome-v1, but pairFee(pool), or getFee(stable) if that is zero.
 * `blackhole`: as velodrome-v1, but getFee(pool, stable).
 */
export type SolidlyFork = 'solidly' | 'velodrome-v1' | 'velodrome-v2' | 'equalizer' | 'ramses' | 'blackhole'

/** One DEX of a network, from a file of `server/dexes` or the sandbox's chains.json. EVM addresses in any case. */
export type Dex = Readonly<{
  /** Unique in its network, for example `sushiswap-v2`. */
  name: string
  kind: DexKind
  /** The pool manager for Uniswap V4; the program on Solana; the package on Sui. */
  factory: string
  /** Fee in millionths of the input, if all pools share one. */
  feePpm?: number
  /** Init code hash of the pools' CREATE2 addresses. The creator is `deployer`, or else the factory. */
  initCodeHash?: string
  deployer?: string
  /** For kind `solidly`; default `solidly`. */
  fork?: SolidlyFork
  /** Balancer's vault. */
  vault?: string
  /** Rounding of a Balancer stable factory's pools: `up` for 2021, `down` since 2022 (docs/pool-maths.md). */
  rounding?: 'up' | 'down'
  /**
   * For Curve factories before StableSwap-NG: the implementations that track their own balances and hold only plain tokens.
   * Other pools (rebasing tokens, oracle rates, native currency) are not read. Absent: a StableSwap-NG factory.
   */
  implementations?: readonly string[]
  /** Of Sui: the shared object with the settings of the DEX. */
  config?: string
  /** Of DeepBook: the coin type of DEEP. */
  feeCoin?: string
  /** The pools that are read: all of a DEX of Sui; of Curve's registry without a factory plain ones that were reviewed individually. */
  pools?: readonly string[]
  /**
   * For a StableSwap-NG factory: pools with oracle or ERC-4626 rates whose rate sources were reviewed individually. They are
   * read every block, so the list is short. Other pools with rates are not read, because a pool's creator chooses its oracle.
   */
  rated?: readonly string[]
  /** Block of the factory. Without it pools are looked up by token pair instead of in the event history. */
  deployedAt?: number
  /** False: listed but not used. Default true. */
  enabled?: boolean
  note?: string
}>

/** The DEXes of a network. A network without a definition has no swaps. */
export type DexNetwork = Readonly<{
  network: string
  /** The wrapped native token, which represents native currency in pools. */
  wrapped: string
  /** Celo: the native currency is that token. */
  nativeIsToken?: boolean
  /** Connector tokens, through which other tokens are traded; `wrapped` is always one. */
  connectors: readonly string[]
  /** A US dollar stablecoin, which values liquidity in dollars. */
  stablecoin?: string
  multicall3?: string
  /** Solana: tables of the accounts of its pools, for transactions that are too large without. */
  lookupTables?: readonly string[]
  dexes: readonly Dex[]
}>
