/** How a DEX's factory and pools are spoken to; the pools' maths are those of the kinds in `domain/swap/kinds.ts`. */
export type DexKind =
  | 'uniswap-v2'
  | 'uniswap-v3'
  | 'uniswap-v4'
  | 'algebra'
  | 'solidly'
  | 'curve-stable'
  | 'balancer-weighted'
  | 'balancer-stable'
  | 'liquidity-book'

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
  /** Balancer's vault. */
  vault?: string
  /** Which way the pools of a Balancer stable factory round: `up` those of 2021, `down` since 2022 (docs/pool-maths.md). */
  rounding?: 'up' | 'down'
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
  coinIsToken?: boolean
  /** Tokens through which others are traded; `wrapped` counts as one. */
  hubs: readonly string[]
  /** A token worth a US dollar, for telling liquidity in dollars. */
  dollar?: string
  multicall3?: string
  dexes: readonly Dex[]
}>

export function defineDexes(definition: DexNetwork): DexNetwork {
  return definition
}
