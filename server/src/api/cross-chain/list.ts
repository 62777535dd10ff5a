import { Readable } from 'node:stream'
import { LIMIT_DEFAULT, ListedExchange, type ListQuery, routes } from '@swapyard/schema'
import type { FastifyReply } from 'fastify'
import { canonicalNetwork, canonicalTicker } from '../../domain/catalogue.ts'
import type { ExchangeView } from '../../domain/exchange.ts'
import type { ExchangeFilter } from '../../services/interfaces.ts'
import { type ApiContext, callerOf, mount } from '../mount.ts'
import { type Listing, presentListedExchange } from '../present.ts'
import { serializerOf } from '../serialize.ts'

/** Rows are sent in pieces of about this many characters. What fits into one is sent with its length. */
const PIECE_LENGTH = 16 * 1024
const TICKER = /^[a-z0-9.-]{1,32}$/
/** No currency is called that. Stands for a text that cannot be a ticker, so that the store never sees it. */
const NO_TICKER = '-'

type Page = Readonly<{ page: number; limit: number }>

export function mountList(context: ApiContext, listing: Listing): void {
  const { services } = context
  mount(context, routes.listExchanges, async (request, reply) => {
    const query = request.query as ListQuery
    const page = toPage(query)
    const { total, rows } = await services.listExchanges(callerOf(request).partner, toFilter(query), page)
    if (page) reply.header('link', links(query, page, total))
    reply.headers({ 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' })
    const serialize = serializerOf(reply, ListedExchange)
    const pieces = renderPieces(total, rows, (view) => serialize(presentListedExchange(view, listing)))
    return sendPieces(reply, pieces)
  })
}

function toFilter(query: ListQuery): ExchangeFilter {
  const { status, exchangeType, fromCurrency, fromNetwork, toCurrency, toNetwork } = query
  return {
    ...(status === undefined ? {} : { status }),
    ...(exchangeType === undefined ? {} : { exchangeType }),
    ...(fromCurrency === undefined ? {} : { fromCurrency: plainTicker(canonicalTicker(fromCurrency)) }),
    ...(fromNetwork === undefined ? {} : { fromNetwork: plainTicker(canonicalNetwork(fromNetwork)) }),
    ...(toCurrency === undefined ? {} : { toCurrency: plainTicker(canonicalTicker(toCurrency)) }),
    ...(toNetwork === undefined ? {} : { toNetwork: plainTicker(canonicalNetwork(toNetwork)) }),
  }
}

function plainTicker(text: string): string {
  return TICKER.test(text) ? text : NO_TICKER
}

/** The patterns of the schema admit whole numbers of at most nine digits. */
function toPage({ page, limit }: ListQuery): Page | null {
  if (page === undefined && limit === undefined) return null
  return {
    page: page === undefined ? 1 : Number.parseInt(page, 10),
    limit: limit === undefined ? LIMIT_DEFAULT : Number.parseInt(limit, 10),
  }
}

/** RFC 8288, relative to the request. */
function links(query: ListQuery, { page, limit }: Page, total: number): string {
  const last = Math.max(1, Math.ceil(total / limit))
  const found: [relation: string, page: number][] = [['first', 1]]
  if (page > 1) found.push(['prev', Math.min(page - 1, last)])
  if (page < last) found.push(['next', page + 1])
  found.push(['last', last])
  return found.map(([relation, target]) => `<${linkTarget(query, target, limit)}>; rel="${relation}"`).join(', ')
}

function linkTarget(query: ListQuery, page: number, limit: number): string {
  const { status, exchangeType, fromCurrency, fromNetwork, toCurrency, toNetwork } = query
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries({
    status,
    exchangeType,
    fromCurrency,
    fromNetwork,
    toCurrency,
    toNetwork,
  })) {
    if (value !== undefined) parameters.set(name, value)
  }
  parameters.set('page', String(page))
  parameters.set('limit', String(limit))
  return `${routes.listExchanges.path}?${parameters.toString()}`
}

async function* renderPieces(
  total: number,
  rows: AsyncIterable<ExchangeView>,
  render: (view: ExchangeView) => string,
): AsyncGenerator<string, void, undefined> {
  let piece = `{"total":${total},"data":[`
  let separator = ''
  for await (const view of rows) {
    piece += separator + render(view)
    separator = ','
    if (piece.length >= PIECE_LENGTH) {
      yield piece
      piece = ''
    }
  }
  yield `${piece}]}`
}

/**
 * A short list goes out whole. A long one is streamed: rows are read only as fast as the client takes them, and a failure
 * on the way cuts the connection, so that half a list is never taken for a whole one.
 */
async function sendPieces(reply: FastifyReply, pieces: AsyncGenerator<string, void, undefined>): Promise<FastifyReply> {
  const first = await pieces.next()
  const second = first.done ? first : await pieces.next()
  if (first.done || second.done) return reply.send(first.value ?? '')
  return reply.send(
    Readable.from(startingWith([first.value, second.value], pieces), { objectMode: true, highWaterMark: 2 }),
  )
}

async function* startingWith(
  read: readonly string[],
  rest: AsyncGenerator<string, void, undefined>,
): AsyncGenerator<string> {
  try {
    yield* read
    yield* rest
  } finally {
    // The client went away: the rows' cursor is closed too.
    await rest.return()
  }
}
