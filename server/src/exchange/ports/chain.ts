import type { Asset } from '../../core/domain/asset.ts'
import type { FinalityTag, Network } from '../../core/domain/network.ts'
import type { BlockRef, FeeRate } from '../../core/ports/chain.ts'
import type { SignIntent } from './signer.ts'
import type { KeyPath, Payment, RecordedUtxo, Utxo } from './spend.ts'

/** One network as the exchange uses it. Each chain family implements it once, in `adapters/chains/`. */
export interface Chain {
  readonly network: Network
  readonly addresses: Addresses
  readonly reader: ChainReader
  readonly sender: ChainSender
}

export type Destination = Readonly<{ address: string; memo: string | null }>

/** Derives and validates addresses from public keys alone, by the checksum rules of the family. Pure. */
export interface Addresses {
  /** Canonical form of an address that can be paid, or null. All encodings of one address give the same text. */
  parse(text: string): string | null
  /** Canonical form of a valid memo, or null. */
  parseMemo(text: string): string | null
  /** Deposit destination of derivation index `index` (≥ 0). The destination of an index never changes. */
  deposit(index: number): Destination
  /** Derives the deposit destinations of these indexes in the background, before they are requested. */
  precompute?(indexes: readonly number[]): void
  /** Address of the hot wallet: it pays out, and the operator funds it. */
  hot(): string
  /**
   * Identifies the owner of an address on all networks of the family, by key hash or script. Absent where the address text
   * does that, because the networks share their accounts.
   */
  holderId?(address: string): string
  /** Change address `index`. Account families have no change and return the hot wallet. */
  change(index: number): string
}

type NetworkAddress = Readonly<{ network: string; address: string }>

/** Whether two addresses are visibly of one holder: the same account, key or script, also on different networks. */
export function isSameHolder(
  chains: ReadonlyMap<string, Pick<Chain, 'addresses'>>,
  a: NetworkAddress,
  b: NetworkAddress,
): boolean {
  const holderOf = ({ network, address }: NetworkAddress) =>
    chains.get(network)?.addresses.holderId?.(address) ?? address
  return holderOf(a) === holderOf(b)
}

/** A transfer to any address. The store decides which addresses are ours. */
export type Transfer = Readonly<{
  /**
   * Unique on the network for ever: `txid:vout` (bitcoin), the one-time public key (monero), and on EVM chains `txHash`
   * (native, top level), `txHash:contract:n` (n-th event of the token in the transaction, whichever block mines it) or
   * `txHash:trace:0.1`.
   */
  identity: string
  txHash: string
  address: string
  memo: string | null
  /** Token contract in canonical form, listed or not; null = the native asset. */
  contract: string | null
  units: bigint
  /** Address that a refund may go to; null unless the chain names the sender reliably (EVM, top level). */
  sender: string | null
  /** Confirmations until the output can be spent, where the sender locked it (monero). */
  lockConfirmations?: number
}>

/** What a node says about an unconfirmed payment. */
export type PendingPayment = Readonly<{
  /** It does not signal replacement, has no unconfirmed parents, and pays at least the estimate for about three blocks. */
  stopsClock: boolean
  /** Outpoints that it spends. A transaction that replaces it spends one of them. */
  spends: readonly string[]
  /** When the node first saw it; of several nodes the latest time; null = unknown. Earlier than our sighting after an outage of ours. */
  seenAt: Date | null
}>

/** Transfers and transactions of one block. */
export type ScannedBlock = BlockRef &
  Readonly<{
    parentHash: string
    /** Seconds since 1970. */
    time: number
    transfers: readonly Transfer[]
    /** All transactions of the block, with the resources that each one spends. */
    transactions: readonly { txHash: string; sender: string | null; nonce: number | null; spends: readonly string[] }[]
  }>

/** Reads from all configured nodes. Reads that move money need all of them to agree. */
export interface ChainReader {
  /** Highest block that all nodes have in common. */
  head(): Promise<BlockRef>
  /** Block of the best chain at a height, or null above the head. Read by hash, so its parts belong together. */
  block(height: number): Promise<ScannedBlock | null>
  /**
   * The block at a height as each configured node reports it. Throws if a node does not answer, has no such block, or has
   * another one.
   */
  blockOfEachNode(height: number): Promise<readonly ScannedBlock[]>
  /** Unconfirmed transfers since the last call, for sightings only. Bounded; empty where nodes offer no mempool. */
  mempool(): Promise<readonly Transfer[]>
  /**
   * Reads an unconfirmed payment, to decide whether it stops the clock of a fixed rate; null = not in the mempool. Absent
   * where every unconfirmed payment can be replaced (evm): there only its block counts.
   */
  inspectPending?(txHash: string): Promise<PendingPayment | null>
  /** Whether all configured nodes have this block at this height now. */
  agrees(block: BlockRef): Promise<boolean>
  /**
   * Units that the address received by this transfer: a second, independent read before a credit (receipt status, canonical
   * log, balance difference). Returns the lowest answer of all nodes; 0 = all nodes have the transaction in this block, and
   * the address received nothing. Throws NETWORK_UNAVAILABLE if a node does not have the transaction in this block of its
   * best chain, because an orphaned block or a lagging node proves nothing. Where a node has no state of the block, a token
   * transfer counts up to what the address holds now beyond `readHeldUnits`, the units of its other deposits.
   */
  receivedUnits(
    transfer: Pick<Transfer, 'identity' | 'txHash' | 'address' | 'contract' | 'units'>,
    block: BlockRef,
    readHeldUnits?: () => Promise<bigint>,
  ): Promise<bigint>
  /** Height of the chain's finality tag on all nodes (the lowest); null if a node does not offer the tag. */
  tagHeight(tag: FinalityTag): Promise<number | null>
  /** Balance of an address at the head (evm). Throws in the bitcoin family, where the store adds up unspent outputs. */
  balance(address: string, asset: Asset): Promise<bigint>
  /** Number of mined transactions that the address signed, by the node that has the fewest or the most. Absent in UTXO families. */
  minedNonce?(address: string, of?: 'fewest' | 'most'): Promise<number>
  /** Fee rate that gets a transfer into one of the next blocks. */
  feeRate(): Promise<FeeRate>
  /**
   * The most that a node would evict for a replacement of these attempts of one transaction: the fees of the one in its
   * mempool and of all that depend on it there. 0 = none is in a mempool. Absent where nodes compare fee rates only.
   */
  evictedFees?(txHashes: readonly string[]): Promise<bigint>
  /**
   * The outpoints of these outputs that some node does not have unspent, with these units, on its best chain. Independent of
   * the scan and its table. Absent in account families.
   */
  findMissingUtxos?(utxos: readonly RecordedUtxo[]): Promise<readonly string[]>
  /** Resource in `spends` when the output of this transfer is spent; absent where it is the transfer's identity. */
  outpoint?(transfer: Transfer, path: KeyPath): string
}

/** A spend with all inputs that building needs, so building calls no network. */
export type SpendRequest = Readonly<{
  payments: readonly Payment[]
  from: KeyPath
  fee: FeeRate
  /** Outputs that may be spent, largest first. Empty for account families. */
  utxos: readonly Utxo[]
  /** Index of the next change address (bitcoin family). */
  changeIndex: number
  /** Nonce to use (account families). */
  nonce: number | null
  /**
   * Set for a replacement, which conflicts with this intent and pays at least the network's fee increment more.
   * `evictedUnits`: what the replaced transaction and all that depend on it pay (bitcoin family).
   */
  replaces: { intent: SignIntent; feeUnits: bigint; evictedUnits?: bigint } | null
  /** Estimated gas limit (evm). */
  gasLimit: bigint | null
  /** Builds a cancel of the replaced transaction, which pays nothing (evm). */
  cancels?: boolean
  /** Pays everything that is left after fees; the units of the single payment are then the maximum. */
  sweepAll: boolean
}>

export type UnsignedTransaction = Readonly<{
  intent: SignIntent
  /** The resource that every replacement spends again: outpoint (bitcoin), `address:nonce` (evm), key image (monero). */
  conflictKey: string
  /** All resources that the transaction spends; conflictKey is one of them. */
  resources: readonly string[]
  /** Maximum network fee, in units of the native asset. */
  feeUnits: bigint
  /** Change output to us, or null. */
  change: { path: KeyPath; address: string; units: bigint; vout: number } | null
}>

/** `known`: a node had the transaction already. `unknown`: no node gave an answer that decides. */
export type BroadcastResult =
  | { kind: 'accepted' }
  | { kind: 'known' }
  | { kind: 'rejected'; reason: string }
  | { kind: 'unknown'; reason: string }

/**
 * State of a transaction on all nodes. `invalidated`: a conflicting transaction is final on every node (conflict proof).
 * `isDisputed`: every node has it in the same block, and they disagree about its result or its fee.
 */
export type Observation =
  | { kind: 'included'; block: BlockRef; ok: boolean; feeUnits: bigint | null }
  | { kind: 'pending'; isDisputed?: true }
  | { kind: 'unseen' }
  | { kind: 'invalidated'; proof: Record<string, string | number> }

/** `unmined`: in a pool for that many blocks; `remedy` is the command for the operator of the node. */
export type RebroadcastResult =
  | { kind: 'waiting' }
  | { kind: 'rebroadcast' }
  | { kind: 'unmined'; blocks: number; remedy: string }

/** A spend that must happen before a transaction of the bitcoin family can confirm. */
export type RequiredSpend = Readonly<{ outpoint: string; spentBy: string }>

/** A transaction to observe. Without a `conflictKey` it can be found, but not proved invalid. */
export type WatchedTransaction = Readonly<{
  txHash: string
  conflictKey: string | null
  /** Signed bytes. Their outputs tell a conflicting transaction from a copy of ours with another id. */
  raw?: string
  /** Spends of the transactions that funded our missing inputs, and of their ancestors (bitcoin family). */
  ancestorSpends?: readonly RequiredSpend[]
  /** Conflicting transaction that the operator named. It is checked first, and needs the same proof as any other. */
  conflictingTxHash?: string | null
}>

export interface ChainSender {
  /** Building takes seconds, because a wallet process does it (monero): it runs outside of every database transaction. */
  readonly buildsSlowly?: boolean
  /** Payouts share a transaction only where outputs are scarce, because sharing would link them (monero). */
  readonly prefersSeparatePayouts?: boolean
  /** Gas limit by estimation on the node (evm); null for families without gas. Not for use inside a database transaction. */
  gasLimit(pay: Payment, from: KeyPath): Promise<bigint | null>
  /** Typical network fee of one payout of this asset, in units of the native asset. Pure. */
  payoutFee(asset: Asset, fee: FeeRate): bigint
  /**
   * Gas that a native payment to this address uses beyond a plain one, because its contract executes code; 0 without code.
   * Absent where recipients have none.
   */
  extraGas?(address: string): Promise<bigint>
  /**
   * Expected cost of a deposit before it can pay out, in units of the native asset: its sweep and the supply of its gas
   * (account families), or one more input. Absent: nothing. Pure.
   */
  depositFee?(asset: Asset, fee: FeeRate): bigint
  /**
   * Chooses inputs, change and fee; throws INSUFFICIENT_LIQUIDITY if the outputs do not cover them. Pure, except for
   * monero: a local wallet builds the transaction within a second and relays nothing.
   */
  build(request: SpendRequest): UnsignedTransaction | Promise<UnsignedTransaction>
  /**
   * The reason why no block can ever include the bytes: their scripts fail on every node that checks them. Null if a node
   * would accept them, refuses them for another reason, or none can check. Absent where nodes offer no check.
   */
  findScriptFailure?(raw: string): Promise<string | null>
  /** Sends the bytes to all nodes. Any doubt about the result is `unknown` (I-15). */
  broadcast(raw: string): Promise<BroadcastResult>
  /** Looks up a transaction by its id on all nodes and, if no node has it, searches a conflict proof. */
  observe(attempt: WatchedTransaction): Promise<Observation>
  /**
   * Flushes the transaction from a pool whose node no longer considers it for blocks, and sends the same bytes again
   * (monero). Absent where nodes keep considering what they have.
   */
  rebroadcast?(attempt: { txHash: string; raw: string }): Promise<RebroadcastResult>
}

/** A sender that builds transactions without any call. */
export type PureSender = Omit<ChainSender, 'build'> & { build(request: SpendRequest): UnsignedTransaction }
export type PureChain = Omit<Chain, 'sender'> & { readonly sender: PureSender }
