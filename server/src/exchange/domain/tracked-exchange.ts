import type { Asset } from '../../core/domain/asset.ts'
import { present } from '../../lib/assert.ts'
import type {
  ConfirmationsView,
  Exchange,
  ExchangeStatus,
  ExchangeView,
  ExecutionView,
  RefundView,
  StatusReason,
} from './exchange.ts'
import { isOpenExecution, isTerminal } from './lifecycle.ts'

/** One payment of the payer and what became of it. */
export type TrackedDeposit = Readonly<{
  status: ExchangeStatus
  reason: StatusReason | null
  receivedUnits: bigint | null
  sentUnits: bigint | null
  payinHash: string | null
  /** Transaction to the recipient. */
  payoutHash: string | null
  refund: RefundView | null
  confirmations: ConfirmationsView
  createdAt: Date
}>

/**
 * An exchange as its payer may see it: a deposit with its payout or refund, whatever number of legs lies between. Nothing
 * names the partner, the intermediary or the payment between the legs.
 */
export type TrackedExchange = Readonly<{
  exchange: Exchange
  from: Asset
  to: Asset
  status: ExchangeStatus
  reason: StatusReason | null
  /** In the order of their arrival. */
  deposits: readonly TrackedDeposit[]
  /** The deposit that determines the status: the latest open one, else the latest. */
  current: TrackedDeposit | null
  /** A refund waits for an address. */
  needsRefundAddress: boolean
  /** Whether something may still change. */
  isOpen: boolean
}>

export function trackExchange({ exchange, executions }: ExchangeView): TrackedExchange {
  const deposits = joinLegs(exchange, executions)
  const open = deposits.findLast(({ status }) => isOpenExecution({ status, leg: 0 })) ?? null
  const isClosed = isTerminal(exchange.status)
  const shown = isClosed || open === null ? exchange : open
  return {
    exchange,
    from: present(exchange.legs[0], 'first leg').from,
    to: present(exchange.legs.at(-1), 'last leg').to,
    status: shown.status,
    reason: toPublicReason(shown.reason),
    deposits,
    current: open ?? deposits.at(-1) ?? null,
    needsRefundAddress:
      exchange.refund === null &&
      executions.some(({ status, reason }) => status === 'verifying' && reason === 'REFUND_ADDRESS_REQUIRED'),
    isOpen: !isClosed || executions.some(isOpenExecution),
  }
}

/** Many countries forbid the operator to warn a customer whose payment is screened. */
const toPublicReason = (reason: StatusReason | null): StatusReason | null =>
  reason === 'SCREENING' ? 'OPERATOR' : reason

function joinLegs(exchange: Exchange, executions: readonly ExecutionView[]): readonly TrackedDeposit[] {
  const last = exchange.legs.length - 1
  const deposits = executions.filter(({ leg }) => leg === 0)
  if (last === 0) return deposits.map((one) => toDeposit(one, one))
  const second = executions.filter(({ leg }) => leg === last)
  const byHash = new Map(second.map((one) => [one.payinHash, one]))
  const hashes = new Set(deposits.map(({ payoutHash }) => payoutHash))
  // A reorganisation can leave the first leg with the hash of another attempt.
  const others = second.filter(({ payinHash }) => !hashes.has(payinHash))
  return deposits.map((one) => {
    const byPayout = one.payoutHash === null ? undefined : byHash.get(one.payoutHash)
    const funded = byPayout ?? (one.status === 'finished' ? others.shift() : undefined)
    return funded === undefined ? toDeposit(one, beforePayout(one)) : toDeposit(one, withoutFunding(funded))
  })
}

type Outcome = Pick<ExecutionView, 'status' | 'reason' | 'sentUnits' | 'payoutHash' | 'refund'>

function toDeposit(deposit: ExecutionView, outcome: Outcome): TrackedDeposit {
  const { receivedUnits, payinHash, confirmations, createdAt } = deposit
  const { status, reason, sentUnits, payoutHash, refund } = outcome
  return {
    ...{
      status,
      reason: toPublicReason(reason),
      receivedUnits,
      sentUnits,
      payinHash,
      refund,
      confirmations,
      createdAt,
    },
    payoutHash: refund === null ? payoutHash : null,
  }
}

/** A first leg whose second one is not known yet: its payout is the payment between the legs, and nothing has left. */
function beforePayout(first: ExecutionView): Outcome {
  if (first.refund !== null) return { ...first, sentUnits: null }
  const isBetween = first.status === 'sending' || first.status === 'finished'
  return { ...first, status: isBetween ? 'exchanging' : first.status, sentUnits: null, payoutHash: null }
}

/** The confirmations of the payment between the legs are a part of the exchange. */
function withoutFunding(second: ExecutionView): Outcome {
  const isBetween = second.status === 'pending' || second.status === 'confirming'
  return { ...second, status: isBetween ? 'exchanging' : second.status }
}
