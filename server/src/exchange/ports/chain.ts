import type { Asset } from '../../core/domain/asset.ts'
import type { FinalityTag, Network } from '../../core/domain/network.ts'
import type { BlockRef, FeeRate } from '../../core/ports/chain.ts'
import type { SignIntent } from './signer.ts'
import type { Utxo, KeyPath, Payment } from './spend.ts'

/** One network, as the exchange sees it. Implemented once per family in `adapters/`. */
export interface Chain {
  readonly network: Network
  readonly addresses: Addresses
  readonly reader: ChainReader
  readonly sender: ChainSender
}

export type Destination = Readonly<{ address: string; memo: string | null }>

/** Pure: derives and validates by the family's own checksum rules, from public keys alone. */
export interface Addresses {
  /** The canonical form of an address that can be paid, or null. Two spellings of one address give the same text. */
  parse(text: string): string | null
  /** The canonical form of a valid memo, or null. */
  parseMemo(text: string): string | null
  /** The deposit destination of derivation index `index` (≥ 0): the same index gives the same destination for ever. */
  deposit(index: number): Destination
  /** Deposit destinations of these indices are asked for soon: they may be derived ahead, beside what goes on. */
  precompute?(indexes: readonly number[]): void
  /** The hot wallet's address: what pays out, and where the operator brings coins to. */
  hot(): string
  /**
   * By what an address is known on all networks of its family: its key's hash, or its script. Absent: by its text, which
   * networks with the same accounts share.
   */
  holderId?(address: string): string
  /** Where change number `index` goes; account families have none and name the hot wallet. */
  change(index: number): string
}

/** Coins that arrived somewhere, whoever's the address is. The store says which are ours. */
export type Transfer = Readonly<{
  /** Unique on the network for ever: `txid:vout`, the one-time public key (monero), `txHash` (native, top level), `txHash:n` (n-th token event of the
   * transaction: the same wherever it is mined), `txHash:trace:0.1`. */
  identity: string
  txHash: string
  address: string
  memo: string | null
  /** null = the network's own coin; otherwise the token's contract in canonical form, listed or not. */
  contract: string | null
  units: bigint
  /** The address that a refund may go to, where the chain names one safely (EVM top-level sender); null otherwise. */
  sender: string | null
  /** Confirmations before which the chain lets nobody spend it (monero, locked by its sender). Absent: none of its own. */
  lockConfirmations?: number
}>

/** What one block did, in the chain's own terms. */
export type ScannedBlock = BlockRef &
  Readonly<{
    parentHash: string
    /** Seconds since 1970. */
    time: number
    transfers: readonly Transfer[]
    /** Every transaction of the block. `ok` is false where it failed on chain; null where the family can't fail. */
    transactions: readonly { txHash: string; sender: string | null; nonce: number | null; spends: readonly string[] }[]
  }>

/** Reads from every configured node; what moves money is believed only where they agree. */
export interface ChainReader {
  /** The lowest head of the nodes in agreement: what every node has. */
  head(): Promise<BlockRef>
  /** The block at a height of the best chain, or null where there is none yet. Internally consistent: read by hash. */
  block(height: number): Promise<ScannedBlock | null>
  /** Transfers seen unconfirmed since the last call, for early sightings only. Bounded; may be empty for ever. */
  mempool(): Promise<readonly Transfer[]>
  /** Whether every configured node has this block at this height now. */
  agrees(block: BlockRef): Promise<boolean>
  /**
   * A second, independent read before a credit: how many units the address really received by this transfer
   * (receipt status, canonical log, balance difference), the lowest answer of all nodes. 0 = the transaction is in this
   * block on every node and brought the address nothing. Throws NETWORK_UNAVAILABLE where a node does not have the
   * transaction in this very block of its best chain: an orphaned block, a node that lags or an index that is behind are
   * no proof that nothing came.
   */
  receivedUnits(
    transfer: Pick<Transfer, 'identity' | 'txHash' | 'address' | 'contract' | 'units'>,
    block: BlockRef,
  ): Promise<bigint>
  /** The height that the chain's own tag has reached on every node; null where one of them does not offer the tag. */
  tagHeight(tag: FinalityTag): Promise<number | null>
  /** Spendable units of an address (evm) at the head. Bitcoin: the sum of unspent outputs is kept by the store; throws. */
  balance(address: string, asset: Asset): Promise<bigint>
  /** The fee rate that gets a transfer into one of the next blocks. */
  feeRate(): Promise<FeeRate>
  /** The name by which `spends` says that this transfer's coin at a path of ours is spent, where it is not the identity. */
  outpoint?(transfer: Transfer, path: KeyPath): string
}

/** What is to be spent, with everything read before the transaction: building it needs no network. */
export type SpendRequest = Readonly<{
  payments: readonly Payment[]
  from: KeyPath
  fee: FeeRate
  /** bitcoin family: coins that may be spent, oldest first. Empty for account families. */
  utxos: readonly Utxo[]
  /** Index of the next change address (bitcoin family). */
  changeIndex: number
  /** account families: the nonce to use. */
  nonce: number | null
  /** Set for a replacement: conflicts with what it replaces, and pays at least the network's increment more. */
  replaces: { intent: SignIntent; feeUnits: bigint } | null
  /** Gas limit where it was estimated beforehand (evm). */
  gasLimit: bigint | null
  /** Everything that is left after fees (sweeps of the native coin): the single pay's units are then a ceiling. */
  sweepAll: boolean
}>

export type UnsignedTransaction = Readonly<{
  intent: SignIntent
  /** One resource that every replacement uses again: an outpoint (bitcoin), `address:nonce` (evm). */
  conflictKey: string
  /** All resources used; conflictKey is one of them. */
  resources: readonly string[]
  /** The most that the network takes, in units of the network's own coin. */
  feeUnits: bigint
  /** Change that comes back to us: path and units; null where there is none. */
  change: { path: KeyPath; address: string; units: bigint; vout: number } | null
}>

export type BroadcastResult =
  | { kind: 'accepted' }
  | { kind: 'known' }
  | { kind: 'rejected'; reason: string }
  | { kind: 'unknown'; reason: string }

/** What all nodes say of one of our transactions. `dead` is proof at finality on every node that it can never confirm. */
export type Observation =
  | { kind: 'included'; block: BlockRef; ok: boolean; feeUnits: bigint | null }
  | { kind: 'pending' }
  | { kind: 'unseen' }
  | { kind: 'invalidated'; proof: Record<string, string | number> }

/** `unmined`: for so many blocks, and what a person can do about it, in words. */
export type RebroadcastResult = { kind: 'waits' } | { kind: 'offered' } | { kind: 'unmined'; blocks: number; remedy: string }

/** What must come to pass before a transaction of the bitcoin family can confirm: this output is spent by that transaction. */
export type RequiredSpend = Readonly<{ outpoint: string; spentBy: string }>

/** One of our transactions, or somebody's (`conflictKey` null: nothing is proven of it). */
export type WatchedTransaction = Readonly<{
  txHash: string
  conflictKey: string | null
  /** The signed bytes: what they pay tells a rival from a copy of them under another id. */
  raw?: string
  /** bitcoin family: beside what the bytes spend themselves, what the coins that left the chain were made from. */
  ancestorSpends?: readonly RequiredSpend[]
  /** A transaction that a person says took its place: it is looked at first, and believed no more than any other. */
  conflictingTxHash?: string | null
}>

export interface ChainSender {
  /** Payouts share a transaction only where coins are scarce: it would be all that ties them together. */
  readonly prefersSeparatePayouts?: boolean
  /** Gas that the spend takes (evm), by estimation on the node; null for families without gas. Before the transaction. */
  gasLimit(pay: Payment, from: KeyPath): Promise<bigint | null>
  /** The typical cost of one payout of this asset at this fee rate, in units of the network's own coin. Pure. */
  payoutFee(asset: Asset, fee: FeeRate): bigint
  /**
   * Chooses coins, change and fee; throws INSUFFICIENT_LIQUIDITY where the coins do not cover it. Pure, but for a family
   * whose transactions a wallet on this machine builds (monero): that one answers within a second, and relays nothing.
   */
  build(request: SpendRequest): UnsignedTransaction | Promise<UnsignedTransaction>
  /** Offers the bytes to every node. Any doubt is `unknown`. */
  broadcast(raw: string): Promise<BroadcastResult>
  /** Looks a transaction up by its id on every node, and for the proof of its death where no node has it. */
  observe(attempt: WatchedTransaction): Promise<Observation>
  /**
   * Looks after one of our transactions that waits in the pools of nodes, in a family whose nodes may never mine what they
   * have (monero): taken out of a pool by its id, and offered again, the same bytes.
   */
  rebroadcast?(attempt: { txHash: string; raw: string }): Promise<RebroadcastResult>
}

/** A family whose transactions are built from what was read before, without any call. */
export type PureSender = Omit<ChainSender, 'build'> & { build(request: SpendRequest): UnsignedTransaction }
export type PureChain = Omit<Chain, 'sender'> & { readonly sender: PureSender }
