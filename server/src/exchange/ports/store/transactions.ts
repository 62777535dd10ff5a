import type { AssetId } from '../../../core/domain/asset.ts'
import type { BlockRef } from '../../../core/ports/chain.ts'
import type { SignIntent } from '../signer.ts'
import type { KeyPath, Utxo } from '../spend.ts'

export type Attempt = Readonly<{
  id: string
  txHash: string
  raw: string
  intent: SignIntent
  feeUnits: bigint
  state: 'signed' | 'replaced' | 'confirmed'
  block: BlockRef | null
  createdAt: Date
  sent: boolean
}>

export type OutgoingTransaction = Readonly<{
  id: string
  network: string
  from: KeyPath
  wallet: string
  conflictKey: string
  state: 'live' | 'confirmed' | 'final' | 'invalidated'
  createdAt: Date
  conflictingTxHash: string | null
  /** Raw transactions from the operator that fund missing inputs. */
  fundingTransactions: readonly string[]
  attempts: readonly Attempt[]
  head: number | null
  now: Date
}>

/** Confirmations before an output may be spent: in general, and if a transaction of ours with a single attempt made it. */
export type SpendDepths = Readonly<{ others: number; own: number }>

export interface TransactionStore {
  /** Whether the wallet has a lane, which begins with its first transaction. */
  hasLane(network: string, wallet: string): Promise<boolean>
  /**
   * Locks the wallet's lane until the transaction ends and returns the next nonce (used by account families, I-26): the one that
   * `reopenNonce` named, or the one after the highest. A new lane begins at `firstNonce`.
   */
  lockLane(network: string, wallet: string, firstNonce: number): Promise<number>
  /** Wallets with a transaction that was signed some milliseconds ago and is unmined, and their lowest unmined nonce: first `first`. */
  listWaitingLanes(
    network: string,
    first: string,
    waitedMs: number,
    limit: number,
  ): Promise<readonly Readonly<{ wallet: string; lowestNonce: number }>[]>
  /** The native units that a deposit address's transactions from this nonce on will take: what they transfer, and their largest fees. */
  unminedUnits(network: string, wallet: string, minedNonce: number, native: AssetId): Promise<bigint>
  /** Gives an earlier nonce to the wallet's next transaction, unless a transaction has it. In a transaction: locks the lane. */
  reopenNonce(network: string, wallet: string, nonce: number): Promise<void>
  /** The nonces that were reopened and that no transaction has taken: those of the wallets after one, in their order. */
  listGaps(
    network: string,
    after: string,
    limit: number,
  ): Promise<readonly Readonly<{ wallet: string; nonce: number }>[]>
  /** Undoes `reopenNonce`: the nonce was mined. */
  closeGap(network: string, wallet: string, nonce: number): Promise<void>
  /** Outputs of ours that may be spent: deep enough, credited and unreserved. Largest first, then oldest. */
  listSpendable(network: string, depths: SpendDepths, limit: number): Promise<readonly Utxo[]>
  /** The spendable outputs within these amounts, smallest first. */
  listSmall(
    network: string,
    depths: SpendDepths,
    units: Readonly<{ min: bigint; max: bigint }>,
    limit: number,
  ): Promise<readonly Utxo[]>
  /**
   * Reserves an output of this transaction's newest attempt for the transaction itself, so that no other one spends it from
   * now on. False if another one does.
   */
  reserveOwnOutput(id: string, outpoint: string): Promise<boolean>
  /** A key index that no change address has used. */
  nextChangeIndex(): Promise<number>
  /** Stores the change address of a transaction that was built, so that the watcher knows it. */
  registerChange(network: string, index: number, address: string): Promise<void>
  insert(transaction: {
    id: string
    network: string
    from: KeyPath
    wallet: string
    conflictKey: string
    resources: readonly string[]
    nonce: number | null
  }): Promise<void>
  addAttempt(
    transactionId: string,
    attempt: { txHash: string; raw: string; intent: SignIntent; feeUnits: bigint; outpoints: readonly string[] },
  ): Promise<void>
  /** Locks the row inside a transaction. */
  load(id: string): Promise<OutgoingTransaction | null>
  /** The invalidated transaction of one of these attempts, with its proof and the transaction that conflicts with it. */
  findInvalidated(
    network: string,
    txHashes: readonly string[],
  ): Promise<Readonly<{
    transaction: OutgoingTransaction
    proof: Record<string, unknown>
    conflictingTxHash: string | null
  }> | null>
  /** Whether a later nonce of the same wallet was signed this long ago and is not mined (account families). */
  hasNonceWaited(id: string, waitedMs: number): Promise<boolean>
  /** Maximum fees of this wallet's signed, unmined transactions, in units of the native asset. */
  unpaidFees(network: string, wallet: string): Promise<bigint>
  /** Never spends these outputs again until the operator releases them. */
  quarantine(network: string, outpoints: readonly string[]): Promise<void>
  /** False if the output is not in quarantine. */
  releaseQuarantined(network: string, outpoint: string): Promise<boolean>
  settle(id: string, outcome: TransactionOutcome): Promise<void>
}

export type TransactionOutcome =
  | { kind: 'check'; at: Date; sentAttemptId: string | null }
  | { kind: 'confirmed'; attemptId: string; checkAt: Date }
  | { kind: 'final' }
  /** Only with a proof (I-13). Frees the resources. */
  | { kind: 'invalidated'; proof: Record<string, unknown> }
