import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/domain/errors.ts'
import { statusOf, toAppError } from '../../core/http/errors.ts'
import type { ApiSettings } from '../../core/http/settings.ts'
import { createStaticFiles } from '../../core/http/static-files.ts'
import { charge } from '../../core/http/throttle.ts'
import type { TrackedExchange } from '../../exchange/domain/tracked-exchange.ts'
import type { ExchangeServices } from '../../exchange/interfaces.ts'
import { callerNetwork } from '../../lib/ip-address.ts'
import { createAssetNames } from './currency-names.ts'
import { failurePage, regionsText, SCRIPT_PATH, trackingPage } from './document.ts'
import { chooseLanguage, type Locale, localeOf } from './languages/locale.ts'
import { createLiveStreams, type LiveStreams, type Snapshot } from './live-streams.ts'
import { toRefundProblem } from './refund-problem.ts'
import { emptyForm, FIELD_LENGTH_MAX, type RefundForm } from './refund-region.ts'
import { requireSameOrigin } from './same-origin.ts'
import { fingerprintOf, type ShownExchange, toShownExchange } from './shown-exchange.ts'
import { policy } from './style.ts'

export type TrackingDeps = Readonly<{
  services: Pick<ExchangeServices, 'tracking' | 'listCurrencies' | 'expectations'>
  settings: Pick<ApiSettings, 'publicUrl' | 'throttle' | 'publicLimitPerMinute'>
  isDraining(): boolean
  /** Streams of one network address, and of this process. */
  streams?: Readonly<{ perNetwork: number; total: number; lookMs?: number; slowMs?: number }>
  now?: () => number
}>

const PAGE_PATH = '/track/:token'
const EVENTS_PATH = `${PAGE_PATH}/events`
const REFUND_PATH = `${PAGE_PATH}/refund`
/** Weights in the budget of an address. A refund address is screened. */
const PAGE_COST = 1
const FORM_COST = 20

const headers = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  vary: 'accept-language',
}
const HTML = 'text/html; charset=utf-8'

type Route = { Params: { token: string }; Querystring: { lang?: unknown; seen?: unknown } }
type PageRequest = FastifyRequest<Route>
type Form = Readonly<Record<string, string>>

type Context = Omit<TrackingDeps, 'streams'> &
  Readonly<{
    pages: FastifyInstance
    streams: LiveStreams
    find(token: string): Promise<TrackedExchange>
    show(tracked: TrackedExchange): Promise<ShownExchange>
    send(request: PageRequest, reply: FastifyReply, tracked: TrackedExchange, form: RefundForm): Promise<FastifyReply>
  }>

/** The page where a payer follows an exchange. The token in its path is the only permission. */
export function mountTracking(app: FastifyInstance, deps: TrackingDeps): void {
  const { services, isDraining, now = Date.now } = deps
  const { tracking } = services
  const showing = { assetNames: createAssetNames(services.listCurrencies), expectations: services.expectations }
  const streams = createLiveStreams({ perNetwork: 20, total: 5_000, ...deps.streams, isDraining })
  const show: Context['show'] = async (tracked) =>
    toShownExchange(showing, tracked, await tracking.takesRefundAddress(tracked), now())
  const find: Context['find'] = async (token) => {
    const tracked = await tracking.find(token)
    if (tracked === null) throw new AppError('EXCHANGE_NOT_FOUND', 'no exchange with this token')
    return tracked
  }
  const send: Context['send'] = async (request, reply, tracked, form) => {
    const page = trackingPage(await show(tracked), request.params.token, localeFor(request), form)
    return reply.headers(headers).type(HTML).send(page)
  }
  app.addHook('preClose', async () => streams.close())
  app.register(async (pages) => {
    pages.setErrorHandler((error, request, reply) => sendFailure(error, request as PageRequest, reply))
    const context: Context = { ...deps, pages, streams, find, show, send }
    mountPage(context)
    mountRefundForm(context)
    mountEvents(context)
  })
}

function spend(
  { settings }: Context,
  request: PageRequest,
  reply: FastifyReply,
  operation: string,
  cost: number,
): void {
  request.operation = operation
  const { throttle, publicLimitPerMinute: limitPerMinute } = settings
  if (throttle) charge(throttle, reply, { key: `ip:${callerNetwork(request.ip)}`, cost, limitPerMinute })
}

function mountPage(context: Context): void {
  const { pages, find, send } = context
  const sendFile = createStaticFiles()
  pages.get(SCRIPT_PATH, (request, reply) => {
    request.operation = SCRIPT_PATH
    return sendFile(request, reply, new URL('./client.js', import.meta.url), 'text/javascript; charset=utf-8')
  })
  pages.get<Route>(PAGE_PATH, async (request, reply) => {
    spend(context, request, reply, PAGE_PATH, PAGE_COST)
    return send(request, reply, await find(request.params.token), emptyForm)
  })
}

/** Two steps: the address is checked and shown again, then named. Nothing is stored between them. */
function mountRefundForm(context: Context): void {
  const { pages, settings, services, find, send } = context
  pages.removeAllContentTypeParsers()
  pages.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  )
  // A reload of the form's answer, or a change of its language.
  pages.get<Route>(REFUND_PATH, async (request, reply) => {
    request.operation = REFUND_PATH
    return reply.headers(headers).redirect(pagePath(request), 303)
  })
  pages.post<Route & { Body: Form | undefined }>(REFUND_PATH, async (request, reply) => {
    spend(context, request, reply, REFUND_PATH, FORM_COST)
    requireSameOrigin(request.headers, settings.publicUrl)
    const { token } = request.params
    const tracked = await find(token)
    const form = readForm(request.body ?? {})
    const { act } = request.body ?? {}
    if (act === 'change') return send(request, reply, tracked, form)
    const { checkRefundAddress, nameRefundAddress } = services.tracking
    const memo = form.memo === '' ? undefined : form.memo
    try {
      if (act !== 'confirm') {
        const { address } = await checkRefundAddress(token, form.address, memo)
        return await send(request, reply, tracked, { ...form, step: 'confirm', address })
      }
      await nameRefundAddress(token, form.address, memo)
      return reply.headers(headers).redirect(pagePath(request), 303)
    } catch (error) {
      const problem = toRefundProblem(error, tracked)
      if (problem === null) throw error
      reply.code(statusOf((error as AppError).code))
      return send(request, reply, await find(token), { ...form, problem })
    }
  })
}

/** The changing parts of the page as server-sent events. */
function mountEvents(context: Context): void {
  const { pages, streams, find, show } = context
  pages.get<Route>(EVENTS_PATH, { exposeHeadRoute: false }, async (request, reply) => {
    spend(context, request, reply, EVENTS_PATH, PAGE_COST)
    const { token } = request.params
    const locale = localeFor(request)
    const look = async (): Promise<Snapshot> => {
      const shown = await show(await find(token))
      const { pace } = shown
      return { version: fingerprintOf(shown), render: () => regionsText(shown, token, locale), pace }
    }
    const seen = request.headers['last-event-id'] ?? request.query.seen
    const first = await look()
    const stream = streams.open(callerNetwork(request.ip), String(seen ?? ''), first, look)
    if (stream === null) throw new AppError('OVERLOADED', 'too many open streams')
    // A proxy that buffers would hold the events back.
    reply.headers({ ...headers, 'x-accel-buffering': 'no' }).type('text/event-stream; charset=utf-8')
    return reply.send(stream)
  })
}

const localeFor = ({ query, headers: sent }: PageRequest): Locale => {
  const { lang } = query
  return localeOf(chooseLanguage(typeof lang === 'string' ? lang : undefined, sent['accept-language']))
}

const pagePath = (request: PageRequest): string =>
  `/track/${encodeURIComponent(request.params.token)}?lang=${localeFor(request).language}`

function readForm(body: Form): RefundForm {
  const read = (name: string) => (body[name] ?? '').trim().slice(0, FIELD_LENGTH_MAX)
  return { ...emptyForm, address: read('address'), memo: read('memo') }
}

function sendFailure(thrown: unknown, request: PageRequest, reply: FastifyReply): FastifyReply {
  const error = toAppError(thrown, request)
  request.failure = error
  const failure = error.kind === 'throttled' ? 'tooMany' : error.kind === 'not_found' ? 'notFound' : 'unavailable'
  if (error.retryAfterSeconds !== null) reply.header('retry-after', String(error.retryAfterSeconds))
  const page = failurePage(localeFor(request), failure)
  return reply.code(statusOf(error.code)).headers(headers).type(HTML).send(page)
}
