import type { AssetId } from '../domain/asset.ts'
import type { Need } from './chain.ts'
import type { Deposit, PayoutPurpose } from './store.ts'

/** What the chains took back, and what can be proven of it. */
export interface RecoveryStore {
  /** What must hold for coins that are in no block now: what their transactions spend, and theirs in turn. */
  origins(network: string, outpoints: readonly string[]): Promise<readonly Need[]>
  /** Counted fundings that are in no block now; locked inside a transaction. */
  lostFundings(network: string, limit: number): Promise<readonly Deposit[]>
  /** Units of an asset that are promised beyond what the hot wallet holds; 0 where it covers them. */
  shortfall(assetId: AssetId): Promise<bigint>
}

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
}>

export type OperatorAct = Readonly<{
  actor: string
  act: string
  subject: string
  reason: string
  detail: Record<string, unknown>
}>

/** What a person does about money at the command line. Every act is written down with its reason. */
export interface OperatorStore {
  record(act: OperatorAct): Promise<void>
  /** Payouts that wait for a person. */
  held(limit: number): Promise<readonly HeldPayout[]>
  /** Locked inside a transaction. */
  findPayout(id: string): Promise<HeldPayout | null>
  /** The deposits of a sweep that is given up can be swept anew. */
  unsweep(payoutId: string): Promise<void>
  /** The rival that a person names for one of our transactions; false where that one is settled or unknown. */
  nameRival(transactionId: string, rival: string): Promise<boolean>
  /** A counted transfer whose memo was nobody's, locked; null where there is none of this id. */
  findUnclaimed(depositId: string): Promise<{ id: string; assetId: AssetId; units: bigint } | null>
  /** It is the house's own from now on. */
  claim(depositId: string): Promise<void>
}
