import { assert, unreachable } from '../../lib/assert.ts'
import type { ExchangeStatus, StatusReason } from './exchange.ts'

/** Allowed status changes of an execution. A test compares them with docs/lifecycle.md and the table `status_edges`. */
export const nextStatuses: Readonly<Record<ExchangeStatus, readonly ExchangeStatus[]>> = {
  pending: ['confirming', 'failed'],
  confirming: ['exchanging', 'pending', 'verifying', 'refunding', 'failed'],
  exchanging: ['pending', 'verifying', 'refunding', 'sending'],
  sending: ['verifying', 'finished'],
  refunding: ['verifying', 'failed', 'refunded'],
  verifying: ['exchanging', 'sending', 'refunding', 'failed'],
  finished: [],
  failed: ['refunding'],
  refunded: [],
}

export const terminals: readonly ExchangeStatus[] = ['finished', 'failed', 'refunded']
export const isTerminal = (status: ExchangeStatus): boolean => terminals.includes(status)

/** Changes a status. Throws unless `nextStatuses` allows it. */
export function moveTo<T extends { id: string; status: ExchangeStatus }>(
  row: T,
  status: ExchangeStatus,
  reason: StatusReason | null,
): T & { reason: StatusReason | null } {
  assert(
    row.status === status || nextStatuses[row.status].includes(status),
    `execution ${row.id}: ${row.status} → ${status}`,
  )
  return { ...row, status, reason }
}

/**
 * The operator's decision about a held execution: `release` continues what the hold interrupted, `refund` returns the
 * deposit, `convert` converts what was to be refunded, `fail` closes it.
 */
export const decisions = ['release', 'refund', 'convert', 'fail'] as const
export type Decision = (typeof decisions)[number]

/** The state of one execution when a step starts. */
export type Facts = Readonly<{
  status: ExchangeStatus
  /** `deep`: enough confirmations on the chain that the watcher stored. `missing`: it left its block and is in no other. */
  deposit: 'shallow' | 'deep' | 'missing'
  /** The deposit is credited in the ledger. */
  credited: boolean
  /** When the deposit was deep enough, a check found that nothing had been received. */
  rejected: boolean
  /** The deposit left the chain after its payout was signed, and is booked as a loss. */
  isBookedAsLoss: boolean
  /** Whether the exchange has expired, by the database's clock. Of a second leg: nothing can fund it any more. */
  expired: boolean
  fill: 'none' | 'filled' | 'rejected' | 'unknown'
  /** Not signed: `reserved` (queued), `limited` (above the limit of one payout), `refused` (it failed or would fail on its chain). */
  payout: 'none' | 'reserved' | 'limited' | 'refused' | 'signed' | 'confirmed'
  /** Naming a missing refund address counts as a release. */
  decision: Decision | null
  /**
   * State of what funds a second leg: `unconfirmed` = our payment between the legs lacks confirmations; `missing` = the
   * customer's deposit is not on its chain; `returned` = the leg is held for a missing deposit, and the deposit is back.
   * A first leg is always `sound`.
   */
  source: 'unconfirmed' | 'sound' | 'missing' | 'returned'
  /** The next leg has its deposit. True for the last leg. */
  nextLegFunded: boolean
  /** A network that the execution needs next is not configured: it was removed while the exchange was open. */
  isNetworkMissing: boolean
  /** A private leg waited longer than `stallMs` and is refunded in the source asset. */
  stalled: boolean
}>

/** The next action for an execution. */
export type Step =
  | { act: 'wait' }
  | { act: 'reopen' }
  | { act: 'credit' }
  /** Back to `pending`, with conversion and credit reversed. */
  | { act: 'revertToPending' }
  | { act: 'bookLoss' }
  | { act: 'reverseLoss' }
  | { act: 'convert' }
  | { act: 'queuePayout' }
  | { act: 'send' }
  | { act: 'refund'; reason: StatusReason }
  | { act: 'queueRefund' }
  | { act: 'hold'; reason: StatusReason }
  /** Nothing was signed for this leg. Signs nothing until the customer's deposit is back. */
  | { act: 'holdForSource' }
  | { act: 'resume' }
  | { act: 'reconvert' }
  | { act: 'close'; status: 'finished' | 'refunded' | 'failed'; reason: StatusReason | null }

const wait: Step = { act: 'wait' }
/** The operator decides, or configures the network again. */
const networkMissing: Step = { act: 'hold', reason: 'NETWORK_UNAVAILABLE' }

/** Pure: the same facts give the same step. */
export function decide(facts: Facts): Step {
  switch (facts.status) {
    case 'pending':
      if (facts.deposit !== 'missing') return { act: 'reopen' }
      return facts.expired ? { act: 'close', status: 'failed', reason: 'DEPOSIT_VANISHED' } : wait
    case 'confirming':
      if (facts.deposit === 'missing') return { act: 'revertToPending' }
      if (facts.isNetworkMissing) return networkMissing
      return facts.deposit === 'deep' && facts.source !== 'unconfirmed' ? { act: 'credit' } : wait
    case 'exchanging':
      return exchanging(facts)
    case 'sending':
      return sending(facts)
    case 'refunding':
      return refunding(facts)
    case 'verifying':
      return verifying(facts)
    case 'failed':
      return failed(facts)
    case 'finished':
    case 'refunded':
      return bookOrReverseLoss(facts)
    default:
      return unreachable(facts.status)
  }
}

/** After a signed payout or a terminal status, a deposit that leaves the chain is a loss until it is back. */
function bookOrReverseLoss(facts: Facts): Step {
  if (facts.deposit === 'missing') return facts.credited ? { act: 'bookLoss' } : wait
  return facts.isBookedAsLoss && facts.deposit === 'deep' ? { act: 'reverseLoss' } : wait
}

/** No transaction for it was signed, or all of them are proved invalidated. */
const isUnsigned = ({ payout }: Facts): boolean => payout !== 'signed' && payout !== 'confirmed'

/** The payout queue set it aside: the operator releases or refunds it. */
function holdPayout({ payout }: Facts): Step | null {
  if (payout === 'limited') return { act: 'hold', reason: 'LIMIT' }
  return payout === 'refused' ? { act: 'hold', reason: 'OPERATOR' } : null
}

function exchanging(facts: Facts): Step {
  if (facts.deposit === 'missing' && isUnsigned(facts)) return { act: 'revertToPending' }
  if (facts.deposit === 'missing') return bookOrReverseLoss(facts)
  const hold = holdPayout(facts)
  if (hold) return hold
  if (!isUnsigned(facts)) return { act: 'send' }
  if (facts.source === 'missing') return { act: 'holdForSource' }
  if (facts.isNetworkMissing) return networkMissing
  // Nothing is signed, so a refund cannot become a second payout.
  if (facts.stalled && facts.fill !== 'unknown' && facts.decision === null)
    return { act: 'refund', reason: 'NO_LIQUIDITY' }
  if (facts.payout === 'reserved') return wait
  switch (facts.fill) {
    case 'none':
      return { act: 'convert' }
    case 'filled':
      return { act: 'queuePayout' }
    case 'rejected':
      // The operator decided to try again.
      return facts.decision === 'convert' ? { act: 'convert' } : { act: 'refund', reason: 'NO_LIQUIDITY' }
    case 'unknown':
      return wait
    default:
      return unreachable(facts.fill)
  }
}

function sending(facts: Facts): Step {
  // Without the next leg's deposit, a finished leg would make the exchange look finished.
  if (facts.payout === 'confirmed')
    return facts.nextLegFunded ? { act: 'close', status: 'finished', reason: null } : wait
  // Its transaction was invalidated and the payout queued again: never pay for a missing deposit.
  if (isUnsigned(facts) && facts.deposit === 'missing') return { act: 'hold', reason: 'DEPOSIT_VANISHED' }
  const hold = holdPayout(facts)
  if (hold) return hold
  if (!isUnsigned(facts)) return bookOrReverseLoss(facts)
  if (facts.source === 'missing') return { act: 'holdForSource' }
  return facts.isNetworkMissing ? networkMissing : bookOrReverseLoss(facts)
}

function refunding(facts: Facts): Step {
  if (facts.payout === 'confirmed') return { act: 'close', status: 'refunded', reason: null }
  if (facts.deposit === 'missing')
    return isUnsigned(facts) ? { act: 'hold', reason: 'DEPOSIT_VANISHED' } : bookOrReverseLoss(facts)
  const hold = holdPayout(facts)
  if (hold) return hold
  if (isUnsigned(facts) && facts.source === 'missing') return { act: 'holdForSource' }
  if (isUnsigned(facts) && facts.isNetworkMissing) return networkMissing
  return facts.payout === 'none' ? { act: 'queueRefund' } : wait
}

/** Held until the operator decides, or until the partner names a missing refund address. A transaction that was signed before the hold is awaited first. */
function verifying(facts: Facts): Step {
  if (facts.payout === 'confirmed') return { act: 'resume' }
  if (facts.payout === 'signed') return bookOrReverseLoss(facts)
  if (facts.isBookedAsLoss) {
    if (facts.deposit === 'deep') return { act: 'reverseLoss' }
    // The signed transaction was invalidated: nothing left, so the hold reverses the loss and the rest.
    return facts.deposit === 'missing' ? { act: 'hold', reason: 'DEPOSIT_VANISHED' } : wait
  }
  if (!facts.credited) return verifyingUncredited(facts)
  if (facts.deposit === 'missing') return { act: 'hold', reason: 'DEPOSIT_VANISHED' }
  if (facts.source === 'missing' && facts.decision !== null && facts.decision !== 'fail')
    return { act: 'holdForSource' }
  switch (facts.decision) {
    case null:
      return facts.source === 'returned' ? { act: 'resume' } : wait
    case 'release':
      return { act: 'resume' }
    case 'refund':
      return { act: 'refund', reason: 'OPERATOR' }
    case 'convert':
      return { act: 'reconvert' }
    case 'fail':
      return { act: 'close', status: 'failed', reason: 'OPERATOR' }
    default:
      return unreachable(facts.decision)
  }
}

/** Held because its deposit left the chain. When it is back and deep, it is credited and continues. */
function verifyingUncredited(facts: Facts): Step {
  if (facts.deposit === 'deep' && !facts.rejected && facts.source !== 'unconfirmed') return { act: 'credit' }
  if (facts.decision === 'fail') return { act: 'close', status: 'failed', reason: 'OPERATOR' }
  return facts.deposit === 'missing' && facts.expired
    ? { act: 'close', status: 'failed', reason: 'DEPOSIT_VANISHED' }
    : wait
}

/** A deposit that appears after the execution failed is credited and refunded. */
function failed(facts: Facts): Step {
  const isNew =
    facts.deposit === 'deep' &&
    facts.source !== 'unconfirmed' &&
    !facts.credited &&
    !facts.rejected &&
    !facts.isBookedAsLoss
  return isNew && facts.payout === 'none' ? { act: 'credit' } : bookOrReverseLoss(facts)
}

type ExchangeState = Readonly<{ status: ExchangeStatus; reason: StatusReason | null }>
type ExecutionState = ExchangeState & Readonly<{ leg: number }>

/** A pending first leg waits for the customer, who may never pay. A pending second leg waits for our own payment, so it is open. */
export const isOpenExecution = ({ status, leg }: Pick<ExecutionState, 'status' | 'leg'>): boolean =>
  !isTerminal(status) && (status !== 'pending' || leg > 0)

/**
 * The exchange's status: that of its latest open execution; if none is open, `finished` if one finished, else `refunded`,
 * else `failed` (docs/lifecycle.md). `executions` are in the order of their deposits; the last one of each status suffices.
 * Only the last leg finishes the exchange.
 */
export function overallStatus(
  current: ExchangeState,
  executions: readonly ExecutionState[],
  waiting: { sighted: boolean; expired: boolean; lastLeg: number },
): ExchangeState {
  if (current.status === 'finished' || current.status === 'refunded') return current
  const open = executions.findLast(isOpenExecution)
  if (current.status === 'failed') return open?.status === 'refunding' ? open : current
  if (open) return open
  for (const status of terminals.filter((terminal) => terminal !== 'failed')) {
    const endsExchange = ({ leg }: ExecutionState) => status !== 'finished' || leg === waiting.lastLeg
    const closed = executions.filter((execution) => execution.status === status && endsExchange(execution)).at(-1)
    if (closed) return closed
  }
  const hasMissingDeposit = executions.some(({ status }) => status === 'pending')
  const failed = executions.filter(({ status }) => status === 'failed').at(-1)
  if (failed && !hasMissingDeposit && !waiting.sighted) return failed
  // A payment that is in no block expires like any other, so that it does not keep an exchange open without end (M1).
  if (waiting.expired) return failed ?? { status: 'failed', reason: hasMissingDeposit ? 'DEPOSIT_VANISHED' : 'EXPIRED' }
  if (waiting.sighted) return { status: 'confirming', reason: null }
  return { status: 'pending', reason: hasMissingDeposit ? 'DEPOSIT_VANISHED' : null }
}
