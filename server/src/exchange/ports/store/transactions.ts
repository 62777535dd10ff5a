import type { BlockRef } from '../../../core/ports/chain.ts'
import type { SignIntent } from '../signer.ts'
import type { Utxo, KeyPath } from '../spend.ts'

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
  state: 'live' | 'confirmed' | 'final' | 'expired'
  createdAt: Date
  conflictingTxHash: string | null
  /** Bytes of others that a person brought: they make coins that it spends. */
  fundingTransactions: readonly string[]
  attempts: readonly Attempt[]
  head: number | null
  now: Date
}>

export interface TransactionStore {
  /** Takes the wallet's lane for this transaction and returns its next nonce (account families use it). */
  lockLane(network: string, wallet: string): Promise<number>
  /** Coins that may be spent now: ours, deep enough, credited, unreserved; the largest first, oldest among equals. */
  listSpendable(network: string, depth: number, limit: number): Promise<readonly Utxo[]>
  nextChangeAddress(network: string, derive: (index: number) => string): Promise<{ index: number; address: string }>
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
  /** Locked inside a transaction. */
  load(id: string): Promise<OutgoingTransaction | null>
  /** The most that the network may still take for what this wallet has signed, in units of its own coin. */
  unpaidFees(network: string, wallet: string): Promise<bigint>
  settle(id: string, outcome: TransactionOutcome): Promise<void>
}

export type TransactionOutcome =
  | { kind: 'check'; at: Date; sentAttemptId: string | null }
  | { kind: 'confirmed'; attemptId: string; checkAt: Date }
  | { kind: 'final' }
  /** Only with a proof; frees the resources. */
  | { kind: 'expired'; proof: Record<string, unknown> }
