import { assert, unreachable } from '../lib/assert.ts'
import type { ExchangeStatus, StatusReason } from './exchange.ts'

/** Every edge an execution may take; docs/lifecycle.md and the table `status_edges` are held to it by a test. */
export const next: Readonly<Record<ExchangeStatus, readonly ExchangeStatus[]>> = {
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

/** The only way a status changes. */
export function moveTo<T extends { id: string; status: ExchangeStatus }>(row: T, status: ExchangeStatus, reason: StatusReason | null): T & { reason: StatusReason | null } {
  assert(row.status === status || next[row.status].includes(status), `execution ${row.id}: ${row.status} → ${status}`)
  return { ...row, status, reason }
}

/** What is known of one execution when it is stepped. */
export type Facts = Readonly<{
  status: ExchangeStatus
  /** `deep`: enough confirmations on the chain that the watcher stored. `gone`: it was in a block and is in none now. */
  deposit: 'shallow' | 'deep' | 'gone'
  /** The deposit is counted in the ledger. */
  credited: boolean
  /** It was counted, left the chain after money had left, and is booked as a loss. */
  lost: boolean
  /** Whether the exchange has expired, by the database's clock. */
  expired: boolean
  fill: 'none' | 'filled' | 'rejected' | 'unknown'
  payout: 'none' | 'reserved' | 'signed' | 'confirmed' | 'held'
  decision: 'release' | 'refund' | 'fail' | null
}>

/** What an execution needs next. */
export type Step =
  | { act: 'wait' }
  | { act: 'reopen' }
  | { act: 'credit' }
  | { act: 'vanish' }
  | { act: 'lose' }
  | { act: 'recover' }
  | { act: 'convert' }
  | { act: 'reservePayout' }
  | { act: 'send' }
  | { act: 'refund'; reason: StatusReason }
  | { act: 'reserveRefund' }
  | { act: 'hold'; reason: StatusReason }
  | { act: 'resume' }
  | { act: 'close'; status: 'finished' | 'refunded' | 'failed'; reason: StatusReason | null }

const wait: Step = { act: 'wait' }

/** Pure: the same facts always give the same step. */
export function decide(facts: Facts): Step {
  switch (facts.status) {
    case 'pending':
      if (facts.deposit !== 'gone') return { act: 'reopen' }
      return facts.expired ? { act: 'close', status: 'failed', reason: 'DEPOSIT_VANISHED' } : wait
    case 'confirming':
      if (facts.deposit === 'gone') return { act: 'vanish' }
      return facts.deposit === 'deep' ? { act: 'credit' } : wait
    case 'exchanging':
      return exchanging(facts)
    case 'sending':
      if (facts.payout === 'confirmed') return { act: 'close', status: 'finished', reason: null }
      return afterTheFact(facts)
    case 'refunding':
      return refunding(facts)
    case 'verifying':
      return verifying(facts)
    case 'finished':
    case 'refunded':
    case 'failed':
      return afterTheFact(facts)
    default:
      return unreachable(facts.status)
  }
}

/** Money has left, or never will: a deposit that leaves the chain is a loss until it is back. */
function afterTheFact(facts: Facts): Step {
  if (facts.deposit === 'gone') return facts.credited ? { act: 'lose' } : wait
  return facts.lost && facts.deposit === 'deep' ? { act: 'recover' } : wait
}

function exchanging(facts: Facts): Step {
  if (facts.deposit === 'gone') return facts.payout === 'none' || facts.payout === 'reserved' || facts.payout === 'held' ? { act: 'vanish' } : { act: 'lose' }
  if (facts.payout === 'held') return { act: 'hold', reason: 'LIMIT' }
  if (facts.payout === 'signed' || facts.payout === 'confirmed') return { act: 'send' }
  if (facts.payout === 'reserved') return wait
  switch (facts.fill) {
    case 'none':
      return { act: 'convert' }
    case 'filled':
      return { act: 'reservePayout' }
    case 'rejected':
      return { act: 'refund', reason: 'NO_LIQUIDITY' }
    case 'unknown':
      return wait
    default:
      return unreachable(facts.fill)
  }
}

function refunding(facts: Facts): Step {
  if (facts.payout === 'confirmed') return { act: 'close', status: 'refunded', reason: null }
  if (facts.deposit === 'gone') return facts.payout === 'signed' ? { act: 'lose' } : { act: 'hold', reason: 'DEPOSIT_VANISHED' }
  if (facts.payout === 'held') return { act: 'hold', reason: 'LIMIT' }
  return facts.payout === 'none' ? { act: 'reserveRefund' } : wait
}

/** Held. Only a person's decision moves it on; money that is already signed for takes its course first. */
function verifying(facts: Facts): Step {
  if (facts.payout === 'signed') return afterTheFact(facts)
  if (facts.payout === 'confirmed') return { act: 'resume' }
  if (!facts.credited && !facts.lost) {
    // It was held because its deposit vanished: back on the chain it is counted again, and goes its way.
    if (facts.deposit === 'deep') return { act: 'credit' }
    if (facts.deposit === 'gone' && facts.expired) return { act: 'close', status: 'failed', reason: 'DEPOSIT_VANISHED' }
  }
  if (facts.deposit === 'gone' && facts.credited) return { act: 'hold', reason: 'DEPOSIT_VANISHED' }
  switch (facts.decision) {
    case null:
      return wait
    case 'release':
      return facts.deposit === 'gone' ? wait : { act: 'resume' }
    case 'refund':
      return facts.deposit === 'gone' ? wait : { act: 'refund', reason: 'OPERATOR' }
    case 'fail':
      return { act: 'close', status: 'failed', reason: 'OPERATOR' }
    default:
      return unreachable(facts.decision)
  }
}

type ExecutionState = Readonly<{ status: ExchangeStatus; reason: StatusReason | null }>

/**
 * The exchange's status: that of its latest open execution; when none is open `finished` if one finished, else
 * `refunded`, else `failed` (decisions: "Several deposits"). `executions` in order of their deposits.
 */
export function overallStatus(
  current: ExecutionState,
  executions: readonly ExecutionState[],
  waiting: { sighted: boolean; expired: boolean },
): ExecutionState {
  if (current.status === 'finished' || current.status === 'refunded') return current
  const open = executions.filter(({ status }) => !isTerminal(status) && status !== 'pending').at(-1)
  if (current.status === 'failed') return open?.status === 'refunding' ? open : current
  if (open) return open
  for (const status of terminals.filter((terminal) => terminal !== 'failed')) {
    const closed = executions.find((execution) => execution.status === status)
    if (closed) return closed
  }
  const vanished = executions.some(({ status }) => status === 'pending')
  const failed = executions.filter(({ status }) => status === 'failed').at(-1)
  if (failed && !vanished && !waiting.sighted) return failed
  if (waiting.sighted) return { status: 'confirming', reason: null }
  if (waiting.expired) return failed ?? { status: 'failed', reason: vanished ? 'DEPOSIT_VANISHED' : 'EXPIRED' }
  return { status: 'pending', reason: vanished ? 'DEPOSIT_VANISHED' : null }
}
