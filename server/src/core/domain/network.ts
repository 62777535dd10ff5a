export type NetworkId = string
export type Family = 'bitcoin' | 'evm' | 'monero' | 'solana' | 'sui' | 'ripple' | 'stellar' | 'ton' | 'tron'
/** Families with an adapter of the exchange half. Currencies of others are listed as disabled. */
export const exchangeFamilies = ['bitcoin', 'evm', 'monero'] as const satisfies readonly Family[]
/** Families with an adapter of the swap half. */
export const swapFamilies = ['evm', 'solana', 'sui'] as const satisfies readonly Family[]
export type SwapFamily = (typeof swapFamilies)[number]
export type Environment = 'production' | 'sandbox'

/** Address prefixes and version bytes of a Bitcoin-family network (BIP-173, BIP-350, base58check, CashAddr). */
export type BitcoinParameters = Readonly<{
  bech32: string | null
  cashAddr: string | null
  pubKeyHash: number
  /** We format addresses with the first and parse all. */
  scriptHash: readonly number[]
  wif: number
  /** Nodes do not relay outputs below this. */
  dustUnits: bigint
  /** Whether nodes relay replacements by fee (BIP-125). */
  replaceable: boolean
}>

/** Block tags of the EVM JSON-RPC: `safe` (its batch is posted to layer 1) or `finalized` (final). */
export type FinalityTag = 'safe' | 'finalized'

export type EvmParameters = Readonly<{
  chainId: number
  /** If set, blocks above this tag are not final at any depth, so no conflict there proves a transaction invalidated. */
  finalityTag: FinalityTag | null
  /**
   * Whole US dollars above which a deposit also waits for the chain's tag: on layer 2, depth only reflects the
   * sequencer's statement. Absent: never.
   */
  safeAboveUsd?: bigint
  finalizedAboveUsd?: bigint
  /** False for chains without EIP-1559. */
  dynamicFees: boolean
  /**
   * A predeployed contract that represents the native currency but requires each transfer as call value too, so it supports no
   * allowances (Polygon). We treat its address as the native currency. Celo's works as a normal token and is not set here.
   */
  nativeContract?: string
}>

/** A chain with the parameters of one environment applied. */
export type Network = Readonly<{
  id: NetworkId
  name: string
  family: Family
  /** SLIP-44 coin type, for key derivation. */
  coinType: number
  /**
   * Index of the hot wallet on the hot branch of its coin type. Networks that share a coin type use different indexes:
   * one shared address would link the wallets of these networks publicly.
   */
  hotIndex: number
  symbol: string
  decimals: number
  /** Confirmations of a deposit up to $1 000; ×2 up to $50 000, ×4 above. */
  confirmations: number
  /** Depth at which a block is final for us. */
  finalityBlocks: number
  blockTimeMs: number
  memo: 'none' | 'optional' | 'required'
  /** What users of this network call the memo. Absent without memos. */
  memoName?: string
  regexAddress: string
  addressExplorer: string
  txExplorer: string
  /** Hash of the genesis block (Solana), digest of the genesis checkpoint (Sui). Nodes with another one are not used; absent: any. */
  genesis?: string
  /** Suffix of this network's tokens in the rates feed, for example `ERC20`. */
  tokenSuffix: string
  bitcoin?: BitcoinParameters
  evm?: EvmParameters
  /** `unseen`: no replacement by fee; a transaction is rebuilt from the same outputs only when no node has it. Absent: by fee. */
  replaces?: 'unseen'
}>

type PerEnvironment = Pick<
  Network,
  'confirmations' | 'finalityBlocks' | 'regexAddress' | 'addressExplorer' | 'txExplorer'
> &
  Partial<Pick<Network, 'bitcoin' | 'evm' | 'blockTimeMs' | 'genesis'>>

/** A network as its file states it, with the parameters that differ by environment. */
export type NetworkDefinition = Omit<Network, keyof PerEnvironment | 'hotIndex'> &
  Readonly<{ hotIndex?: number; blockTimeMs: number; production: PerEnvironment; sandbox: PerEnvironment }>

export function defineNetwork(definition: NetworkDefinition): NetworkDefinition {
  return definition
}

/** Applies the parameters of one environment. */
export function resolveNetwork(definition: NetworkDefinition, environment: Environment): Network {
  const { production, sandbox, ...common } = definition
  return Object.freeze({ hotIndex: 0, ...common, ...(environment === 'sandbox' ? sandbox : production) })
}

/** UTXO families: payouts spend deposited outputs directly. In account families, deposits are swept to the hot wallet first. */
export function isUtxoFamily(network: Pick<Network, 'family'>): boolean {
  return network.family === 'bitcoin' || network.family === 'monero'
}
