import { type CreateExchangeBody, type CreatePrivateExchangeBody, type RouteDefinition, routes } from '@swapyard/schema'
import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import { readIdempotency } from '../../core/http/idempotency.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import type { Idempotency } from '../../core/services/interfaces.ts'
import type { ExchangeView } from '../domain/exchange.ts'
import type { ExchangeOrder, ExchangeServices, PrivateExchangeOrder } from '../interfaces.ts'
import { isIssuedQuote, type Listing, presentCreated, presentRateQuote } from './present.ts'

export function mountExchange(context: ApiContext<ExchangeServices>, listing: Listing): void {
  const { services } = context
  mountCreate(context, listing, routes.createExchange, ({ partner, body, idempotency }) =>
    services.createExchange(partner, toOrder(body as CreateExchangeBody), idempotency),
  )
}

export function mountPrivateExchange(context: ApiContext<ExchangeServices>, listing: Listing): void {
  const { services } = context
  mountCreate(context, listing, routes.createPrivateExchange, ({ partner, body, idempotency }) =>
    services.createPrivateExchange(partner, toPrivateOrder(body as CreatePrivateExchangeBody), idempotency),
  )
}

type Create = Readonly<{ partner: Partner; body: unknown; idempotency: Idempotency | null }>

function mountCreate(
  context: ApiContext<ExchangeServices>,
  listing: Listing,
  route: RouteDefinition,
  create: (asked: Create) => Promise<ExchangeView>,
): void {
  mount(context, route, async (request, reply) => {
    const { partner } = callerOf(request)
    const creating = create({ partner, body: request.body, idempotency: readIdempotency(request, route) })
    const view = await within(context.settings.createTimeoutMs, creating).catch((error: unknown) => {
      throw withPresentedRequote(error)
    })
    reply.code(201).header('cache-control', 'no-store')
    return presentCreated(view, listing)
  })
}

/** The service puts the fresh quote of RATE_ID_EXPIRED into its problem as a domain value; partners get it as JSON. */
function withPresentedRequote(error: unknown): unknown {
  if (!(error instanceof AppError) || !error.problems.some((problem) => isIssuedQuote(problem['requote']))) return error
  return new AppError(error.code, error.message, {
    problems: error.problems.map((problem) =>
      isIssuedQuote(problem['requote']) ? { ...problem, requote: presentRateQuote(problem['requote']) } : problem,
    ),
    cause: error,
  })
}

/** Fastify's own limit makes and aborts a signal for every request, which costs more than the rest of its handling. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AppError('OVERLOADED', TOO_LATE)), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

const TOO_LATE = 'the request took too long; it may have been carried out: repeat it with the same Idempotency-Key'

/** Member by member: nothing else of the body is ever bound. */
function toOrder(body: CreateExchangeBody): ExchangeOrder {
  const { flow, rateId } = body
  return { ...toTerms(body), flow, ...(rateId === undefined ? {} : { rateId }) }
}

/** A rateId that somebody sends all the same is not looked at, and not used up. */
function toPrivateOrder(body: CreatePrivateExchangeBody): PrivateExchangeOrder {
  return { ...toTerms(body), privateType: body.privateType ?? 'efficient' }
}

function toTerms(body: CreatePrivateExchangeBody): Omit<ExchangeOrder, 'flow' | 'rateId'> {
  const { address, memo, refundAddress, refundMemo } = body
  return {
    fromCurrency: body.fromCurrency,
    fromNetwork: body.fromNetwork,
    toCurrency: body.toCurrency,
    toNetwork: body.toNetwork,
    fromAmount: body.fromAmount,
    ...(address === undefined ? {} : { address }),
    ...(memo === undefined ? {} : { memo }),
    ...(refundAddress === undefined ? {} : { refundAddress }),
    ...(refundMemo === undefined ? {} : { refundMemo }),
  }
}
