import type { AssetId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { PayoutPurpose } from '../../core/domain/payout-purpose.ts'
import type { KeyPath, Payment, Utxo } from './spend.ts'

/** Watch-only keys of monero: secret view key and public spend key. They show payments and cannot spend. */
export type ViewKeys = Readonly<{ view: Uint8Array; spend: Uint8Array }>

/** Complete content of a transaction. The signer builds the transaction from it and signs nothing else. */
export type SignIntent =
  | Readonly<{
      family: 'bitcoin'
      network: string
      inputs: readonly Utxo[]
      pays: readonly Payment[]
      change: { path: KeyPath; units: bigint } | null
    }>
  | Readonly<{
      family: 'evm'
      network: string
      chainId: number
      from: KeyPath
      nonce: number
      pay: Payment
      /**
       * Set where the transaction pays nothing: the wallet sends zero to itself under a nonce of `pay`, so that `pay` cannot
       * leave by this nonce any more and later nonces can be mined (I-38).
       */
      cancels?: true
      gasLimit: bigint
      maxFeePerGas: bigint
      maxPriorityFeePerGas: bigint
    }>
  | Readonly<{
      family: 'monero'
      network: string
      /** By key image. The first is the conflict key. */
      inputs: readonly Utxo[]
      pays: readonly Payment[]
      feeUnits: bigint
      /** As our wallet built it, with the one-time secrets by which the signer checks recipients and amounts. */
      raw: string
      secrets: readonly string[]
    }>

/** Whether the transaction pays nothing and only uses up the nonce of its payout (I-38). */
export const isCancel = (intent: SignIntent): boolean => intent.family === 'evm' && intent.cancels === true

/** Outputs that an intent spends; none for account families. */
export const inputsOf = (intent: SignIntent): readonly Utxo[] => (intent.family === 'evm' ? [] : intent.inputs)

export type SignedTransaction = Readonly<{ txHash: string; raw: string }>

/** A stored payout. The signer refuses an intent with another destination, asset or amount. */
export type StoredPayout = Readonly<{
  id: string
  /** The signer sends sweeps to its own hot wallet only, and gas to its own deposit addresses only. */
  purpose: PayoutPurpose
  /** Of a gas supply: derivation index of the deposit address that it pays. */
  toKeyIndex: number | null
  network: string
  address: string
  memo: string | null
  assetId: string
  units: bigint
  exchangeId: string | null
  depositId: string | null
  owedFrom: string | null
  /** Authentication code over all of these; null = a payout to ourselves (I-39). */
  mac: string | null
}>

/** Holds the keys. Signs only with a stored payout for each payment; refuses with an AppError or InvariantError. */
export interface Signer {
  /**
   * Payout id, derived from the deposit with a secret key. A restored database that pays the deposit again derives the same
   * id and finds it in the journal (I-37). Without the key, a journal does not link payouts to deposits.
   */
  payoutId(origin: string): string
  /** Local, takes milliseconds: may be called inside a database transaction. */
  sign(intent: SignIntent, stored: readonly StoredPayout[]): Promise<SignedTransaction>
  /**
   * Records on the signer's disk, before any node gets the bytes, that these payouts leave by this conflict key. Throws
   * AlreadyReleasedError if a payout left by another conflict key without a conflict proof since: a restored database would
   * pay twice (I-37).
   */
  release(transaction: ReleasedTransaction): Promise<void>
  /** Records the proof that the transaction of these payouts can never pay. Another conflict key may then be signed. */
  recordInvalidation(payoutIds: readonly string[], proof: Record<string, unknown>): Promise<void>
}

/** One payout in the signer's journal. */
export type PayoutRelease = Readonly<{
  payoutId: string
  network: string
  txHash: string
  assetId: AssetId
  address: string
  memo: string | null
  units: bigint
  at: Date
}>

/** One transaction in the signer's journal, complete enough to import it into a restored database. */
export type ReleasedTransaction = Readonly<{
  network: string
  txHash: string
  raw: string
  intent: SignIntent
  feeUnits: bigint
  conflictKey: string
  wallet: string
  from: KeyPath
}>

/** How far a journal has got. */
export type JournalPosition = Readonly<{ segments: number; bytes: number }>

/** The signer's own journal, as the comparison with the database reads it. */
export type SignerJournal = Readonly<{
  /** Its name in the database; null before it is recorded. */
  id(): string | null
  /** Returns a name once it is on disk. */
  recordName(): Promise<string>
  /** Last database generation that this signer recorded; null = none yet. */
  generation(): string | null
  /** Returns once the record is on disk. */
  recordGeneration(generation: string): Promise<void>
  /** Some thousands, oldest first. */
  newestReleases(): readonly PayoutRelease[]
  /** All, oldest first, some at a time from the disk. */
  allReleases(): AsyncIterable<readonly PayoutRelease[]>
  /** The transactions that `select` chooses among some hashes at a time. Reads the journal again, whole. */
  releasedTransactions(
    select: (txHashes: readonly string[]) => Promise<ReadonlySet<string>>,
  ): AsyncIterable<readonly ReleasedTransaction[]>
  /** Its size on disk. It grows for ever. */
  bytes(): number
  /** Number of its files, and the bytes of the newest. Behind an earlier position, records are lost. */
  position(): JournalPosition
}>

/** A signer that keeps a journal of its own. */
export type JournalingSigner = Signer &
  Readonly<{
    journal: SignerJournal
    /** Seed key of a hot wallet, where a separate wallet program builds the transactions (monero). */
    walletKey?(coinType: number, hotIndex: number): Uint8Array
  }>

export type OutflowWindow = 'transaction' | 'hour' | 'day'

/** The signer's own outflow limit refuses a signature (I-24). The payout waits. */
export class OutflowLimitError extends AppError {
  readonly window: OutflowWindow

  constructor(assetId: string, window: OutflowWindow) {
    super('INTERNAL', `the signer's own outflow limit per ${window} of ${assetId} is reached`)
    this.window = window
  }
}

/** The signer's journal refuses a payout: it left by another transaction without a conflict proof, or to another destination. */
export class AlreadyReleasedError extends AppError {
  readonly payoutId: string
  /** The transactions by which it was released and may still pay; no cancels. */
  readonly txHashes: readonly string[]
  /** False: to another destination, or of another amount. */
  readonly isSamePayment: boolean

  constructor(payoutId: string, txHashes: readonly string[], isSamePayment: boolean) {
    super('INTERNAL', `payout ${payoutId} was released before, by another transaction or to another destination`)
    this.payoutId = payoutId
    this.txHashes = txHashes
    this.isSamePayment = isSamePayment
  }
}

/** Private keys for the signing function of one family. Only the signer and that function use them. */
export type KeySource = { privateKey(path: KeyPath): Uint8Array }

/** Signing function of one chain family. Pure. */
export type FamilySigner = (intent: SignIntent, keys: KeySource) => SignedTransaction

/** Public keys, enough to derive all addresses. API processes and watchers hold only these. */
export type CompressedKeys = {
  /** Compressed secp256k1 public key of a path, by BIP-44 coin type. */
  publicKey(coinType: number, path: KeyPath): Uint8Array
  /** Derives these keys in the background, before they are requested. */
  precompute?(coinType: number, branch: KeyPath['branch'], indexes: readonly number[]): void
}

export type PublicKeys = CompressedKeys & {
  /** View keys of monero; null in a keystore that was created before monero support. */
  viewKeys?(coinType: number): ViewKeys | null
  /** The uncompressed key (65 bytes: 4, x, y). Decompressing would cost more than the rest of the address derivation. */
  uncompressedKey(coinType: number, path: KeyPath): Uint8Array
}
