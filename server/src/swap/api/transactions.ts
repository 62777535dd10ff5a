import { type BuildSwapBody, routes, type SendApprovalBody, type SendSwapBody } from '@swapyard/schema'
import type { FastifyReply } from 'fastify'
import { readIdempotency } from '../../core/http/idempotency.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import type { SendRequest, SwapServices } from '../interfaces.ts'

/** Building, approving, sending. Member by member: nothing else of a body is ever bound. */
export function mountTransactions(context: ApiContext<{ swaps: SwapServices }>): void {
  const { swaps } = context.services
  mount(context, routes.buildSwap, async (request, reply) => {
    const body = request.body as BuildSwapBody
    const { account, fromTokenAddress, toTokenAddress, amount, network } = body
    const percentages = { slippage: String(body.slippage), referrerFee: String(body.referrerFee) }
    const asked = { account, fromTokenAddress, toTokenAddress, amount, network, ...percentages }
    const built = await swaps.buildSwap(callerOf(request).partner, asked, readIdempotency(request, routes.buildSwap))
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
    const asked = toRequest(request.body as SendSwapBody)
    return sendText(reply, await swaps.sendSwap(callerOf(request).partner, asked, idempotency))
  })
}

/** A JSON string: the framework would send text as text. */
function sendText(reply: FastifyReply, text: string): FastifyReply {
  reply.code(201).headers({ 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' })
  return reply.send(JSON.stringify(text))
}

function toRequest(body: SendSwapBody): SendRequest {
  const { account, amountFrom, amountTo, fromTokenAddress, toTokenAddress, network, rawTx, hash, to } = body
  return {
    ...{ account, amountFrom, amountTo, fromTokenAddress, toTokenAddress, network },
    commissionPercentage: String(body.commissionPercentage),
    ...(rawTx === undefined ? {} : { rawTx }),
    ...(hash === undefined ? {} : { hash }),
    ...(to === undefined ? {} : { to }),
    isExchange: body.isExchange ?? true,
  }
}
