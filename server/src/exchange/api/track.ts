import { routes, type TrackingQuery, type TrackedExchange as WireTracked } from '@swapyard/schema'
import { formatUnits } from '../../core/domain/amount.ts'
import { AppError } from '../../core/domain/errors.ts'
import { sendTagged } from '../../core/http/etag.ts'
import { type ApiContext, mount } from '../../core/http/mount.ts'
import { serializeAnswer } from '../../core/http/serialize.ts'
import type { TrackedDeposit, TrackedExchange } from '../domain/tracked-exchange.ts'
import type { ExchangeServices } from '../interfaces.ts'
import { type PresentDeps, presentDeadlines, presentRefund, presentRequest } from './present.ts'

/** The status by the token of a tracking link, for wallets and pages of every origin. */
export function mountTrackedStatus(context: ApiContext<ExchangeServices>, deps: PresentDeps): void {
  mount(context, routes.getTrackedExchange, async (request, reply) => {
    const tracked = await context.services.tracking.find((request.query as TrackingQuery).token)
    if (tracked === null)
      throw new AppError('EXCHANGE_NOT_FOUND', 'no exchange with this token: use the token of a trackingUrl', {
        field: 'token',
      })
    return sendTagged(request, reply, serializeAnswer(reply, presentTracked(tracked, deps)))
  })
}

function presentTracked(tracked: TrackedExchange, deps: PresentDeps): WireTracked {
  const { exchange, current, deposits } = tracked
  const required = current === null ? (exchange.estimate?.confirmations ?? null) : current.confirmations.required
  return {
    id: exchange.id,
    created: exchange.createdAt.toISOString(),
    exchangeType: exchange.type,
    status: tracked.status,
    statusReason: tracked.reason,
    request: presentRequest(exchange, deps),
    deposits: deposits.map((one) => presentDeposit(one, tracked, deps)),
    needsRefundAddress: tracked.needsRefundAddress,
    ...presentDeadlines(exchange),
    confirmationsRequired: required,
    confirmationsSeen: current === null ? 0 : current.confirmations.seen,
    expectedSeconds: deps.expectations.payerSecondsOf(tracked),
  }
}

function presentDeposit(deposit: TrackedDeposit, { from, to }: TrackedExchange, deps: PresentDeps) {
  const { receivedUnits, sentUnits, refund, confirmations } = deposit
  return {
    amountFromReceived: receivedUnits === null ? null : formatUnits(receivedUnits, from.decimals),
    amountToReceived: sentUnits === null ? null : formatUnits(sentUnits, to.decimals),
    status: deposit.status,
    statusReason: deposit.reason,
    payinHash: deposit.payinHash,
    payoutHash: deposit.payoutHash,
    refund: refund === null ? null : presentRefund(refund, from, deps),
    created: deposit.createdAt.toISOString(),
    confirmationsRequired: confirmations.required,
    confirmationsSeen: confirmations.seen,
  }
}
