import type { AssetId } from '../../../core/domain/asset.ts'
import type { ExchangeStatus, StatusReason } from '../../domain/exchange.ts'
import type { Decision } from '../../domain/lifecycle.ts'
import type { Destination } from '../chain.ts'
import type { OnRelease, PayoutPurpose } from './execution.ts'

export type HeldPayout = Readonly<{
  id: string
  purpose: PayoutPurpose
  network: string
  assetId: AssetId
  units: bigint
  address: string
  state: 'reserved' | 'signed' | 'confirmed' | 'void'
  attention: string | null
  exchangeId: string | null
  transactionId: string | null
  /** Paid once and taken back by the chain: `attention` is `LOST` until a person decided. */
  isReversed: boolean
}>

export type UnclaimedDeposit = Readonly<{
  depositId: string
  exchangeId: string | null
  txHash: string
  assetId: AssetId
  units: bigint
}>

/** An execution that waits for a person. */
export type HeldExecution = Readonly<{
  id: string
  depositId: string
  txHash: string
  assetId: AssetId | null
  units: bigint
  status: ExchangeStatus
  reason: StatusReason | null
  decision: Decision | null
  onRelease: OnRelease | null
}>

/** What a person does about money at the command line. Every act is written down with its reason. */
export interface OperatorStore {
  /**
   * What is held of an exchange, or of it what the id of an execution or deposit, or the hash of a transaction, names;
   * inside a transaction the exchange is locked, as its step does.
   */
  listHeldExecutions(exchangeId: string, deposit: string | null, limit: number): Promise<readonly HeldExecution[]>
  /** What the exchange was to be given, and where it goes back to; null = there is no such exchange. */
  findRefund(
    exchangeId: string,
  ): Promise<Readonly<{ assetId: AssetId; address: string | null; memo: string | null }> | null>
  setRefund(exchangeId: string, refund: Destination): Promise<void>
  /** Payouts that wait for a person. */
  listHeldPayouts(limit: number): Promise<readonly HeldPayout[]>
  /** Locked inside a transaction. */
  findPayout(id: string): Promise<HeldPayout | null>
  /** The deposits of a sweep that is given up can be swept anew. */
  releaseSweptDeposits(payoutId: string): Promise<void>
  /** The rival that a person names for one of our transactions; false where that one is settled or unknown. */
  setConflictingTxHash(transactionId: string, rival: string): Promise<boolean>
  /** Bytes that fund one of our transactions, to be offered with it; false where that one is settled or unknown. */
  addFundingTransaction(transactionId: string, raw: string): Promise<boolean>
  /** A counted transfer whose memo was nobody's, locked; null where there is none of this id. */
  findUnclaimed(depositId: string): Promise<{ id: string; assetId: AssetId; units: bigint } | null>
  /** Counted coins that nobody is known to own: a memo that is nobody's, or what a closed execution kept; locked. */
  findUnclaimedDeposit(
    depositId: string,
  ): Promise<Readonly<{ id: string; assetId: AssetId; network: string; units: bigint }> | null>
  listUnclaimed(limit: number): Promise<readonly UnclaimedDeposit[]>
  /** Of a pay-out that was dropped: its deposit's memo is nobody's again. */
  markUnclaimed(payoutId: string): Promise<void>
  /** Its owner is known from now on. */
  markClaimed(depositId: string): Promise<void>
}
