import { randomUUID } from 'node:crypto'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Services } from '../../../src/app/http.ts'
import { parseUnits, scale, toSignificant } from '../../../src/core/domain/amount.ts'
import type { Catalogue } from '../../../src/core/domain/catalogue.ts'
import type { Currency } from '../../../src/core/domain/currency.ts'
import { AppError, type Problem } from '../../../src/core/domain/errors.ts'
import { type Caller, type Partner, publishableScopes, type Scope, scopes } from '../../../src/core/domain/partner.ts'
import type { IdempotencyClaim, IdempotencyStore } from '../../../src/core/ports/store/idempotency.ts'
import type { Idempotency } from '../../../src/core/services/interfaces.ts'
import { createWithIdempotency } from '../../../src/core/services/with-idempotency.ts'
import type { ExchangeType, ExchangeView, ReportedView } from '../../../src/exchange/domain/exchange.ts'
import { isTerminal } from '../../../src/exchange/domain/lifecycle.ts'
import type { PrivateType } from '../../../src/exchange/domain/private-plan.ts'
import type { IssuedQuote } from '../../../src/exchange/domain/rate-quote.ts'
import { trackExchange } from '../../../src/exchange/domain/tracked-exchange.ts'
import type { ExchangeFilter, ExchangeOrder, Feed, RateRequest } from '../../../src/exchange/interfaces.ts'
import { createTrackingTokens } from '../../../src/exchange/orders/tracking-tokens.ts'
import { createResolveNames } from '../../../src/exchange/quotes/resolve-names.ts'
import { assert } from '../../../src/lib/assert.ts'
import { createEventsInMemory } from '../../events/events-in-memory.ts'
import { createSwapsInMemory, type SwapsInMemory } from '../../swap/routes/swaps-in-memory.ts'
import { createTestCatalogue } from './catalogue-for-tests.ts'

/** USD per unit of each ticker. Every pair converts at these prices, less one percent. */
const usd: Readonly<Record<string, bigint>> = { btc: 64_000n, eth: 3_200n, usdt: 1n, xrp: 2n, doge: 1n }
const MIN_USD = 10n
const MAX_USD = 100_000n
const RATE_ID_TTL_MS = 60_000
const SANCTIONED = '0x000000000000000000000000000000000000dEaD'

type IssuedRate = { partnerId: string; terms: string; issued: IssuedQuote; expiresAt: number; used: boolean }
type Row = { partnerId: string; view: ExchangeView }
type Scenario = {
  catalogue: Catalogue
  rows: Row[]
  issuedRates: Map<string, IssuedRate>
  storedResponses: Map<string, { requestHash: string; view: ExchangeView }>
  now(): number
}

export type ServicesInMemory = Services & {
  swaps: SwapsInMemory
  /** All exchanges, newest first. */
  rows: Row[]
  /** Inserts an exchange without a create request. */
  insert(partnerId: string, view: ExchangeView): void
  /** Advances the clock. */
  advance(ms: number): void
  /** Set to make `readiness` return reasons, `ratesFeed` fail, or `findExchange` throw. */
  broken: { reasons: string[]; rates: boolean; find: Error | null }
}

function createPartner(id: string, extra: Partial<Partner> = {}): Partner {
  const limits = { openExchangesMax: 100_000, rateLimitPerMinute: 600 }
  return {
    id,
    name: id,
    feeBps: 0,
    suspended: false,
    ...limits,
    strict: false,
    refundToSender: false,
    defaultRecipients: new Map(),
    ...extra,
  }
}

function createCaller(owner: Partner, allowed: readonly Scope[] = scopes): Caller {
  return { partner: owner, keyId: `key-of-${owner.id}`, scopes: new Set(allowed) }
}

const callers = new Map<string, Caller>([
  ['sandbox', createCaller(createPartner('p1'))],
  ['sandbox-b', createCaller(createPartner('p2'))],
  ['read-only', createCaller(createPartner('p1'), ['rates:read', 'exchange:read'])],
  ['suspended', createCaller(createPartner('p3', { suspended: true }))],
  ['strict', createCaller(createPartner('p4', { strict: true }))],
  ['far-away', createCaller(createPartner('p5'))],
  ['page', { ...createCaller(createPartner('p1'), publishableScopes), origins: ['https://wallet.example'] }],
])

/** Implements the services of `interfaces.ts` over arrays, for tests of the HTTP layer. */
export function createServicesInMemory(): ServicesInMemory {
  let skewMs = 0
  const now = () => Date.now() + skewMs
  const scenario: Scenario = {
    catalogue: createTestCatalogue(),
    rows: [],
    issuedRates: new Map(),
    storedResponses: new Map(),
    now,
  }
  const broken: ServicesInMemory['broken'] = { reasons: [], rates: false, find: null }
  const feed = createFeed()
  return {
    rows: scenario.rows,
    broken,
    insert: (partnerId, view) => void scenario.rows.unshift({ partnerId, view }),
    advance: (ms) => {
      skewMs += ms
    },
    authenticate,
    resolveNames: createResolveNames(scenario.catalogue),
    listCurrencies: () => scenario.catalogue.list(),
    listPairs: (_owner, includes) =>
      scenario.catalogue
        .list()
        .flatMap(({ asset: from }) =>
          scenario.catalogue
            .list()
            .flatMap(({ asset: to }) =>
              from !== to && includes(from, to)
                ? [{ from, to, flows: ['standard'], minUnits: 1n, maxUnits: null }]
                : [],
            ),
        ),
    quoteRate: (owner, request) => quote(scenario, owner, request),
    createExchange: async (owner, order, idempotency) => create(scenario, owner, order, idempotency),
    quotePrivate: (owner, request) => {
      const standard = { ...request, flow: 'standard' } as const
      checkPrivate(resolvePair(scenario, standard), request.privateType)
      const { quote: rate } = quote(scenario, owner, standard)
      return { quote: rate, expectedSeconds: 120, intermediary: { asset: rate.from, isTransparent: true } }
    },
    createPrivateExchange: async (owner, { privateType, ...order }, idempotency) =>
      create(scenario, owner, { ...order, flow: 'standard' }, idempotency, (pair) => checkPrivate(pair, privateType)),
    findExchange: async (owner, id, type) => {
      if (broken.find) throw broken.find
      const row = scenario.rows.find(({ partnerId, view }) => partnerId === owner.id && view.exchange.id === id)
      return row && (type === undefined || row.view.exchange.type === type) ? row.view : null
    },
    nameRefundAddress: async (owner, { id, refundAddress, refundMemo = null }) => {
      const row = scenario.rows.find(({ partnerId, view }) => partnerId === owner.id && view.exchange.id === id)
      if (!row) throw new AppError('EXCHANGE_NOT_FOUND', 'there is no such exchange', { field: 'id' })
      const { exchange } = row.view
      if (exchange.refund)
        throw new AppError('REFUND_ADDRESS_SET', 'it has a refund address', { field: 'refundAddress' })
      const refund = { address: refundAddress, memo: refundMemo }
      row.view = { ...row.view, exchange: { ...exchange, refund } }
      return refund
    },
    cancelExchange: async (owner, id) => {
      const row = scenario.rows.find(({ partnerId, view }) => partnerId === owner.id && view.exchange.id === id)
      if (!row) throw new AppError('EXCHANGE_NOT_FOUND', 'there is no such exchange', { field: 'id' })
      const { exchange, executions } = row.view
      if (executions.length > 0) throw new AppError('EXCHANGE_NOT_PENDING', 'a payment was seen', { field: 'id' })
      row.view = { ...row.view, exchange: { ...exchange, status: 'failed', reason: 'CANCELLED', isCancelled: true } }
    },
    expireExchange: async (owner, id) => {
      const row = scenario.rows.find(({ partnerId, view }) => partnerId === owner.id && view.exchange.id === id)
      if (!row) throw new AppError('EXCHANGE_NOT_FOUND', 'there is no such exchange', { field: 'id' })
      if (row.view.executions.length > 0)
        throw new AppError('EXCHANGE_NOT_PENDING', 'a payment was seen', { field: 'id' })
      return row.view.exchange.createdAt
    },
    listExchanges: async (owner, filter, page) => list(scenario, owner, filter, page),
    reportExchanges: {
      page: async (owner) => ({ rows: viewsOf(scenario, owner).map(toReported), nextPage: null }),
      async *all(owner) {
        yield* viewsOf(scenario, owner).map(toReported)
      },
    },
    partnerAccount: {
      balances: async () => [{ currency: 'usdt', network: 'eth', amount: '12.5' }],
      monthlyPayouts: async () => [
        { currency: 'usdt', network: 'eth', minimum: '50', address: '0x1', memo: null, convertsOthers: true },
      ],
      statement: async (_owner, from) => [
        { date: from, currency: 'usdt', network: 'eth', kind: 'exchangeFee', credited: '1', debited: '0', count: 1 },
      ],
      countOpenExchanges: async (owner) => viewsOf(scenario, owner).length,
    },
    swaps: createSwapsInMemory(),
    events: createEventsInMemory(),
    withIdempotency: createWithIdempotency(createResponses()),
    tracking: createTrackingInMemory(scenario),
    expectations: {
      confirmationsOf: () => 2,
      secondsOf: () => 1_800,
      secondsOfLeg: () => 900,
      payerSecondsOf: ({ exchange }) => (exchange.type === 'private' ? 3_600 : 1_800),
    },
    checkAddress: async ({ currency, network, address, memo }) => {
      const found = scenario.catalogue.find(currency, network)
      if (found === null) throw new AppError('CURRENCY_NOT_FOUND', 'there is no such currency', { field: 'currency' })
      const problems = findDestinationProblems(found, address, memo)
      return { destination: problems.length === 0 ? { address, memo: memo ?? null } : null, problems }
    },
    ratesFeed: () => {
      if (broken.rates) throw new AppError('RATES_UNAVAILABLE', 'there are no current rates')
      return feed
    },
    readiness: () => broken.reasons,
  }
}

function createTrackingInMemory(scenario: Scenario): Services['tracking'] {
  const tokens = createTrackingTokens(Buffer.from('a pepper of tests'))
  const findRow = (token: string) => scenario.rows.find(({ view }) => view.exchange.id === tokens.read(token))
  const checkRefund = (token: string, address: string, memo: string | undefined) => {
    const row = findRow(token)
    assert(row, 'the token names an exchange')
    const { exchange } = row.view
    const [leg] = exchange.legs
    const currency = leg && scenario.catalogue.find(leg.from.ticker, leg.from.network)
    assert(currency, 'the source is listed')
    const [problem] = findDestinationProblems(currency, address, memo)
    if (problem?.code === 'INVALID_ADDRESS') throw new AppError('INVALID_REFUND_ADDRESS', 'not an address')
    if (problem) throw new AppError(problem.code, problem.message ?? '')
    return { row, refund: { address, memo: memo ?? null } }
  }
  return {
    tokenOf: tokens.of,
    find: async (token) => {
      const row = findRow(token)
      return row === undefined ? null : trackExchange(row.view)
    },
    takesRefundAddress: async ({ needsRefundAddress }) => needsRefundAddress,
    checkRefundAddress: async (token, address, memo) => checkRefund(token, address, memo).refund,
    nameRefundAddress: async (token, address, memo) => {
      const { row, refund } = checkRefund(token, address, memo)
      row.view = { ...row.view, exchange: { ...row.view.exchange, refund } }
      return refund
    },
  }
}

const viewsOf = ({ rows }: Scenario, owner: Partner): readonly ExchangeView[] =>
  rows.filter(({ partnerId }) => partnerId === owner.id).map(({ view }) => view)
const toReported = (view: ExchangeView): ReportedView => ({
  ...view,
  completedAt: isTerminal(view.exchange.status) ? view.exchange.createdAt : null,
})

/** No process of a test crashes: no lease ends. */
function createResponses(): IdempotencyStore {
  const rows = new Map<string, { id: string; requestHash: string; response: string | null }>()
  const nameOf = ({ partnerId, key }: IdempotencyClaim) => `${partnerId} ${key}`
  return {
    claim: async (claim, requestHash) => {
      const row = rows.get(nameOf(claim))
      if (row !== undefined) return row.response === null ? 'held' : row
      rows.set(nameOf(claim), { id: claim.id, requestHash, response: null })
      return 'claimed'
    },
    renew: async () => undefined,
    save: async ({ claim, response }) => {
      const row = rows.get(nameOf(claim))
      if (row?.id !== claim.id) return null
      row.response ??= response
      return row.response
    },
    release: async (claim) => {
      if (rows.get(nameOf(claim))?.response === null) rows.delete(nameOf(claim))
    },
  }
}

/** Answers `sandbox` synchronously and every other key asynchronously: the HTTP layer accepts both. */
function authenticate(key: string | undefined, ip: string): Caller | Promise<Caller> {
  if (key === undefined) throw new AppError('API_KEY_MISSING', 'no API key was sent in x-api-key')
  const caller = callers.get(key)
  if (key === 'sandbox' && caller) return caller
  return Promise.resolve().then(() => {
    if (!caller) throw new AppError('API_KEY_INVALID', 'the API key is not valid')
    if (key === 'far-away' && ip !== '192.0.2.1')
      throw new AppError('IP_NOT_ALLOWED', 'this address may not use the key')
    return caller
  })
}

type Pair = Readonly<{ from: Currency; to: Currency }>

function resolvePair({ catalogue }: Scenario, request: Omit<RateRequest, 'amount'>): Pair {
  const from = catalogue.find(request.fromCurrency, request.fromNetwork)
  const to = catalogue.find(request.toCurrency, request.toNetwork)
  const problems: Problem[] = []
  if (!from) problems.push({ code: 'CURRENCY_NOT_FOUND', field: 'fromCurrency', message: 'there is no such currency' })
  if (!to) problems.push({ code: 'CURRENCY_NOT_FOUND', field: 'toCurrency', message: 'there is no such currency' })
  if (!from || !to) throw new AppError('CURRENCY_NOT_FOUND', 'there is no such currency', { problems })
  if (from === to) throw new AppError('SAME_CURRENCY', 'both sides are the same')
  if (!from.enabled || !to.enabled) throw new AppError('PAIR_UNAVAILABLE', 'this pair cannot be exchanged now')
  if (request.flow === 'fixed-rate' && !(from.definition.supportsFixedRate && to.definition.supportsFixedRate)) {
    throw new AppError('FIXED_RATE_UNSUPPORTED', 'this pair has no fixed rates')
  }
  return { from, to }
}

function toUnitsOfUsd(currency: Currency, dollars: bigint): bigint {
  return scale(dollars * 10n ** BigInt(currency.asset.decimals), 1n, usd[currency.asset.ticker] ?? 1n, 'up')
}

function priceQuote({ from, to }: Pair, fromUnits: bigint, flow: RateRequest['flow']): IssuedQuote['quote'] {
  const dollars = scale(
    fromUnits * (usd[from.asset.ticker] ?? 1n),
    10n ** 12n,
    10n ** BigInt(from.asset.decimals),
    'down',
  )
  const gross = scale(dollars, 10n ** BigInt(to.asset.decimals), (usd[to.asset.ticker] ?? 1n) * 10n ** 12n, 'down')
  const toUnits = toSignificant(scale(gross, 99n, 100n, 'down'), 'down')
  const [minUnits, maxUnits] = [toUnitsOfUsd(from, MIN_USD), toUnitsOfUsd(from, MAX_USD)]
  return {
    from: from.asset,
    to: to.asset,
    flow,
    fromUnits,
    toUnits,
    minUnits,
    maxUnits,
    minToUnits: scale(toUnitsOfUsd(to, MIN_USD), 99n, 100n, 'down'),
    maxToUnits: scale(toUnitsOfUsd(to, MAX_USD), 99n, 100n, 'down'),
    fromUsd: dollars,
    toUsd: scale(dollars, 99n, 100n, 'down'),
    fees: { serviceUnits: gross - toUnits, partnerUnits: 0n, networkUnits: 0n, payoutUnits: 0n },
    withinBounds: fromUnits >= minUnits && fromUnits <= maxUnits,
  }
}

/** An amount of the target is converted at the price alone, and rounded up. */
function quotedInput({ from, to }: Pair, { amount, amountOf }: RateRequest): bigint {
  if (amountOf !== 'to') return toSignificant(parseUnits(amount, from.asset), 'down')
  const units = parseUnits(amount, to.asset, 'toAmount')
  const [fromUsd, toUsd] = [usd[from.asset.ticker] ?? 1n, usd[to.asset.ticker] ?? 1n]
  const value = units * toUsd * 10n ** BigInt(from.asset.decimals) * 100n
  return toSignificant(scale(value, 1n, fromUsd * 10n ** BigInt(to.asset.decimals) * 99n, 'up'), 'up')
}

function quote(scenario: Scenario, owner: Partner, request: RateRequest): IssuedQuote {
  const pair = resolvePair(scenario, request)
  const fromUnits = quotedInput(pair, request)
  const quoted = priceQuote(pair, fromUnits, request.flow)
  if (!quoted.withinBounds) return { quote: quoted, rateId: null, validUntil: null }
  const expiresAt = scenario.now() + RATE_ID_TTL_MS
  const issued = { quote: quoted, rateId: randomUUID(), validUntil: new Date(expiresAt) }
  scenario.issuedRates.set(issued.rateId, {
    partnerId: owner.id,
    terms: formatTerms(quoted),
    issued,
    expiresAt,
    used: false,
  })
  return issued
}

function formatTerms({ from, to, flow, fromUnits }: IssuedQuote['quote']): string {
  return [from.id, to.id, flow, fromUnits].join(' ')
}

/** privatePlus needs XMR, which is not listed. Two currencies of one network have no intermediary. */
function checkPrivate({ from, to }: Pair, privateType: PrivateType): null {
  if (privateType === 'privatePlus') throw new AppError('PAIR_UNAVAILABLE', 'XMR is not available')
  if (from.network.id === to.network.id) throw new AppError('PAIR_UNAVAILABLE', 'one wallet would serve both ends')
  return null
}

/** `checkPair`: checks the pair of a private exchange; null for a standard exchange. */
function create(
  scenario: Scenario,
  owner: Partner,
  order: ExchangeOrder,
  idempotency: Idempotency | null,
  checkPair: ((pair: Pair) => null) | null = null,
): ExchangeView {
  const key = `${owner.id} ${idempotency?.key}`
  const stored = idempotency ? scenario.storedResponses.get(key) : undefined
  if (stored && stored.requestHash === idempotency?.requestHash) return stored.view
  if (stored) throw new AppError('IDEMPOTENCY_CONFLICT', 'this Idempotency-Key was used with another body')
  const pair = resolvePair(scenario, order)
  checkPair?.(pair)
  const fromUnits = parseUnits(order.fromAmount, pair.from.asset, 'fromAmount')
  const quoted = priceQuote(pair, fromUnits, order.flow)
  checkBounds(quoted)
  checkDestinations(pair, order)
  const toUnits = useRateId(scenario, owner, order, quoted)
  const view = toView(scenario, owner, order, pair, { fromUnits, toUnits }, checkPair === null ? 'standard' : 'private')
  scenario.rows.unshift({ partnerId: owner.id, view })
  if (idempotency) scenario.storedResponses.set(key, { requestHash: idempotency.requestHash, view })
  return view
}

function checkBounds({ fromUnits, minUnits, maxUnits, from }: IssuedQuote['quote']): void {
  const extra = { min: String(minUnits), max: String(maxUnits), currency: from.ticker, network: from.network }
  const field = 'fromAmount'
  if (fromUnits < minUnits) throw new AppError('AMOUNT_BELOW_MIN', 'the amount is below the minimum', { field, extra })
  if (maxUnits !== null && fromUnits > maxUnits)
    throw new AppError('AMOUNT_ABOVE_MAX', 'the amount is too large', { field, extra })
}

function checkDestinations({ from, to }: Pair, order: ExchangeOrder): void {
  const { address, memo, refundAddress } = order
  const problems = findDestinationProblems(to, address, memo)
  if (refundAddress !== undefined && !new RegExp(from.network.regexAddress).test(refundAddress)) {
    problems.push({
      code: 'INVALID_REFUND_ADDRESS',
      field: 'refundAddress',
      message: `refundAddress is not an address of ${from.network.name}`,
    })
  }
  const [first] = problems
  if (first) throw new AppError(first.code, first.message ?? '', { problems })
  if (address === SANCTIONED) throw new AppError('RESTRICTED', 'this address cannot be served')
}

function findDestinationProblems({ network }: Currency, address?: string, memo?: string): Problem[] {
  const problems: Problem[] = []
  const add = (code: Problem['code'], field: string, message: string) => void problems.push({ code, field, message })
  if (address !== undefined && !new RegExp(network.regexAddress).test(address))
    add('INVALID_ADDRESS', 'address', `address is not an address of ${network.name}`)
  if (network.memo === 'required' && address !== undefined && memo === undefined)
    add('MEMO_REQUIRED', 'memo', `${network.name} requires a memo`)
  if (network.memo === 'none' && memo !== undefined) add('MEMO_NOT_SUPPORTED', 'memo', `${network.name} has no memos`)
  if (network.memo === 'required' && memo !== undefined && !/^(0|[1-9][0-9]{0,9})$/.test(memo))
    add('MEMO_INVALID', 'memo', 'memo is not a destination tag')
  return problems
}

function useRateId(scenario: Scenario, owner: Partner, order: ExchangeOrder, quoted: IssuedQuote['quote']): bigint {
  const { rateId } = order
  if (rateId === undefined) {
    if (order.flow === 'fixed-rate')
      throw new AppError('RATE_ID_REQUIRED', 'a fixed rate needs a rateId', { field: 'rateId' })
    return quoted.toUnits
  }
  const issuedRate = scenario.issuedRates.get(rateId)
  if (!issuedRate) throw new AppError('RATE_ID_INVALID', 'this rateId was not issued here', { field: 'rateId' })
  if (issuedRate.partnerId !== owner.id || issuedRate.terms !== formatTerms(quoted)) {
    throw new AppError('RATE_ID_MISMATCH', 'this rateId was given for other terms', { field: 'rateId' })
  }
  if (issuedRate.used) throw new AppError('RATE_ID_USED', 'this rateId was used before', { field: 'rateId' })
  if (scenario.now() > issuedRate.expiresAt) {
    const requote = quote(scenario, owner, { ...order, amount: order.fromAmount })
    throw new AppError('RATE_ID_EXPIRED', 'this rateId has expired', { field: 'rateId', extra: { requote } })
  }
  issuedRate.used = true
  return issuedRate.issued.quote.toUnits
}

type Units = Readonly<{ fromUnits: bigint; toUnits: bigint }>

function toView(
  scenario: Scenario,
  owner: Partner,
  order: ExchangeOrder,
  { from, to }: Pair,
  units: Units,
  type: ExchangeType,
): ExchangeView {
  const { address, memo = null, refundAddress, refundMemo = null } = order
  const index = scenario.rows.length + 1
  const createdAt = new Date(scenario.now())
  const exchange: ExchangeView['exchange'] = {
    id: randomUUID(),
    partnerId: owner.id,
    type,
    flow: order.flow,
    legs: [{ from: from.asset, to: to.asset }],
    ...units,
    estimate: { confirmations: 2, seconds: 1_800 },
    deposit: {
      address: `deposit-${from.asset.network}-${index}`,
      memo: from.network.memo === 'required' ? String(index) : null,
    },
    recipient: address === undefined ? null : { address, memo },
    refund: refundAddress === undefined ? null : { address: refundAddress, memo: refundMemo },
    status: 'pending',
    reason: null,
    createdAt,
    expiresAt: new Date(scenario.now() + 86_400_000),
    fixedUntil: null,
    fixedInclusionMs: null,
    isCancelled: false,
    externalId: order.externalId ?? null,
    partnerFeeBps: 0,
    quotedFees: null,
  }
  return { exchange, executions: [] }
}

function list(
  scenario: Scenario,
  owner: Partner,
  filter: ExchangeFilter,
  page: { page: number; limit: number } | null,
) {
  const since = scenario.now() - 86_400_000
  const expected = Object.entries(filter)
  const matches = scenario.rows.filter(({ partnerId, view: { exchange } }) => {
    const [leg] = exchange.legs
    assert(leg, 'an exchange has a leg')
    const has: Record<string, string> = {
      status: exchange.status,
      exchangeType: exchange.type,
      fromCurrency: leg.from.ticker,
      fromNetwork: leg.from.network,
      toCurrency: leg.to.ticker,
      toNetwork: leg.to.network,
      externalId: exchange.externalId ?? '',
    }
    const recent = exchange.createdAt.getTime() >= since
    return partnerId === owner.id && recent && expected.every(([name, value]) => has[name] === value)
  })
  const shown = page ? matches.slice((page.page - 1) * page.limit, page.page * page.limit) : matches
  return {
    total: matches.length,
    rows: (async function* () {
      for (const { view } of shown) yield view
    })(),
  }
}

function createFeed(): Feed {
  const item = '<item><from>BTC</from><to>USDTETH</to><in>1</in><out>63360</out><amount>100000</amount></item>'
  const xml = Buffer.from(`<?xml version="1.0" encoding="UTF-8"?><rates>\n${`${item}\n`.repeat(50)}</rates>`)
  const lastModified = new Date('2026-01-02T03:04:05.678Z')
  return { xml, gzip: gzipSync(xml), brotli: brotliCompressSync(xml), etag: '"feed-1"', lastModified }
}
