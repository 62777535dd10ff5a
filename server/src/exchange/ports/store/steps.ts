import type { AssetId } from '../../../core/domain/asset.ts'
import type { Exchange, ExchangeStatus, StatusReason } from '../../domain/exchange.ts'
import type { Destination } from '../chain.ts'
import type { Execution } from './execution.ts'

/** Where an execution stands among those of its exchange: legs in order, deposits in order. */
export type ExecutionPosition = Readonly<{ leg: number; depositId: string }>

/** One exchange with what its step needs. `now` is the database's clock; `heads` the watchers' cursors. */
export type StepContext = Readonly<{
  exchange: Exchange
  /**
   * A window of the executions that may need work, in their order: the open ones, and closed ones whose deposit left the
   * chain, came back, or lies there uncounted.
   */
  executions: readonly Execution[]
  /** The window's executions come after this one; null = it is the first. */
  after: ExecutionPosition | null
  /** Where the next window begins; null = this is the last. */
  next: ExecutionPosition | null
  sighted: boolean
  now: Date
  heads: ReadonlyMap<string, number>
}>

/** Where an exchange stands by all of its executions, however many they are. */
export type ExecutionSummary = Readonly<{
  /** Of each status the last execution, in their order. */
  latestByStatus: readonly Pick<Execution, 'leg' | 'status' | 'reason'>[]
  /** A deposit is counted and off the chain, or on the chain and lost or not counted. */
  needsRepair: boolean
}>

export type ExecutionChange = Partial<
  Pick<
    Execution,
    'receivedUnits' | 'dueUnits' | 'rateKind' | 'orderId' | 'sentUnits' | 'payoutHash' | 'decision' | 'onRelease'
  >
> &
  Readonly<{ id: string; status: ExchangeStatus; reason: StatusReason | null }>

export type ExchangeChange = Readonly<{
  status: ExchangeStatus
  reason: StatusReason | null
  nextCheckAt: Date | null
  /** Where the next step begins; null = at the first execution. */
  next: ExecutionPosition | null
}>

/** What the stepper works on. */
export interface StepStore {
  /**
   * With the exchange row locked inside a transaction; without a lock outside of one. The window after the given place:
   * null = the first; left out = where the last step stopped.
   */
  load(id: string, after?: ExecutionPosition | null): Promise<StepContext | null>
  summarize(id: string): Promise<ExecutionSummary>
  /** Whether a fixed rate serves another deposit of this leg and asset: one that has it, or an earlier one on the chain. */
  isRateUsed(exchangeId: string, place: ExecutionPosition, assetId: AssetId): Promise<boolean>
  saveExecution(
    exchangeId: string,
    change: ExecutionChange,
    event: string,
    detail?: Record<string, unknown>,
  ): Promise<void>
  save(id: string, change: ExchangeChange): Promise<void>
  /** Where an execution's payout arrives as the next leg's deposit. In the step's transaction, before the payout is there. */
  addDepositTarget(target: DepositTarget): Promise<void>
}

/** A fresh destination of a further leg; `sourceId` is the execution that pays there. */
export type DepositTarget = Readonly<{
  exchangeId: string
  leg: number
  network: string
  destination: Destination
  keyIndex: number
  sourceId: string
}>
