import { randomInt } from 'node:crypto'
import { createIdempotencyStore } from '../adapters/postgres/core/idempotency.ts'
import { isOwnAddress } from '../adapters/postgres/core/own-addresses.ts'
import { createPartnerStore } from '../adapters/postgres/core/partners.ts'
import { createWithIdempotency } from '../core/services/with-idempotency.ts'
import { createCancelExchange } from '../exchange/orders/cancel-exchange.ts'
import { createCheckAddress } from '../exchange/orders/check-address.ts'
import { type CreateExchangeDeps, createCreateExchange } from '../exchange/orders/create-exchange.ts'
import { createCreatePrivateExchange } from '../exchange/orders/create-private-exchange.ts'
import { createDepositAddresses } from '../exchange/orders/deposit-addresses.ts'
import { createExpectations } from '../exchange/orders/expectations.ts'
import { createExpireExchange } from '../exchange/orders/expire-exchange.ts'
import { createFindExchange, createListExchanges } from '../exchange/orders/find-exchange.ts'
import { createNameRefundAddress } from '../exchange/orders/name-refund-address.ts'
import { createOpenCounts } from '../exchange/orders/open-counts.ts'
import { createReportExchanges } from '../exchange/orders/report-exchanges.ts'
import { createTracking } from '../exchange/orders/track-exchanges.ts'
import { createTrackingTokens } from '../exchange/orders/tracking-tokens.ts'
import { createChooseForOutput } from '../exchange/quotes/choose-for-output.ts'
import {
  createChooseIntermediary,
  createFindPrivateFailure,
  createQuotePrivate,
} from '../exchange/quotes/choose-intermediary.ts'
import { createListCurrencies } from '../exchange/quotes/list-currencies.ts'
import { createListPairs } from '../exchange/quotes/list-pairs.ts'
import { createQuoteRate } from '../exchange/quotes/quote-rate.ts'
import { createRateIds } from '../exchange/quotes/rate-id.ts'
import type { RatesFeed } from '../exchange/quotes/rates-feed.ts'
import { createReadiness } from '../exchange/quotes/readiness.ts'
import { createResolveNames } from '../exchange/quotes/resolve-names.ts'
import type { PrivacySettings, ServiceSettings } from '../exchange/settings.ts'
import { createBatcher } from '../lib/batch.ts'
import type { Events } from './events.ts'
import type { Services } from './http.ts'
import type { Metrics } from './metrics.ts'
import { createOwnAccount } from './partner-account.ts'
import { createScreening } from './screening.ts'
import type { Swaps } from './swaps.ts'
import type { SharedDependencies } from './workers.ts'

/** `previousPepper`: tracking links that were made under it stay valid. */
type ServiceOptions = Readonly<{
  pepper: Uint8Array
  previousPepper?: Uint8Array | null
  settings: ServiceSettings
  denied: readonly string[]
  metrics: Metrics
}>

export type ServiceDependencies = SharedDependencies &
  Pick<Services, 'authenticate'> & {
    feed: RatesFeed
    starting: ReadonlySet<string>
    swaps: Swaps
    events: Events
  }

/** Everything that the routes call. */
export function createServices(options: ServiceOptions, dependencies: ServiceDependencies): Services {
  const { store, catalogue, chains, books, clock } = dependencies
  const { settings } = options
  const rateIds = createRateIds(options.pepper)
  const quoteRate = createQuoteRate({ catalogue, books, rateIds, clock, rateIdTtlMs: settings.rateIdMs })
  const { metrics } = options
  const commit = createBatcher(store.exchanges.create, { most: 100, running: 2 })
  const { privacy } = settings
  const currencies = catalogue.list()
  const expectations = createExpectations({ currencies, books, privacy })
  const intermediaries = { currencies, books, clock, chains, privacy }
  const chooseIntermediary = createChooseIntermediary(intermediaries)
  const creating: CreateExchangeDeps = {
    catalogue,
    books,
    clock,
    chains,
    rateIds,
    quoteRate,
    settings,
    commit: async (row) => {
      const outcome = await commit(row)
      metrics.created(outcome.kind === 'created' || outcome.kind === 'repeated' ? outcome.kind : 'refused')
      return outcome
    },
    allocateDeposit: createDepositAddresses(chains, store.exchanges.takeKeyIndexes),
    findByIdempotencyKey: store.exchanges.findRepeated,
    countOpen: createOpenCounts({ countOpen: store.exchanges.countOpen, now: clock.now }),
    screening: createScreening(options.denied, chains),
    expectations,
  }
  const refunding = {
    exchanges: store.exchanges,
    catalogue,
    chains,
    screening: creating.screening,
    isOwnAddress: (address: string) => isOwnAddress(dependencies.database, address),
  }
  return {
    authenticate: dependencies.authenticate,
    ...createReadServices(dependencies, privacy),
    expectations,
    quoteRate: countQuotes(quoteRate, metrics),
    createExchange: createCreateExchange(creating),
    createPrivateExchange: createCreatePrivateExchange({ ...creating, chooseIntermediary, privacy, draw: randomInt }),
    quotePrivate: createQuotePrivate(catalogue, {
      from: chooseIntermediary,
      to: createChooseForOutput(intermediaries, chooseIntermediary),
    }),
    findExchange: createFindExchange(store),
    cancelExchange: createCancelExchange(store),
    expireExchange: createExpireExchange(store),
    nameRefundAddress: createNameRefundAddress(refunding),
    tracking: createTracking({
      ...refunding,
      tokens: createTrackingTokens(options.pepper, options.previousPepper),
      allowsRefundByLink: createPartnerStore(dependencies.database).allowsRefundByLink,
    }),
    listExchanges: createListExchanges(store),
    reportExchanges: createReportExchanges(store),
    partnerAccount: createOwnAccount(dependencies),
    swaps: dependencies.swaps.services,
    events: dependencies.events.services,
    withIdempotency: createWithIdempotency(createIdempotencyStore(dependencies.database)),
  }
}

/** Services that only read, mostly from memory. */
function createReadServices(
  { catalogue, chains, books, clock, database, feed, starting, swaps }: ServiceDependencies,
  privacy: PrivacySettings,
) {
  const currencies = catalogue.list()
  const readiness = createReadiness({
    currencies,
    networks: [...chains.keys()],
    books,
    feed,
    findPrivateFailure: createFindPrivateFailure({ currencies, books, clock, chains, privacy }),
    now: clock.now,
  })
  return {
    listCurrencies: createListCurrencies({ currencies, books }),
    resolveNames: createResolveNames(catalogue),
    listPairs: createListPairs({ currencies, books, clock }),
    checkAddress: createCheckAddress({
      catalogue,
      chains,
      isOwnAddress: (address) => isOwnAddress(database, address),
    }),
    ratesFeed: feed.ratesFeed,
    readiness: () => {
      const reasons = [...starting, ...swaps.starting()]
      return reasons.length > 0 ? reasons : readiness()
    },
  }
}

/** Counts quotes by their outcome. */
function countQuotes(quoteRate: Services['quoteRate'], metrics: Metrics): Services['quoteRate'] {
  return (partner, request) => {
    try {
      const issued = quoteRate(partner, request)
      metrics.quoted('quoted')
      return issued
    } catch (error) {
      metrics.quoted('refused')
      throw error
    }
  }
}
