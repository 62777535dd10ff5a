import { powerOfTen } from '../../core/domain/amount.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import { privateDelaySeconds, secondsOf } from '../domain/expected-time.ts'
import {
  chooseBestIntermediary,
  isIntermediary,
  legsInputFor,
  type QuotedIntermediary,
  quoteBeforeFees,
  quoteLegs,
  RESERVE_MARGIN_PPM,
} from '../domain/intermediary.ts'
import type { PairPricing } from '../domain/pricing.ts'
import type { IntermediaryOption, PrivateType } from '../domain/private-plan.ts'
import type { ExchangeServices } from '../interfaces.ts'
import type { Chain } from '../ports/chain.ts'
import { type PrivacySettings, requiredConfirmations } from '../settings.ts'
import type { BookSnapshot } from './book-snapshot.ts'
import { type CurrencyLookup, type QuoteClock, readPair } from './quote-rate.ts'

export type ChooseIntermediaryDependencies = Readonly<{
  currencies: readonly Currency[]
  books: BookSnapshot
  clock: QuoteClock
  chains: ReadonlyMap<string, Chain>
  privacy: PrivacySettings
}>

export type Endpoints = Readonly<{ from: Currency; to: Currency }>
/** The chosen intermediary, and every candidate with its result. */
export type ChosenIntermediary = QuotedIntermediary & Readonly<{ considered: readonly IntermediaryOption[] }>
/** Chooses the intermediary for an amount, or throws the reason why none serves it. Uses only data in memory. */
export type ChooseIntermediary = (
  partner: Partner,
  endpoints: Endpoints,
  type: PrivateType,
  fromUnits: bigint,
) => ChosenIntermediary

const MONERO = 'xmr@xmr'

/**
 * Chooses the intermediary of a private exchange by the live quotes of both legs. Source, intermediary and target must be
 * three networks with three different hot wallets, so that no transaction, change, gas or sweep links both sides.
 */
export function createChooseIntermediary(deps: ChooseIntermediaryDependencies): ChooseIntermediary {
  const { books, clock, chains } = deps
  const wallet = ({ network }: Currency) => chains.get(network.id)?.addresses.hot() ?? null
  return (partner, { from, to }, type, fromUnits) => {
    // Errors of the pair itself come first.
    books.price({ from, to, flow: 'standard', partnerFeeBps: partner.feeBps }, clock.now())
    if (from.network.id === to.network.id || wallet(from) === wallet(to)) {
      const [source, target] = [from.network.id, to.network.id]
      const wallets =
        source === target
          ? `both sides use the hot wallet of ${source}`
          : `${source} and ${target} share one hot wallet`
      const message = `${wallets}, which would link them: use a standard exchange`
      throw new AppError('PAIR_UNAVAILABLE', message, { field: 'toNetwork' })
    }
    const quoted: QuotedIntermediary[] = []
    const considered: IntermediaryOption[] = []
    const failures: AppError[] = []
    for (const via of listCandidates(deps.currencies, type)) {
      const { id: assetId } = via.asset
      const refused = findExclusion(via, [from, to], wallet)
      if (refused !== null) {
        considered.push({ assetId, refused })
        continue
      }
      try {
        const candidate = quoteThrough(deps, partner, { from, to }, via, fromUnits)
        quoted.push(candidate)
        considered.push({ assetId, toUnits: candidate.quote.toUnits.toString(), seconds: candidate.seconds })
      } catch (error) {
        if (!(error instanceof AppError) || error.kind === 'bug') throw error
        failures.push(error)
        considered.push({ assetId, refused: error.code })
      }
    }
    const chosen = chooseBestIntermediary(quoted)
    if (chosen === null) throw noIntermediary(type, [from, to], failures)
    return { ...chosen, considered }
  }
}

/** Whether a private exchange of this direction can be quoted now: null, or the reason why not. */
export type FindPrivateFailure = (endpoints: Endpoints, type: PrivateType) => AppError | null

/** As `createChooseIntermediary`, for readiness: the first intermediary that serves the direction is enough. */
export function createFindPrivateFailure(deps: ChooseIntermediaryDependencies): FindPrivateFailure {
  const wallet = ({ network }: Currency) => deps.chains.get(network.id)?.addresses.hot() ?? null
  const anyone = { feeBps: 0 }
  return ({ from, to }, type) => {
    const failures: AppError[] = []
    const { pauses } = deps.books.current()
    const candidates = listCandidates(deps.currencies, type).filter(
      (via) =>
        !pauses.networks.has(via.network.id) &&
        !pauses.assets.has(via.asset.id) &&
        findExclusion(via, [from, to], wallet) === null,
    )
    for (const via of candidates) {
      try {
        quoteThrough(deps, anyone, { from, to }, via, powerOfTen(from.asset.decimals))
        return null
      } catch (error) {
        if (!(error instanceof AppError) || error.kind === 'bug') throw error
        failures.push(error)
      }
    }
    return noIntermediary(type, [from, to], failures)
  }
}

/** Quotes both legs from the book in memory. Not binding: a private create computes its own price. */
export function createQuotePrivate(
  catalogue: CurrencyLookup,
  chooseFor: Readonly<Record<'from' | 'to', (...order: Parameters<ChooseIntermediary>) => QuotedIntermediary>>,
): ExchangeServices['quotePrivate'] {
  return (partner, request) => {
    const { from, to, units } = readPair(catalogue, request)
    const choose = chooseFor[request.amountOf ?? 'from']
    const { quote, seconds, via } = choose(partner, { from, to }, request.privateType, units)
    // Of the families with an adapter, only Monero hides addresses and amounts.
    const isTransparent = via.network.family !== 'monero'
    return { quote, expectedSeconds: seconds, intermediary: { asset: via.asset, isTransparent } }
  }
}

/** The candidates that serve these endpoints, each with the smallest amount for which it gives at least `toUnits`. */
export function quoteCandidatesFor(
  deps: ChooseIntermediaryDependencies,
  partner: Partner,
  endpoints: Endpoints,
  type: PrivateType,
  toUnits: bigint,
): readonly QuotedIntermediary[] {
  const wallet = ({ network }: Currency) => deps.chains.get(network.id)?.addresses.hot() ?? null
  return listCandidates(deps.currencies, type).flatMap((via) => {
    if (findExclusion(via, [endpoints.from, endpoints.to], wallet) !== null) return []
    try {
      const fromUnits = legsInputFor(...priceThrough(deps, partner, endpoints, via), toUnits)
      return [quoteThrough(deps, partner, endpoints, via, fromUnits)]
    } catch (error) {
      if (!(error instanceof AppError) || error.kind === 'bug') throw error
      return []
    }
  })
}

function listCandidates(currencies: readonly Currency[], type: PrivateType): readonly Currency[] {
  if (type === 'privatePlus') return currencies.filter(({ asset }) => asset.id === MONERO)
  return currencies.filter(isIntermediary)
}

function findExclusion(
  via: Currency,
  endpoints: readonly Currency[],
  wallet: (currency: Currency) => string | null,
): 'SAME_NETWORK' | 'SAME_WALLET' | null {
  if (endpoints.some(({ network }) => network.id === via.network.id)) return 'SAME_NETWORK'
  return endpoints.some((endpoint) => wallet(endpoint) === wallet(via)) ? 'SAME_WALLET' : null
}

/** Prices both legs. The partner's fee is charged once, on the second. */
function priceThrough(
  { books, clock }: ChooseIntermediaryDependencies,
  partner: Pick<Partner, 'feeBps'>,
  { from, to }: Endpoints,
  via: Currency,
): [PairPricing, PairPricing] {
  return [
    books.price({ from, to: via, flow: 'standard', partnerFeeBps: 0 }, clock.now()),
    books.price({ from: via, to, flow: 'standard', partnerFeeBps: partner.feeBps }, clock.now()),
  ]
}

function quoteThrough(
  deps: ChooseIntermediaryDependencies,
  partner: Pick<Partner, 'feeBps'>,
  endpoints: Endpoints,
  via: Currency,
  fromUnits: bigint,
): QuotedIntermediary {
  const { privacy } = deps
  const { from, to } = endpoints
  const [first, second] = priceThrough(deps, partner, endpoints, via)
  const quote = quoteLegs(first, second, fromUnits, privacy.payoutMaxPpm + RESERVE_MARGIN_PPM)
  if (quote.maxUnits !== null && quote.maxUnits < quote.minUnits)
    throw new AppError('INSUFFICIENT_LIQUIDITY', 'the reserves do not cover the minimum amount: retry later')
  const { confirmations, finalityBlocks } = from.network
  const deposit = secondsOf(from.network, requiredConfirmations(confirmations, finalityBlocks, quote.fromUsd))
  const payouts = secondsOf(via.network, via.network.confirmations) + secondsOf(to.network, to.network.confirmations)
  const quoted = quoteBeforeFees(first, second, quote.fromUnits)
  return { via, quote, quoted, seconds: deposit + payouts + privateDelaySeconds(privacy.delayMaxMs) }
}

function noIntermediary(type: PrivateType, endpoints: readonly Currency[], failures: readonly AppError[]): AppError {
  const transient = failures.find(({ retryable }) => retryable)
  if (transient)
    return new AppError(transient.code, 'no intermediary is available now: retry later', { cause: transient })
  if (type === 'efficient')
    return new AppError('PAIR_UNAVAILABLE', 'no intermediary serves this pair: use a standard exchange')
  const isXmrEndpoint = endpoints.some(({ network }) => network.id === 'xmr')
  return new AppError(
    'PAIR_UNAVAILABLE',
    isXmrEndpoint
      ? 'privatePlus uses XMR as intermediary, which cannot be the source or target: use privateType efficient'
      : 'privatePlus uses XMR as intermediary, which is not available: use privateType efficient',
    { field: 'privateType' },
  )
}
