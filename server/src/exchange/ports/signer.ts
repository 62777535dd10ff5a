import type { AssetId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { Utxo, KeyPath, Payment } from './spend.ts'

/** Monero's watch-only keys, which see every payment and can spend none: the secret view key and the public spend key. */
export type ViewKeys = Readonly<{ view: Uint8Array; spend: Uint8Array }>

/** What is asked to be signed, in full: the signer builds the transaction itself and signs nothing else. */
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
      gasLimit: bigint
      maxFeePerGas: bigint
      maxPriorityFeePerGas: bigint
    }>
  | Readonly<{
      family: 'monero'
      network: string
      /** By key image; the first is the conflict key. */
      inputs: readonly Utxo[]
      pays: readonly Payment[]
      feeUnits: bigint
      /** As the house's own wallet built it, and its one-time secrets, by which the signer sees whom it pays how much. */
      raw: string
      secrets: readonly string[]
    }>

/** The coins that an intent spends; account families spend none. */
export const inputsOf = (intent: SignIntent): readonly Utxo[] => (intent.family === 'evm' ? [] : intent.inputs)

export type SignedTransaction = Readonly<{ txHash: string; raw: string }>

/** A stored payout, as the signer compares it with the intent: same destination, same asset, same units, or no signature. */
export type StoredPayout = Readonly<{
  id: string
  address: string
  memo: string | null
  assetId: string
  units: bigint
}>

/** What a payout's id follows from: its deposit on the chain, the leg, and how many payouts were made for it before. */
export type PayoutOrigin = Readonly<{
  text: string
  /** The id before ids were made with a key (decision 0032). Old journals contain it. */
  plainId: string
  /** Something with that id left, and the database does not know it otherwise. */
  isReleasedUnderPlainId: boolean
}>

/** Holds the keys. A refusal is an AppError or InvariantError; nothing is signed without a stored payout for every pay. */
export interface Signer {
  /**
   * A payout's id. It follows from its deposit: a restored database that pays it anew asks for the same id, which journals
   * know. And from a key: whoever has a journal and the chains finds no deposit by it.
   */
  payoutId(ground: PayoutOrigin): string
  /** Local: may be called inside a database transaction (milliseconds, no network). */
  sign(intent: SignIntent, stored: readonly StoredPayout[]): Promise<SignedTransaction>
  /**
   * Before the bytes go to any node: writes down, on the signer's own disk, that these payouts leave by this conflict key.
   * Throws where they left by another one before and no proof of its death was given: a restored database would pay twice.
   */
  release(departure: ReleasedTransaction): Promise<void>
  /** These payouts' transaction is provably dead: a new one with another conflict key may be signed for them. */
  expire(payoutIds: readonly string[], proof: Record<string, unknown>): Promise<void>
}

/** One payout that left the house, as the signer's journal has it. */
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

/** One transaction that left, in full: what a database that forgot it needs. */
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

/** What a signer remembers by itself, for the comparison with the database. */
export type SignerJournal = Readonly<{
  /** The last life of the database that this signer saw; null = none yet. */
  generation(): string | null
  /** On disk before it returns. */
  recordGeneration(generation: string): Promise<void>
  /** What left, oldest first; `last` = only the newest so many. */
  releases(last?: number): readonly PayoutRelease[]
  /** Reads the journal again: only what was forgotten is asked for. */
  releasedTransactions(txHashes: ReadonlySet<string>): Promise<readonly ReleasedTransaction[]>
}>

/** A signer with a memory of its own. */
export type JournalingSigner = Signer &
  Readonly<{
    journal: SignerJournal
    /** The seed's key of a hot wallet, for a family whose transactions a wallet of its own builds (monero). */
    walletKey?(coinType: number, hotIndex: number): Uint8Array
  }>

export type OutflowWindow = 'transaction' | 'hour' | 'day'

/** The signer's own counters, which no database moves, refuse a signature. Nothing is lost: the payout waits. */
export class OutflowLimitError extends AppError {
  readonly window: OutflowWindow

  constructor(assetId: string, window: OutflowWindow) {
    super('INTERNAL', `the signer's own limit for one ${window} of ${assetId} is reached`)
    this.window = window
  }
}

/** The signer's journal says no: the payout left by another transaction whose death nobody proved, or to elsewhere. */
export class AlreadyReleasedError extends AppError {
  readonly payoutId: string

  constructor(payoutId: string) {
    super('INTERNAL', `payout ${payoutId} left before, by another transaction or to another destination`)
    this.payoutId = payoutId
  }
}

/** Private key material for one family's signing function; never leaves the signer's folder but into that function. */
export type KeySource = { privateKey(path: KeyPath): Uint8Array }

/** One family's signing: pure given the keys. Compose hands each family's to the signer. */
export type FamilySigner = (intent: SignIntent, keys: KeySource) => SignedTransaction

/** Public halves, enough to derive every address: what API processes and watchers hold. */
export type CompressedKeys = {
  /** Compressed secp256k1 public key of a path on a network's coin type. */
  publicKey(coinType: number, path: KeyPath): Uint8Array
  /** These are asked for soon: where it is there, they are derived beside what goes on, and nobody waits for them. */
  precompute?(coinType: number, branch: KeyPath['branch'], indexes: readonly number[]): void
}

export type PublicKeys = CompressedKeys & {
  /** Monero's, of a keystore that was made since there is Monero: it sees what is paid to the house, and spends nothing. */
  viewKeys?(coinType: number): ViewKeys | null
  /** The same key in full (65 bytes: 4, x, y): finding y again costs more than all else of an address. */
  uncompressedKey(coinType: number, path: KeyPath): Uint8Array
}
