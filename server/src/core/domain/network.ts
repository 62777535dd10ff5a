export type NetworkId = string
export type Family = 'bitcoin' | 'evm' | 'monero' | 'solana' | 'sui' | 'ripple' | 'stellar' | 'ton' | 'tron'
export type Environment = 'production' | 'sandbox'

/** Version bytes and prefixes of a network of the bitcoin family (BIP-173, BIP-350, base58check, CashAddr). */
export type BitcoinParameters = Readonly<{
  bech32: string | null
  cashAddr: string | null
  pubKeyHash: number
  /** The first is what we write; the others are read as well. */
  scriptHash: readonly number[]
  wif: number
  /** Outputs below this are refused by relays. */
  dustUnits: bigint
  /** Whether a replacement by fee is relayed by the network's nodes (BIP-125). */
  replaceable: boolean
}>

/** What the chain itself says of its blocks: `safe` (posted to the first layer) or `finalized` (never taken back). */
export type FinalityTag = 'safe' | 'finalized'

export type EvmParameters = Readonly<{
  chainId: number
  /** Where the chain has it, nothing above its height is final, however deep: no transaction of ours is dead there. */
  finalityTag: FinalityTag | null
  /**
   * Whole US dollars above which a deposit waits for the chain's tag besides its confirmations: on second layers depth
   * is the word of one sequencer. Absent: never.
   */
  safeAboveUsd?: bigint
  finalizedAboveUsd?: bigint
  /** False for chains without EIP-1559. */
  dynamicFees: boolean
  /**
   * A contract that is the coin, and no token: what it moves it wants as a value, too, so that nobody can approve it or pay
   * by it. To us its address is another spelling of the coin. (Celo's coin has a token that works as others do.)
   */
  coinContract?: string
}>

/** One chain that we can reach, with the parameters of one environment in force. */
export type Network = Readonly<{
  id: NetworkId
  name: string
  family: Family
  /** SLIP-44 coin type, for key derivation. */
  coinType: number
  /**
   * The hot wallet's index on the hot branch of its coin type. Networks that share a coin type have one each: with one key
   * for all of them, everybody would see that the wallets are one.
   */
  hotIndex: number
  symbol: string
  decimals: number
  /** Required confirmations of a deposit up to $1 000; ×2 up to $50 000, ×4 above. */
  confirmations: number
  /** Depth after which a block is never looked at again. */
  finalityBlocks: number
  blockTimeMs: number
  memo: 'none' | 'optional' | 'required'
  regexAddress: string
  addressExplorer: string
  txExplorer: string
  /** Where the partners' feed wants a suffix for tokens of this network, for example `ERC20`. */
  tokenSuffix: string
  bitcoin?: BitcoinParameters
  evm?: EvmParameters
  /** `unseen`: nodes keep what they have; only what none has any more is built anew from the same coins. Absent: by fee. */
  replaces?: 'unseen'
}>

type PerEnvironment = Pick<
  Network,
  'confirmations' | 'finalityBlocks' | 'regexAddress' | 'addressExplorer' | 'txExplorer'
> &
  Partial<Pick<Network, 'bitcoin' | 'evm' | 'blockTimeMs'>>

/** A network as its file states it: the same everywhere, but for what differs between environments. */
export type NetworkDefinition = Omit<Network, keyof PerEnvironment | 'hotIndex'> &
  Readonly<{ hotIndex?: number; blockTimeMs: number; production: PerEnvironment; sandbox: PerEnvironment }>

export function defineNetwork(definition: NetworkDefinition): NetworkDefinition {
  return definition
}

/** The network with the parameters of one environment in force. */
export function resolveNetwork(definition: NetworkDefinition, environment: Environment): Network {
  const { production, sandbox, ...same } = definition
  return Object.freeze({ hotIndex: 0, ...same, ...(environment === 'sandbox' ? sandbox : production) })
}

/** Whether deposits are spent where they lie (outputs), or must be swept to the hot wallet first (accounts). */
export function spendsInPlace(network: Pick<Network, 'family'>): boolean {
  return network.family === 'bitcoin' || network.family === 'monero'
}
