import { type BuildSwapBody, routes, type SendApprovalBody, type SendSwapBody } from '@swapyard/schema'
import type { FastifyReply } from 'fastify'
import type { Problem } from '../../core/domain/errors.ts'
import { readIdempotency } from '../../core/http/idempotency.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import { validationError } from '../../core/http/validation.ts'
import type { SendRequest, SwapServices } from '../interfaces.ts'

/** Builds, approves and sends. Members are copied one by one, so no other member of a body is passed on. */
export function mountTransactions(context: ApiContext<{ swaps: SwapServices }>): void {
  const { swaps } = context.services
  mount(context, routes.buildSwap, async (request, reply) => {
    const body = request.body as BuildSwapBody
    const { account, fromTokenAddress, toTokenAddress, amount, network } = body
    const { recipient, maxPriceImpact, externalId } = body
    const percentages = {
      ...{ slippage: String(body.slippage), referrerFee: String(body.referrerFee) },
      ...(maxPriceImpact === undefined ? {} : { maxPriceImpact: String(maxPriceImpact) }),
    }
    const buildRequest = {
      ...{ account, fromTokenAddress, toTokenAddress, amount, network, ...percentages },
      ...(recipient === undefined ? {} : { recipient }),
      ...(externalId === undefined ? {} : { externalId }),
    }
    const built = await swaps.buildSwap(
      callerOf(request).partner,
      buildRequest,
      readIdempotency(request, routes.buildSwap),
    )
    reply.code(201).header('cache-control', 'no-store')
    return built
  })
  mount(context, routes.sendApproval, async (request, reply) => {
    const { network, rawApproveTx } = request.body as SendApprovalBody
    const idempotency = readIdempotency(request, routes.sendApproval)
    return sendText(reply, await swaps.sendApproval(callerOf(request).partner, { network, rawApproveTx }, idempotency))
  })
  mount(context, routes.sendSwap, async (request, reply) => {
    const idempotency = readIdempotency(request, routes.sendSwap)
    const sendRequest = toRequest(request.body as SendSwapBody)
    return sendText(reply, await swaps.sendSwap(callerOf(request).partner, sendRequest, idempotency))
  })
}

/** Sends a JSON string; the framework would send a string as plain text. */
function sendText(reply: FastifyReply, text: string): FastifyReply {
  reply.code(201).headers({ 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' })
  return reply.send(JSON.stringify(text))
}

const ZERO = /^0(?:\.0+)?$/

/** Only a transaction that is no swap moves no amount. */
function checkAmounts({ isExchange = true, amountFrom, amountTo }: SendSwapBody): void {
  if (!isExchange) return
  const problems = Object.entries({ amountFrom, amountTo }).flatMap(([field, amount]): Problem[] => {
    const message = `${field} must be above zero, except with isExchange: false`
    return ZERO.test(amount) ? [{ code: 'AMOUNT_MALFORMED', field, message }] : []
  })
  if (problems.length > 0) throw validationError(problems)
}

function toRequest(body: SendSwapBody): SendRequest {
  checkAmounts(body)
  const { account, amountFrom, amountTo, fromTokenAddress, toTokenAddress, network, rawTx, hash, to, externalId } = body
  return {
    ...{ account, amountFrom, amountTo, fromTokenAddress, toTokenAddress, network },
    commissionPercentage: String(body.commissionPercentage),
    ...(rawTx === undefined ? {} : { rawTx }),
    ...(hash === undefined ? {} : { hash }),
    ...(to === undefined ? {} : { to }),
    ...(externalId === undefined ? {} : { externalId }),
    isExchange: body.isExchange ?? true,
  }
}
