import { type ExchangeReportQuery, type ReportedExchange, routes } from '@swapyard/schema'
import type { FastifyReply } from 'fastify'
import { type CsvRow, csvLine, isCsvRequest, setCsvHeaders } from '../../core/http/csv.ts'
import { type ApiContext, callerOf, mount } from '../../core/http/mount.ts'
import { toPageAlways } from '../../core/http/paging.ts'
import { sendCsv } from '../../core/http/stream-rows.ts'
import type { ReportedView } from '../domain/exchange.ts'
import type { ExchangeServices } from '../interfaces.ts'
import { type PresentDeps, presentListedExchange, presentTokens } from './present.ts'

/** A report of all exchanges of a period, as pages or as one CSV file. */
export function mountReport(context: ApiContext<ExchangeServices>, deps: PresentDeps): void {
  const { reportExchanges } = context.services
  const present = (view: ReportedView): ReportedExchange => ({
    ...presentListedExchange(view, deps),
    ...presentTokens(view.exchange, deps),
    completedDate: view.completedAt === null ? null : view.completedAt.toISOString(),
  })
  mount(context, routes.listPartnerExchanges, async (request, reply) => {
    const { partner } = callerOf(request)
    const { from, to, page, limit } = request.query as ExchangeReportQuery
    const period = { from, to, page }
    const isWhole = page === undefined && limit === undefined
    if (isCsvRequest(request) && isWhole) return sendTable(reply, reportExchanges.all(partner, period), present)
    const { rows, nextPage } = await reportExchanges.page(
      partner,
      period,
      toPageAlways(limit === undefined ? {} : { limit }).limit,
    )
    if (isCsvRequest(request)) return sendTable(reply, rows, present)
    reply.headers({ 'cache-control': 'no-store', vary: 'Accept' })
    return { data: rows.map(present), nextPage }
  })
}

const columns = [
  ...['id', 'externalId', 'created', 'exchangeType', 'status', 'statusReason'],
  ...['fromCurrency', 'fromNetwork', 'fromContractAddress', 'fromChainId'],
  ...['toCurrency', 'toNetwork', 'toContractAddress', 'toChainId'],
  ...['amountFromRequested', 'amountToRequested', 'depositAddress', 'recipientAddress'],
  ...[
    'amountFromReceived',
    'amountToReceived',
    'payinHash',
    'payoutHash',
    'refundAmount',
    'refundCurrency',
    'refundHash',
    'completedDate',
  ],
]

/** A row per deposit, and one for an exchange without a deposit. */
function rowsOf(one: ReportedExchange): CsvRow[] {
  const { request, fromToken, toToken } = one
  const terms = [
    ...[one.id, one.externalId, one.created, one.exchangeType, one.status, one.statusReason],
    ...[request.fromCurrency, request.fromNetwork, fromToken.contractAddress, fromToken.chainId],
    ...[request.toCurrency, request.toNetwork, toToken.contractAddress, toToken.chainId],
    ...[request.amountFromRequested, request.amountToRequested, request.depositAddress, request.recipientAddress],
  ]
  if (one.exchanges.length === 0) return [[...terms, null, null, null, null, null, null, null, one.completedDate]]
  return one.exchanges.map(({ amountFromReceived, amountToReceived, payinHash, payoutHash, refund }) => [
    ...terms,
    ...[amountFromReceived, amountToReceived, payinHash, payoutHash],
    ...[refund?.amount ?? null, refund?.currency ?? null, refund?.hash ?? null, one.completedDate],
  ])
}

function sendTable(
  reply: FastifyReply,
  views: AsyncIterable<ReportedView> | Iterable<ReportedView>,
  present: (view: ReportedView) => ReportedExchange,
): Promise<FastifyReply> {
  setCsvHeaders(reply, 'exchanges')
  return sendCsv(reply, csvLine(columns), views, (view) => rowsOf(present(view)).map(csvLine).join(''))
}
