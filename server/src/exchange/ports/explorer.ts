import type { Asset } from '../../core/domain/asset.ts'
import type { Network } from '../../core/domain/network.ts'

/** Units of a listed asset, or of a contract that is not listed: then without decimals. */
export type AssetAmount = Readonly<{ units: bigint; asset: Asset | null; contract: string | null }>

/** What one transaction did for one address. */
export type AddressTransfer = Readonly<{
  hash: string
  /** null while it waits for a block. */
  height: bigint | null
  direction: 'in' | 'out'
  /** The other side, where the chain names one. */
  counterparty: string | null
  amount: AssetAmount
}>

export type AddressFacts = Readonly<{
  /** In canonical form. */
  address: string
  balances: readonly AssetAmount[]
  /** Newest first, and no more than a page of them. null = the node could not tell in time. */
  transfers: readonly AddressTransfer[] | null
  /** How many of the latest blocks were looked at for `movements`; null = all. */
  blocks: number | null
  /** How many transactions it has sent (account families). */
  sentCount: bigint | null
  /** The chain tells nobody but the owner what it holds, and what came (monero). */
  hidden?: true
}>

export type BlockPosition = Readonly<{ height: bigint; hash: string; at: Date; confirmations: bigint }>

export type TransactionFacts = Readonly<{
  hash: string
  /** `dropped`: the node still knows it, but it is in no block and waits for none. */
  status: 'waiting' | 'confirmed' | 'failed' | 'dropped'
  block: BlockPosition | null
  fee: AssetAmount | null
  /** Account families. */
  call: Readonly<{ from: string; to: string | null; created: string | null; value: AssetAmount; nonce: bigint }> | null
  transfers: readonly Readonly<{ from: string; to: string; amount: AssetAmount }>[]
  /** Output families. `spends` is null for new coins of a block. */
  inputs: readonly Readonly<{
    spends: { hash: string; index: number } | null
    address: string | null
    amount: AssetAmount | null
  }>[]
  outputs: readonly Readonly<{ address: string | null; kind: string; amount: AssetAmount }>[]
  /** All that a chain shows which hides who paid whom, and how much (monero): of new coins, their amount. */
  hidden?: Readonly<{
    inputs: readonly Readonly<{ keyImage: string; ring: number }>[]
    outputs: readonly Readonly<{ key: string; amount: AssetAmount | null }>[]
    /** The block or the time before which nobody can spend the outputs. */
    lockedUntil: bigint | Date | null
  }>
}>

export type HeadFacts = Readonly<{ height: bigint; hash: string; at: Date }>

/** Looks things up for people who try the sandbox. Nothing that moves money reads from here. */
export interface ChainExplorer {
  readonly network: Network
  head(): Promise<HeadFacts>
  /** null where the text is no address of this network. */
  address(text: string): Promise<AddressFacts | null>
  /** null where the node knows no such transaction. */
  transaction(hash: string): Promise<TransactionFacts | null>
  close(): Promise<void>
}
