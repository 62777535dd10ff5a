import type { AssetId } from '../../../core/domain/asset.ts'
import type { PayoutPurpose } from '../../../core/domain/payout-purpose.ts'
import type { ExchangeStatus, StatusReason } from '../../domain/exchange.ts'
import type { Decision } from '../../domain/lifecycle.ts'
import type { Destination } from '../chain.ts'
import type { OnRelease } from './execution.ts'

export type HeldPayout = Readonly<{
  id: string
  purpose: PayoutPurpose
  network: string
  assetId: AssetId
  units: bigint
  address: string
  memo: string | null
  state: 'reserved' | 'signed' | 'confirmed' | 'void'
  attention: string | null
  /** Queued, and tried again later: for a network fee, a limit or funds. */
  postponed: boolean
  exchangeId: string | null
  transactionId: string | null
  /** Reversed after its exchange had closed. `attention` is `LOST` until the operator decides. Printed by the command line. */
  isReversed: boolean
}>

export type UnclaimedDeposit = Readonly<{
  depositId: string
  exchangeId: string | null
  txHash: string
  assetId: AssetId
  units: bigint
}>

/** An execution that waits for the operator. */
export type HeldExecution = Readonly<{
  id: string
  leg: number
  depositId: string
  txHash: string
  assetId: AssetId | null
  units: bigint
  status: ExchangeStatus
  reason: StatusReason | null
  decision: Decision | null
  onRelease: OnRelease | null
}>

/** What an account lacks to reverse the credit of a deposit that left its chain. */
export type SpentDeposit = Readonly<{ account: 'asset:wallet' | 'asset:deposits'; assetId: AssetId; missing: bigint }>

/** The larger of two outputs with one key (Monero); the smaller is recorded. */
export type LargerOutput = Readonly<{
  /** The row of what it has in addition. */
  depositId: string
  assetId: AssetId
  /** In addition to the recorded output. */
  units: bigint
  credits: number
  isCredited: boolean
  /** It has its confirmations. */
  isDeep: boolean
  /** A transaction of ours spends one of the two. */
  isReserved: boolean
}>

/** Refunds of a partner that wait for an address, and the exchange of the newest. */
export type AwaitingRefunds = Readonly<{ partner: string; waiting: number; exchangeId: string }>

/** The operator's commands about money. The audit log has each of them with its reason. */
export interface OperatorStore {
  /**
   * Held executions of an exchange: all, or those that match the id of an execution or deposit, or a transaction hash.
   * Locks the exchange inside a transaction, as a step does.
   */
  listHeldExecutions(exchangeId: string, deposit: string | null, limit: number): Promise<readonly HeldExecution[]>
  /** A credited deposit that left its chain after its coins were spent, so that its credit is not reversed yet; else null. */
  findSpentDeposit(depositId: string): Promise<SpentDeposit | null>
  /** By partner, of the newest held executions up to `limit`: also those of exchanges that are closed otherwise. */
  listAwaitingRefunds(limit: number): Promise<readonly AwaitingRefunds[]>
  /** Source asset and refund address of an exchange; null = there is no such exchange. */
  findRefund(
    exchangeId: string,
  ): Promise<Readonly<{ assetId: AssetId; address: string | null; memo: string | null }> | null>
  setRefund(exchangeId: string, refund: Destination): Promise<void>
  /** Payouts that wait for the operator. */
  listHeldPayouts(limit: number): Promise<readonly HeldPayout[]>
  /** Locks the row inside a transaction. */
  findPayout(id: string): Promise<HeldPayout | null>
  /** Lets the deposits of a dropped sweep be swept again. */
  releaseSweptDeposits(payoutId: string): Promise<void>
  /** Stores the conflicting transaction that the operator named. False if our transaction is settled or unknown. */
  setConflictingTxHash(transactionId: string, txHash: string): Promise<boolean>
  /** Stores bytes that fund one of our transactions, to broadcast with it. False if ours is settled or unknown. */
  addFundingTransaction(transactionId: string, raw: string): Promise<boolean>
  /** What the wallet holds in place of a quarantined output of ours; null = that output itself. Locks its row inside a transaction. */
  findLargerOutput(network: string, outpoint: string): Promise<LargerOutput | null>
  /** The output has the units of the larger one from now on. */
  takeLargerOutput(network: string, outpoint: string, units: bigint): Promise<void>
  /** Credited coins at a hot wallet that belong to no exchange are left on the network. */
  hasUnclaimed(network: string): Promise<boolean>
  /** Credited coins at a hot wallet that belong to no exchange, or null. Locks the row inside a transaction. */
  findUnclaimed(depositId: string): Promise<{ id: string; assetId: AssetId; network: string; units: bigint } | null>
  /** A credited deposit without an owner: at a hot wallet, or booked as unclaimed by a failed execution. Locks the row. */
  findUnclaimedDeposit(
    depositId: string,
  ): Promise<Readonly<{ id: string; assetId: AssetId; network: string; units: bigint }> | null>
  listUnclaimed(limit: number): Promise<readonly UnclaimedDeposit[]>
  /**
   * Marks the deposit of a dropped withdrawal as unclaimed again. Null if the withdrawal had none. `isCredited` is false while
   * the deposit is reversed because it left the chain.
   */
  markUnclaimed(payoutId: string): Promise<Readonly<{ id: string; isCredited: boolean }> | null>
  /** Marks a deposit as claimed: its owner is known. */
  markClaimed(depositId: string): Promise<void>
}
