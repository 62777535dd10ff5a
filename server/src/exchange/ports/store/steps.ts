import type { AssetId } from '../../../core/domain/asset.ts'
import type { Exchange, ExchangeStatus, StatusReason } from '../../domain/exchange.ts'
import type { DepositTimes } from '../../domain/terms.ts'
import type { Destination } from '../chain.ts'
import type { Deposit, Execution } from './execution.ts'

/** Position of an execution within its exchange, by leg and deposit. */
export type ExecutionPosition = Readonly<{ leg: number; depositId: string }>

/** An exchange with everything that its step needs. `now` is the database's clock, `heads` are the watchers' cursors. */
export type StepContext = Readonly<{
  exchange: Exchange
  /** The partner lets refunds without a refund address go to the sender. */
  refundToSender: boolean
  /** Whether this program wrote the payee and nothing has changed it since (I-39). False for a payee that is not named. */
  authentic: Readonly<{ recipient: boolean; refund: boolean }>
  /**
   * A window of the executions that may need work, in order: open ones, and closed ones whose deposit left the chain,
   * returned, or was never credited.
   */
  executions: readonly Execution[]
  /** The window starts after this execution; null = it is the first window. */
  after: ExecutionPosition | null
  /** The next window starts after this execution; null = this is the last window. */
  next: ExecutionPosition | null
  /** The maximum of the quote at the create; null = none. */
  acceptedMaxUnits: bigint | null
  sighted: boolean
  /** Every deposit in a block that existed by then is recorded; null = no watcher has said so yet. */
  watchedUntil: Date | null
  now: Date
  heads: ReadonlyMap<string, number>
}>

/** Summary of all executions of an exchange. */
export type ExecutionSummary = Readonly<{
  /** The last execution of each status, in order. */
  latestByStatus: readonly Pick<Execution, 'leg' | 'status' | 'reason'>[]
  /** A deposit is credited and off the chain, or is on the chain and booked as a loss or not credited. */
  needsRepair: boolean
}>

export type ExecutionChange = Partial<
  Pick<
    Execution,
    | 'receivedUnits'
    | 'dueUnits'
    | 'rateKind'
    | 'orderId'
    | 'orderedUnits'
    | 'waitsSince'
    | 'sentUnits'
    | 'payoutHash'
    | 'decision'
    | 'onRelease'
  >
> &
  Readonly<{ id: string; status: ExchangeStatus; reason: StatusReason | null }>

export type ExchangeChange = Readonly<{
  status: ExchangeStatus
  reason: StatusReason | null
  nextCheckAt: Date | null
  /** The next step starts after this execution; null = at the first. */
  next: ExecutionPosition | null
}>

/** The rows that a step reads and writes. */
export interface StepStore {
  /**
   * Loads the window after the given position; null = the first window, absent = where the last step stopped. Locks the
   * exchange row inside a transaction.
   */
  load(id: string, after?: ExecutionPosition | null): Promise<StepContext | null>
  summarize(id: string): Promise<ExecutionSummary>
  /** Whether another deposit of this leg and asset has the fixed rate. */
  isRateUsed(exchangeId: string, position: ExecutionPosition, assetId: AssetId): Promise<boolean>
  /** Deposits that are on the chain, came earlier, and have no rate yet and no refund; the largest ones. */
  listEarlierDeposits(
    exchangeId: string,
    position: ExecutionPosition,
    assetId: AssetId,
  ): Promise<readonly (DepositTimes & Readonly<{ depositUnits: bigint }>)[]>
  /** Whether a transfer of the same transaction to this exchange left the chain after its payout was signed. */
  repeatsLostDeposit(exchangeId: string, deposit: Pick<Deposit, 'id' | 'network' | 'txHash'>): Promise<boolean>
  /**
   * Units that the deposit's address holds of other credited deposits of its asset, which are in blocks, without what confirmed sweeps
   * have taken of them; null while a sweep of them is signed and may be in a block.
   */
  heldUnits(
    exchangeId: string,
    deposit: Pick<Deposit, 'id' | 'network' | 'address' | 'assetId'>,
  ): Promise<bigint | null>
  saveExecution(
    exchangeId: string,
    change: ExecutionChange,
    event: string,
    detail?: Record<string, unknown>,
  ): Promise<void>
  save(id: string, change: ExchangeChange): Promise<void>
  /** Where the next leg received an earlier payment of this execution, which was invalidated; null = nowhere. */
  findNextDestination(sourceId: string): Promise<Destination | null>
  /** Stores the deposit address of the next leg, in the transaction of the step that reserves the payout to it. */
  addDepositTarget(target: DepositTarget): Promise<void>
}

/** A new deposit destination of a later leg. `sourceId` is the execution that pays to it. */
export type DepositTarget = Readonly<{
  exchangeId: string
  leg: number
  network: string
  destination: Destination
  keyIndex: number
  sourceId: string
}>
