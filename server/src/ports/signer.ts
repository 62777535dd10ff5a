import type { Coin, KeyPath, Pay } from './spend.ts'

/** What is asked to be signed, in full: the signer builds the transaction itself and signs nothing else. */
export type SignIntent =
  | Readonly<{
      family: 'bitcoin'
      network: string
      inputs: readonly Coin[]
      pays: readonly Pay[]
      change: { path: KeyPath; units: bigint } | null
    }>
  | Readonly<{
      family: 'evm'
      network: string
      chainId: number
      from: KeyPath
      nonce: number
      pay: Pay
      gasLimit: bigint
      maxFeePerGas: bigint
      maxPriorityFeePerGas: bigint
    }>

export type Signed = Readonly<{ txHash: string; raw: string }>

/** A stored payout, as the signer compares it with the intent: same destination, same asset, same units, or no signature. */
export type StoredPayout = Readonly<{
  id: string
  address: string
  memo: string | null
  assetId: string
  units: bigint
}>

/** Holds the keys. A refusal is an AppError or InvariantError; nothing is signed without a stored payout for every pay. */
export interface Signer {
  /** Local: may be called inside a database transaction (milliseconds, no network). */
  sign(intent: SignIntent, stored: readonly StoredPayout[]): Promise<Signed>
  /**
   * Before the bytes go to any node: writes down, on the signer's own disk, that these payouts leave by this conflict key.
   * Throws where they left by another one before and no proof of its death was given: a restored database would pay twice.
   */
  release(intent: SignIntent): Promise<void>
  /** These payouts' transaction is provably dead: a new one with another conflict key may be signed for them. */
  expire(payoutIds: readonly string[], proof: Record<string, unknown>): Promise<void>
}

/** Private key material for one family's signing function; never leaves the signer's folder but into that function. */
export type KeySource = { privateKey(path: KeyPath): Uint8Array }

/** One family's signing: pure given the keys. Compose hands each family's to the signer. */
export type SignWith = (intent: SignIntent, keys: KeySource) => Signed

/** Public halves, enough to derive every address: what API processes and watchers hold. */
export type PublicKeys = {
  /** Compressed secp256k1 public key of a path on a network's coin type. */
  publicKey(coinType: number, path: KeyPath): Uint8Array
}
