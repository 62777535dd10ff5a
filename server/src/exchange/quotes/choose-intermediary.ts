import type { Currency } from '../../core/domain/currency.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import { chooseBestIntermediary, RESERVE_MARGIN_PPM, type QuotedIntermediary, quoteLegs } from '../domain/intermediary.ts'
import type { IntermediaryOption, PrivateType } from '../domain/private-plan.ts'
import type { Chain } from '../ports/chain.ts'
import { type PrivacySettings, requiredConfirmations } from '../settings.ts'
import type { BookSnapshot } from './book-snapshot.ts'
import type { QuoteClock } from './quote-rate.ts'

export type ChooseIntermediaryDependencies = Readonly<{
  currencies: readonly Currency[]
  books: BookSnapshot
  clock: QuoteClock
  chains: ReadonlyMap<string, Chain>
  privacy: PrivacySettings
}>

export type Endpoints = Readonly<{ from: Currency; to: Currency }>
/** The way that was chosen, and what became of all the others. */
export type ChosenIntermediary = QuotedIntermediary & Readonly<{ considered: readonly IntermediaryOption[] }>
/** Finds the way of an amount through an intermediary, or says why there is none. From memory alone. */
export type ChooseIntermediary = (
  partner: Partner,
  ends: Endpoints,
  type: PrivateType,
  fromUnits: bigint,
) => ChosenIntermediary

const MONERO = 'xmr@xmr'

/**
 * Which intermediaries a private exchange may go through, and the best of them by the live quotes of both legs. The three
 * chains have three wallets, none of which is on two of them: so that no transaction, change, gas or sweep of ours is on
 * both sides of one exchange.
 */
export function createChooseIntermediary(deps: ChooseIntermediaryDependencies): ChooseIntermediary {
  const { books, clock, chains } = deps
  const wallet = ({ network }: Currency) => chains.get(network.id)?.addresses.hot() ?? null
  return (partner, { from, to }, type, fromUnits) => {
    // Whatever stops the pair itself is said first.
    books.price({ from, to, flow: 'standard', partnerFeeBps: partner.feeBps }, clock.now())
    if (from.network.id === to.network.id || wallet(from) === wallet(to))
      throw new AppError('PAIR_UNAVAILABLE', 'one wallet of ours would serve both ends: ask for a standard exchange', {
        field: 'toNetwork',
      })
    const ways: QuotedIntermediary[] = []
    const considered: IntermediaryOption[] = []
    const failures: AppError[] = []
    for (const via of candidates(deps.currencies, type)) {
      const { id: assetId } = via.asset
      const refused = unfit(via, [from, to], wallet)
      if (refused !== null) {
        considered.push({ assetId, refused })
        continue
      }
      try {
        const way = quoteThrough(deps, partner, { from, to }, via, fromUnits)
        ways.push(way)
        considered.push({ assetId, toUnits: way.quote.toUnits.toString(), seconds: way.seconds })
      } catch (error) {
        if (!(error instanceof AppError) || error.kind === 'bug') throw error
        failures.push(error)
        considered.push({ assetId, refused: error.code })
      }
    }
    const chosen = chooseBestIntermediary(ways)
    if (chosen === null) throw none(type, [from, to], failures)
    return { ...chosen, considered }
  }
}

/** Coins, not tokens: what another can freeze is no intermediary. Destinations without memos, which two exchanges would share. */
function candidates(currencies: readonly Currency[], type: PrivateType): readonly Currency[] {
  if (type === 'privatePlus') return currencies.filter(({ asset }) => asset.id === MONERO)
  return currencies.filter(
    ({ asset, enabled, network }) => enabled && asset.contract === null && network.memo === 'none',
  )
}

function unfit(
  via: Currency,
  ends: readonly Currency[],
  wallet: (currency: Currency) => string | null,
): 'SAME_NETWORK' | 'SAME_WALLET' | null {
  if (ends.some(({ network }) => network.id === via.network.id)) return 'SAME_NETWORK'
  return ends.some((end) => wallet(end) === wallet(via)) ? 'SAME_WALLET' : null
}

function quoteThrough(
  { books, clock, privacy }: ChooseIntermediaryDependencies,
  partner: Partner,
  { from, to }: Endpoints,
  via: Currency,
  fromUnits: bigint,
): QuotedIntermediary {
  const first = books.price({ from, to: via, flow: 'standard', partnerFeeBps: 0 }, clock.now())
  const second = books.price({ from: via, to, flow: 'standard', partnerFeeBps: partner.feeBps }, clock.now())
  const quote = quoteLegs(first, second, fromUnits, (privacy.payoutMaxPpm ?? 0) + RESERVE_MARGIN_PPM)
  if (quote.maxUnits !== null && quote.maxUnits < quote.minUnits)
    throw new AppError('INSUFFICIENT_LIQUIDITY', 'the reserves do not cover an exchange at the moment')
  const { confirmations, finalityBlocks } = from.network
  const deposit = secondsOf(from, requiredConfirmations(confirmations, finalityBlocks, quote.fromUsd))
  const payouts = secondsOf(via, via.network.confirmations) + secondsOf(to, to.network.confirmations)
  // Two waits, each half of the longest on average.
  return { via, quote, seconds: deposit + payouts + Math.ceil(privacy.delayMaxMs / 1_000) }
}

/** The block that takes it, and those on top of it. */
function secondsOf({ network }: Currency, confirmations: number): number {
  return Math.ceil((network.blockTimeMs * (confirmations + 1)) / 1_000)
}

function none(type: PrivateType, ends: readonly Currency[], failures: readonly AppError[]): AppError {
  const waiting = failures.find(({ retryable }) => retryable)
  if (waiting) return new AppError(waiting.code, 'no intermediary can be reached now', { cause: waiting })
  if (type === 'efficient') return new AppError('PAIR_UNAVAILABLE', 'no intermediary serves this pair now')
  const isEnd = ends.some(({ network }) => network.id === 'xmr')
  return new AppError(
    'PAIR_UNAVAILABLE',
    isEnd
      ? 'XMR cannot be the intermediary of an exchange of its own: ask for efficient'
      : 'privatePlus goes through XMR, which is not available: ask for efficient',
    { field: 'privateType' },
  )
}
