import { assert, unreachable } from '../../lib/assert.ts'
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
export function moveTo<T extends { id: string; status: ExchangeStatus }>(
  row: T,
  status: ExchangeStatus,
  reason: StatusReason | null,
): T & { reason: StatusReason | null } {
  assert(row.status === status || next[row.status].includes(status), `execution ${row.id}: ${row.status} → ${status}`)
  return { ...row, status, reason }
}

/**
 * What a person says of a held execution: on where it was going, back to whoever sent it, converted although it was on its
 * way back, or closed.
 */
export const decisions = ['release', 'refund', 'convert', 'fail'] as const
export type Decision = (typeof decisions)[number]

/** What is known of one execution when it is stepped. */
export type Facts = Readonly<{
  status: ExchangeStatus
  /** `deep`: enough confirmations on the chain that the watcher stored. `gone`: it was in a block and is in none now. */
  deposit: 'shallow' | 'deep' | 'gone'
  /** The deposit is counted in the ledger. */
  credited: boolean
  /** It was looked at when it was deep enough, and nothing had been received. */
  rejected: boolean
  /** It was counted, left the chain after money had left, and is booked as a loss. */
  lost: boolean
  /** Whether the exchange has expired, by the database's clock. */
  expired: boolean
  fill: 'none' | 'filled' | 'rejected' | 'unknown'
  /** Not signed: `reserved` (in the queue), `limited` (above the limit of one payout), `refused` (it failed or would fail on its chain). */
  payout: 'none' | 'reserved' | 'limited' | 'refused' | 'signed' | 'confirmed'
  decision: Decision | null
  /**
   * Of a further leg, whose deposit is our own payment: `unpaid` = that has no confirmations yet, `gone` = what the customer
   * paid for it is not on its chain, `back` = it is held for that and the deposit is there again. A first leg's is `sound`.
   */
  source: 'unpaid' | 'sound' | 'gone' | 'back'
  /** The next leg has its deposit; true of the last leg. */
  handedOn: boolean
  /** A private leg could not be paid for so long that it goes back to the source coin. */
  stalled: boolean
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
  /** Nothing has left the house yet, and nothing does until what was paid to it is there again. */
  | { act: 'holdForSource' }
  | { act: 'resume' }
  | { act: 'convertAnew' }
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
      return facts.deposit === 'deep' && facts.source !== 'unpaid' ? { act: 'credit' } : wait
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

/** No transaction that pays for it can confirm any more, or there never was one. */
const isUnsigned = ({ payout }: Facts): boolean => payout !== 'signed' && payout !== 'confirmed'

/** The queue put it aside: a person lets it go, or sends the deposit back. */
function heldPayout({ payout }: Facts): Step | null {
  if (payout === 'limited') return { act: 'hold', reason: 'LIMIT' }
  return payout === 'refused' ? { act: 'hold', reason: 'OPERATOR' } : null
}

function exchanging(facts: Facts): Step {
  if (facts.deposit === 'gone') return isUnsigned(facts) ? { act: 'vanish' } : facts.credited ? { act: 'lose' } : wait
  const held = heldPayout(facts)
  if (held) return held
  if (!isUnsigned(facts)) return { act: 'send' }
  if (facts.source === 'gone') return { act: 'holdForSource' }
  // Nothing is signed: the way back is open, and no second payout can come of the first.
  if (facts.stalled && facts.fill !== 'unknown' && facts.decision === null)
    return { act: 'refund', reason: 'NO_LIQUIDITY' }
  if (facts.payout === 'reserved') return wait
  switch (facts.fill) {
    case 'none':
      return { act: 'convert' }
    case 'filled':
      return { act: 'reservePayout' }
    case 'rejected':
      // A person wants it tried again.
      return facts.decision === 'convert' ? { act: 'convert' } : { act: 'refund', reason: 'NO_LIQUIDITY' }
    case 'unknown':
      return wait
    default:
      return unreachable(facts.fill)
  }
}

function sending(facts: Facts): Step {
  // Its coins are on the way to us still, and the exchange would look as if it were over.
  if (facts.payout === 'confirmed') return facts.handedOn ? { act: 'close', status: 'finished', reason: null } : wait
  // Its transaction is provably dead: the payout is in the queue again, and not for a deposit that is gone.
  if (isUnsigned(facts) && facts.deposit === 'gone') return { act: 'hold', reason: 'DEPOSIT_VANISHED' }
  const held = heldPayout(facts)
  if (held) return held
  return isUnsigned(facts) && facts.source === 'gone' ? { act: 'holdForSource' } : afterTheFact(facts)
}

function refunding(facts: Facts): Step {
  if (facts.payout === 'confirmed') return { act: 'close', status: 'refunded', reason: null }
  if (facts.deposit === 'gone')
    return isUnsigned(facts) ? { act: 'hold', reason: 'DEPOSIT_VANISHED' } : afterTheFact(facts)
  const held = heldPayout(facts)
  if (held) return held
  if (isUnsigned(facts) && facts.source === 'gone') return { act: 'holdForSource' }
  return facts.payout === 'none' ? { act: 'reserveRefund' } : wait
}

/** Held. Only a person's decision moves it on; money that is already signed for takes its course first. */
function verifying(facts: Facts): Step {
  if (facts.payout === 'confirmed') return { act: 'resume' }
  if (facts.payout === 'signed') return afterTheFact(facts)
  if (facts.lost) {
    if (facts.deposit === 'deep') return { act: 'recover' }
    // It was signed for, and that transaction is dead: nothing has left after all, and everything is taken back.
    return facts.deposit === 'gone' ? { act: 'hold', reason: 'DEPOSIT_VANISHED' } : wait
  }
  if (!facts.credited) return uncounted(facts)
  if (facts.deposit === 'gone') return { act: 'hold', reason: 'DEPOSIT_VANISHED' }
  if (facts.source === 'gone' && facts.decision !== null && facts.decision !== 'fail') return { act: 'holdForSource' }
  switch (facts.decision) {
    case null:
      return facts.source === 'back' ? { act: 'resume' } : wait
    case 'release':
      return { act: 'resume' }
    case 'refund':
      return { act: 'refund', reason: 'OPERATOR' }
    case 'convert':
      return { act: 'convertAnew' }
    case 'fail':
      return { act: 'close', status: 'failed', reason: 'OPERATOR' }
    default:
      return unreachable(facts.decision)
  }
}

/** Held because its deposit vanished: back on the chain it is counted again and goes its way. Nothing is paid for it before. */
function uncounted(facts: Facts): Step {
  if (facts.deposit === 'deep' && !facts.rejected && facts.source !== 'unpaid') return { act: 'credit' }
  if (facts.decision === 'fail') return { act: 'close', status: 'failed', reason: 'OPERATOR' }
  return facts.deposit === 'gone' && facts.expired
    ? { act: 'close', status: 'failed', reason: 'DEPOSIT_VANISHED' }
    : wait
}

/** A deposit that was given up and is on the chain after all is counted, and goes back. */
function failed(facts: Facts): Step {
  const isNew =
    facts.deposit === 'deep' && facts.source !== 'unpaid' && !facts.credited && !facts.rejected && !facts.lost
  return isNew && facts.payout === 'none' ? { act: 'credit' } : afterTheFact(facts)
}

type ExchangeState = Readonly<{ status: ExchangeStatus; reason: StatusReason | null }>
type ExecutionState = ExchangeState & Readonly<{ leg: number }>

/** A first leg's `pending` waits for somebody who may never pay, a further one's for a payment of our own. */
export const isUnderWay = ({ status, leg }: Pick<ExecutionState, 'status' | 'leg'>): boolean =>
  !isTerminal(status) && (status !== 'pending' || leg > 0)

/**
 * The exchange's status: that of its latest open execution; when none is open `finished` if one finished, else
 * `refunded`, else `failed` (docs/lifecycle.md). `executions` in order of their deposits; the last one of each
 * status says as much as all of them. A leg that is not the last finishes nothing but itself.
 */
export function overallStatus(
  current: ExchangeState,
  executions: readonly ExecutionState[],
  waiting: { sighted: boolean; expired: boolean; lastLeg: number },
): ExchangeState {
  if (current.status === 'finished' || current.status === 'refunded') return current
  const open = executions.findLast(isUnderWay)
  if (current.status === 'failed') return open?.status === 'refunding' ? open : current
  if (open) return open
  for (const status of terminals.filter((terminal) => terminal !== 'failed')) {
    const ends = ({ leg }: ExecutionState) => status !== 'finished' || leg === waiting.lastLeg
    const closed = executions.filter((execution) => execution.status === status && ends(execution)).at(-1)
    if (closed) return closed
  }
  const vanished = executions.some(({ status }) => status === 'pending')
  const failed = executions.filter(({ status }) => status === 'failed').at(-1)
  if (failed && !vanished && !waiting.sighted) return failed
  if (waiting.sighted) return { status: 'confirming', reason: null }
  if (waiting.expired) return failed ?? { status: 'failed', reason: vanished ? 'DEPOSIT_VANISHED' : 'EXPIRED' }
  return { status: 'pending', reason: vanished ? 'DEPOSIT_VANISHED' : null }
}
