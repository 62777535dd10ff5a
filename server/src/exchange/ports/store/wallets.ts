import type { AssetId } from '../../../core/domain/asset.ts'
import type { Deposit } from './execution.ts'

export type Sweepable = Readonly<{
  network: string
  address: string
  keyIndex: number
  assetId: AssetId
  /** The largest deposits, at most `SWEEP_DEPOSITS_MAX`. None if a reorganisation or a sweep took them. */
  deposits: readonly Readonly<{ id: string; units: bigint }>[]
  /** Since the oldest of these deposits was first seen. */
  waitedMs: number
  /** Counts the deposits that the address had when it was read. */
  version: bigint
}>

/** Deposits per sweep. Bounded, because a deposit that leaves the chain invalidates the whole sweep. */
export const SWEEP_DEPOSITS_MAX = 100

/** Money on its way to the hot wallets: deposits of account families, and the operator's fundings. */
export interface WalletStore {
  /**
   * Addresses that are due, by asset, with their credited, unswept deposits at least `depth` blocks deep: at most `limit` new
   * ones and as many that were postponed.
   */
  listSweepable(network: string, depth: number, limit: number): Promise<readonly Sweepable[]>
  /**
   * When the address is due again. Null = nothing of it is worth a sweep: after a time that doubles, and at the next deposit.
   * Without deposits it is due at its next deposit only.
   */
  postponeSweep(sweepable: Sweepable, depth: number, delayMs: number | null): Promise<void>
  /** The usual fee rate as it was stored last; null = never. */
  usualFeeRate(network: string): Promise<bigint | null>
  setUsualFeeRate(network: string, rate: bigint): Promise<void>
  /** Assets whose queued payouts and refunds together exceed the hot wallet. */
  listShortAssets(network: string): Promise<ReadonlySet<AssetId>>
  /** Marks deposits as swept. False if another sweep has one of the deposits. */
  markSwept(depositIds: readonly string[], payoutId: string): Promise<boolean>
  /**
   * Makes what final sweeps left of deposits sweepable: they returned with more units after a reorganisation. Returns the number of
   * these deposits.
   */
  releaseSweptRests(network: string): Promise<number>
  /**
   * The unswept deposits of an address that a sweep of these units took: the earliest that add up to it and its fee. `feeUnits`:
   * of a sweep of the native coin, else 0. None if no deposits do.
   */
  findSweptDeposits(sweep: {
    network: string
    address: string
    assetId: AssetId
    units: bigint
    feeUnits: bigint
  }): Promise<readonly string[]>
  /** Whether an exchange has this deposit address. */
  isDepositAddress(network: string, address: string): Promise<boolean>
  /** Whether it is the network's hot wallet. */
  isHotAddress(network: string, address: string): Promise<boolean>
  /** Cancels the sweep of this deposit, if it is not signed: all of its deposits can be swept again. */
  cancelUnsignedSweep(depositId: string): Promise<void>
  /** Sum of the deposits that a sweep collects. */
  sweptUnits(payoutId: string): Promise<bigint>
  /** Gas supplies to this address in the last day, and how many of them are reserved or signed. */
  countGasSupplies(network: string, address: string): Promise<Readonly<{ pending: number; total: number }>>
  /** Transfers to hot wallets that are deep enough and not credited yet. */
  listFundings(network: string, limit: number): Promise<readonly Deposit[]>
  /** A transfer to a hot wallet that is in a block and not credited yet; null if that has changed. A transaction locks its row. */
  findFunding(depositId: string): Promise<Deposit | null>
  /** Registers key `index` of the hot branch as the network's wallet. Throws if the database has another hot address. */
  registerHotAddress(network: string, address: string, index: number): Promise<void>
  registerAssets(assetIds: readonly AssetId[]): Promise<void>
}
