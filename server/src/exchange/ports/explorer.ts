import type { Asset } from '../../core/domain/asset.ts'
import type { Network } from '../../core/domain/network.ts'

/** Units of a listed asset, or of an unlisted contract, whose decimals are unknown. */
export type AssetAmount = Readonly<{ units: bigint; asset: Asset | null; contract: string | null }>

/** Net transfer of one transaction into or out of one address. */
export type AddressTransfer = Readonly<{
  hash: string
  /** null while unconfirmed. */
  height: bigint | null
  direction: 'in' | 'out'
  /** Sender or recipient; null where the chain does not name one. */
  counterparty: string | null
  amount: AssetAmount
}>

export type AddressFacts = Readonly<{
  /** Canonical form. */
  address: string
  balances: readonly AssetAmount[]
  /** Newest first, at most one page. null = the node did not answer in time. */
  transfers: readonly AddressTransfer[] | null
  /** Number of latest blocks that were searched for `transfers`; null = all. */
  blocks: number | null
  /** `transfers` has only the transactions that last changed each coin of the address (sui). */
  byCoins?: true
  /** Number of transactions that the address has sent (account families). */
  sentCount: bigint | null
  /** Only the owner can see balances and transfers (monero). */
  hidden?: true
}>

export type BlockPosition = Readonly<{
  height: bigint
  hash: string
  at: Date
  confirmations: bigint
  /** solana: decides what is final, in place of confirmations. */
  commitment?: 'confirmed' | 'finalized'
}>

/** One instruction (solana) or command (sui) of a transaction. */
export type TransactionStep = Readonly<{
  name: string
  /** Address of its program or package; null for commands without one. */
  program: string | null
  /** Accounts that it names. */
  accounts: readonly string[]
  text: string
}>

export type TransactionFacts = Readonly<{
  hash: string
  /** `dropped`: the node still has it, but it is in no block and in no mempool. */
  status: 'waiting' | 'confirmed' | 'failed' | 'dropped'
  block: BlockPosition | null
  fee: AssetAmount | null
  /** Account families only. */
  call: Readonly<{ from: string; to: string | null; created: string | null; value: AssetAmount; nonce: bigint }> | null
  transfers: readonly Readonly<{ from: string; to: string; amount: AssetAmount }>[]
  /** Output families only. `spends` is null in a coinbase transaction. */
  inputs: readonly Readonly<{
    spends: { hash: string; index: number } | null
    address: string | null
    amount: AssetAmount | null
  }>[]
  outputs: readonly Readonly<{ address: string | null; kind: string; amount: AssetAmount }>[]
  /** The visible parts of a monero transaction. Only coinbase outputs show an amount. */
  hidden?: Readonly<{
    inputs: readonly Readonly<{ keyImage: string; ring: number }>[]
    outputs: readonly Readonly<{ key: string; amount: AssetAmount | null }>[]
    /** Block height or time until which the outputs cannot be spent. */
    lockedUntil: bigint | Date | null
  }>
  /** Families whose transactions call several programs (solana, sui). */
  program?: ProgramFacts
}>

export type ProgramFacts = Readonly<{
  /** The first one pays the fee, unless `payer` does. */
  signers: readonly string[]
  payer: string | null
  /** The node's error of a failed transaction. */
  failure: string | null
  changes: readonly Readonly<{ address: string; direction: 'in' | 'out'; amount: AssetAmount }>[]
  steps: readonly TransactionStep[]
}>

export type HeadFacts = Readonly<{ height: bigint; hash: string; at: Date }>

/** Serves the explorer pages of the sandbox. Code that moves money never reads from here. */
export interface ChainExplorer {
  readonly network: Network
  head(): Promise<HeadFacts>
  /** null if the text is not an address of this network. */
  address(text: string): Promise<AddressFacts | null>
  /** null if the node does not have the transaction. */
  transaction(hash: string): Promise<TransactionFacts | null>
  close(): Promise<void>
}
