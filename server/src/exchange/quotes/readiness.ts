import { type Book, FEES_MAX_AGE_MS, RESERVES_MAX_AGE_MS } from '../../core/domain/book.ts'
import type { Currency } from '../../core/domain/currency.ts'
import { AppError } from '../../core/domain/errors.ts'
import { hasCurrentPrices } from '../domain/price-age.ts'
import { isOffPeg } from '../domain/pricing.ts'
import { privateTypes } from '../domain/private-plan.ts'
import type { BookSnapshot } from './book-snapshot.ts'
import type { FindPrivateFailure } from './choose-intermediary.ts'
import type { RatesFeed } from './rates-feed.ts'

export type ReadinessDependencies = Readonly<{
  currencies: readonly Currency[]
  /** Networks with a chain adapter. */
  networks: readonly string[]
  books: Pick<BookSnapshot, 'current' | 'price'>
  feed: Pick<RatesFeed, 'lists'>
  findPrivateFailure: FindPrivateFailure
  now(): number
}>

/** The check of every direction takes some 100 ms without a pause. Until the next one passes this multiple of its time. */
const PAUSE_FACTOR = 10
/** Reasons in one answer. */
const REASONS_MAX = 10

/**
 * Reasons why quotes or creates would fail now; empty = ready. The process is ready for the first time once every enabled
 * direction can be quoted, privately too, and the feed lists it. Afterwards one network that fails does not take all
 * others out of service: then one direction that can be quoted is enough. Without funds in the hot wallets, the app is not
 * ready.
 */
export function createReadiness(dependencies: ReadinessDependencies): () => readonly string[] {
  const { now } = dependencies
  let wasReady = false
  let missing: readonly string[] = []
  let nextCheckAt = 0
  return () => {
    const reasons = findReasons(dependencies)
    if (reasons.length > 0 || wasReady) return reasons
    const startedAt = now()
    if (startedAt < nextCheckAt) return missing
    missing = findMissing(dependencies)
    nextCheckAt = now() + (now() - startedAt) * PAUSE_FACTOR
    wasReady = missing.length === 0
    return missing
  }
}

function findReasons({ currencies, networks, books, now }: ReadinessDependencies): readonly string[] {
  const book = books.current()
  const at = now()
  const reasons: string[] = []
  if (!currencies.some((currency) => hasCurrentPrices(book, currency, at))) reasons.push('prices are out of date')
  if (at - book.reserves.at > RESERVES_MAX_AGE_MS) reasons.push('reserves are out of date')
  const neededNetworks = Math.min(networks.length, 2)
  const funded = currencies.filter(
    ({ asset }) => networks.includes(asset.network) && (book.reserves.available.get(asset.id) ?? 0n) > 0n,
  )
  if (countNetworks(funded) < neededNetworks)
    reasons.push(`fewer than ${neededNetworks} networks have funds: send funds to the hot wallet addresses`)
  else if (reasons.length === 0 && !canQuote(funded, book, books, at, neededNetworks))
    reasons.push('no pair can be quoted: prices are out of date, networks are paused, or their nodes do not answer')
  return reasons
}

const countNetworks = (currencies: readonly Currency[]): number =>
  new Set(currencies.map(({ network }) => network.id)).size

/** Whether any direction can be priced: between two networks, or within one if there is only one. */
function canQuote(
  funded: readonly Currency[],
  book: Book,
  books: Pick<BookSnapshot, 'price'>,
  now: number,
  networks: number,
): boolean {
  const reachable = funded.filter(({ asset }) => now - (book.fees.get(asset.network)?.at ?? 0) <= FEES_MAX_AGE_MS)
  if (countNetworks(reachable) < networks) return false
  return reachable.some((from) =>
    reachable.some((to) => {
      const isDirection = networks > 1 ? from.network.id !== to.network.id : from.asset.id !== to.asset.id
      return isDirection && findFailure(books, { from, to }, now) === null
    }),
  )
}

type Direction = Readonly<{ from: Currency; to: Currency }>

function findFailure(books: Pick<BookSnapshot, 'price'>, direction: Direction, now: number): AppError | null {
  try {
    books.price({ ...direction, flow: 'standard', partnerFeeBps: 0 }, now)
    return null
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/**
 * Why an enabled direction cannot be quoted, is not in the feed, or cannot be quoted privately. A direction is not enabled
 * if a side is disabled, paused, without a current price or off its peg, or if the reserve of its target is too small: only the operator can
 * change these.
 */
function findMissing(dependencies: ReadinessDependencies): readonly string[] {
  const { books, feed, now } = dependencies
  const reasons = new Set<string>()
  const quotable: Direction[] = []
  for (const direction of listDirections(dependencies)) {
    const failure = findFailure(books, direction, now())
    if (failure?.retryable) reasons.add(failure.message)
    if (failure !== null) continue
    quotable.push(direction)
    if (!feed.lists(direction.from.asset.id, direction.to.asset.id))
      reasons.add('the rates feed does not list every direction yet')
  }
  // The private quotes cost more: they are checked once all others work.
  if (reasons.size === 0) for (const reason of findPrivateReasons(dependencies, quotable)) reasons.add(reason)
  return [...reasons].slice(0, REASONS_MAX)
}

function listDirections({ currencies, books, now }: ReadinessDependencies): readonly Direction[] {
  const book = books.current()
  const { pauses } = book
  const at = now()
  const enabled = currencies.filter((currency) => {
    const { enabled, asset, network, definition } = currency
    const isPaused = pauses.assets.has(asset.id) || pauses.networks.has(network.id)
    return enabled && !isPaused && hasCurrentPrices(book, currency, at) && !isOffPeg(book, definition)
  })
  return enabled.flatMap((from) => enabled.filter((to) => to !== from).map((to) => ({ from, to })))
}

/** A private exchange needs two networks. A lack of reserves, or of an intermediary, is no reason to wait. */
function findPrivateReasons(
  { findPrivateFailure }: ReadinessDependencies,
  quotable: readonly Direction[],
): Set<string> {
  const reasons = new Set<string>()
  for (const direction of quotable) {
    if (direction.from.network.id === direction.to.network.id) continue
    for (const type of privateTypes) {
      const failure = findPrivateFailure(direction, type)
      if (failure?.retryable) reasons.add(`private exchanges (${type}): ${failure.message}`)
    }
    if (reasons.size >= REASONS_MAX) break
  }
  return reasons
}
