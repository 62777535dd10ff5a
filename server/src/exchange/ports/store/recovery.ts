import type { AssetId } from '../../../core/domain/asset.ts'
import type { RequiredSpend } from '../chain.ts'
import type { Deposit } from './execution.ts'

/** The execution that pays a next leg. */
export type UnrecordedLeg = Readonly<{ executionId: string; exchangeId: string }>

/** Outputs and fundings that left their chain, and legs whose deposits were not recorded. */
export interface RecoveryStore {
  /** Spends that must happen before these outputs can be in a block again: of their transactions and the ancestors of those. */
  findAncestorSpends(network: string, outpoints: readonly string[]): Promise<readonly RequiredSpend[]>
  /** The given outputs that are in no block, each with the height of the head when it left its block. */
  findMissingOutputs(
    network: string,
    outpoints: readonly string[],
  ): Promise<readonly { outpoint: string; missingSince: number }[]>
  /** Credited fundings that are in no block. Locks the rows inside a transaction. */
  listOrphanedFundings(network: string, limit: number): Promise<readonly Deposit[]>
  /** The confirmed payments of a transaction to next legs whose deposits are not recorded. */
  listUnrecordedLegs(transactionId: string): Promise<readonly UnrecordedLeg[]>
  /** Reserved units of an asset that the hot wallet does not cover; 0 if it covers them. */
  shortfall(assetId: AssetId): Promise<bigint>
}
