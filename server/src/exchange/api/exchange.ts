import { type CreateExchangeBody, type CreatePrivateExchangeBody, type RouteDefinition, routes } from '@swapyard/schema'
import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import { readIdempotency } from '../../core/http/idempotency.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import type { Idempotency } from '../../core/services/interfaces.ts'
import type { ExchangeView } from '../domain/exchange.ts'
import type { ExchangeOrder, ExchangeServices, PrivateExchangeOrder } from '../interfaces.ts'
import { isIssuedQuote, type PresentDeps, presentCreated, presentRateQuote } from './present.ts'
import { identitiesOf } from './rate.ts'

export function mountExchange(context: ApiContext<ExchangeServices>, deps: PresentDeps): void {
  const { services } = context
  mountCreate(context, deps, routes.createExchange, ({ partner, body, idempotency }) =>
    services.createExchange(partner, toOrder(body as CreateExchangeBody), idempotency),
  )
}

export function mountPrivateExchange(context: ApiContext<ExchangeServices>, deps: PresentDeps): void {
  const { services } = context
  mountCreate(context, deps, routes.createPrivateExchange, ({ partner, body, idempotency }) =>
    services.createPrivateExchange(partner, toPrivateOrder(body as CreatePrivateExchangeBody), idempotency),
  )
}

type CreateRequest = Readonly<{ partner: Partner; body: unknown; idempotency: Idempotency | null }>

function mountCreate(
  context: ApiContext<ExchangeServices>,
  deps: PresentDeps,
  route: RouteDefinition,
  create: (input: CreateRequest) => Promise<ExchangeView>,
): void {
  mount(context, route, async (request, reply) => {
    const { partner } = callerOf(request)
    const pendingView = create({ partner, body: request.body, idempotency: readIdempotency(request, route) })
    const view = await withTimeout(context.settings.createTimeoutMs, pendingView).catch((error: unknown) => {
      throw withPresentedRequote(error)
    })
    reply.code(201).header('cache-control', 'no-store')
    return presentCreated(view, deps)
  })
}

/** Converts the fresh quote in a RATE_ID_EXPIRED problem from a domain value to JSON. */
function withPresentedRequote(error: unknown): unknown {
  if (!(error instanceof AppError) || !error.problems.some((problem) => isIssuedQuote(problem['requote']))) return error
  return new AppError(error.code, error.message, {
    problems: error.problems.map((problem) =>
      isIssuedQuote(problem['requote']) ? { ...problem, requote: presentRateQuote(problem['requote']) } : problem,
    ),
    cause: error,
  })
}

/** A timer of our own: Fastify's timeout creates an AbortSignal per request, which costs more than the rest of its handling. */
async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    const message = `no result after ${ms / 1_000} s; the exchange may exist: repeat with the same Idempotency-Key`
    timer = setTimeout(() => reject(new AppError('OVERLOADED', message)), ms)
  })
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}

/** Copies known members only, so that no other member of the body reaches the service. */
function toOrder(body: CreateExchangeBody): ExchangeOrder {
  return { ...toTerms(body), flow: body.flow, rateId: body.rateId }
}

/** Ignores a rateId: private exchanges have none, so it stays unused. */
function toPrivateOrder(body: CreatePrivateExchangeBody): PrivateExchangeOrder {
  return { ...toTerms(body), privateType: body.privateType ?? 'efficient' }
}

function toTerms(body: CreatePrivateExchangeBody): Omit<ExchangeOrder, 'flow' | 'rateId'> {
  const { fromCurrency, fromNetwork, toCurrency, toNetwork, fromAmount } = body
  const { address, memo, refundAddress, refundMemo, externalId } = body
  const pair = { fromCurrency, fromNetwork, toCurrency, toNetwork, ...identitiesOf(body) }
  return { ...pair, fromAmount, address, memo, refundAddress, refundMemo, externalId }
}
