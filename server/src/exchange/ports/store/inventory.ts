import type { AssetId } from '../../../core/domain/asset.ts'
import type { FixedStock } from '../../../core/domain/book.ts'
import type { CapitalPosition, MaxNetworkFees } from '../../domain/free-capital.ts'

export interface InventoryStore {
  /** Units of each asset in the wallet that are neither reserved nor owed to partners, unknown senders or withdrawals. */
  available(): Promise<ReadonlyMap<AssetId, bigint>>
  /** From what `freeCapitalOf` computes what the operator may take out. Locks the stocks of the asset and of the native coin. */
  capital(assetId: AssetId, fees: MaxNetworkFees): Promise<CapitalPosition>
  /**
   * Assets that we owe and have promised beyond what we hold, with the missing units. Unswept deposits, and payouts that are
   * signed and unconfirmed, count as held.
   */
  listOverpromised(): Promise<readonly Readonly<{ assetId: AssetId; missingUnits: bigint }>[]>
  /** What fixed rates may promise of each asset. */
  fixedStock(): Promise<ReadonlyMap<AssetId, FixedStock>>
  /** Units that are reserved for the fixed rate of an exchange; 0 = none. */
  reservedUnits(exchangeId: string): Promise<bigint>
  /**
   * The same, and locks them until the end of the transaction: only so they can be its `releasedUnits`. Read without the lock, they
   * may expire and be promised to somebody else meanwhile.
   */
  lockReservedUnits(exchangeId: string): Promise<bigint>
  /** Whether so much is neither reserved nor owed. Locks the stock of the asset until the end of the transaction. */
  covers(assetId: AssetId, units: bigint): Promise<boolean>
  /**
   * False if the reserve does not cover the units, and they exceed the `releasedUnits` that were reserved for them until now.
   * Idempotent by id.
   */
  reserve(
    id: string,
    assetId: AssetId,
    units: bigint,
    exchangeId: string,
    expiresInMs: number | null,
    releasedUnits?: bigint,
  ): Promise<boolean>
  release(id: string): Promise<bigint>
  /** A deposit that can execute at the fixed rate is in a block: the reserve does not count against the limits of unpaid ones. */
  markReservationPaid(exchangeId: string): Promise<void>
  /**
   * Deletes expired reservations, except while the watcher has not recorded the blocks of the lock's time, and while a deposit
   * that came in time is neither converted nor on its way to a refund.
   */
  releaseExpired(limit: number): Promise<number>
  insertOrder(order: {
    id: string
    executionId: string
    venue: string
    giveAsset: AssetId
    giveUnits: bigint
    takeAsset: AssetId
    takeUnits: bigint
  }): Promise<void>
  settleOrder(id: string, state: 'filled' | 'rejected' | 'unknown' | 'cancelled'): Promise<void>
}
