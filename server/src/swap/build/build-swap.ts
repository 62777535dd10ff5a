import { formatUnits } from '../../core/domain/amount.ts'
import { AppError, type Problem } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import type { WithIdempotency } from '../../core/services/interfaces.ts'
import { present } from '../../lib/assert.ts'
import { largest } from '../../lib/bigint.ts'
import { type CheckAccountDeps, checkAccount, readAccount } from '../accounts.ts'
import { beatsOwnRoute } from '../domain/choose-aggregator.ts'
import type { Expiry } from '../domain/expiry.ts'
import { isPaused, poolPausesOf } from '../domain/pool-pauses.ts'
import type { BuildRequest, SwapServices, SwapSettings } from '../interfaces.ts'
import type { AggregatorCall } from '../ports/aggregator.ts'
import { InsufficientBalance } from '../ports/insufficient-balance.ts'
import type { BuiltApprovals } from '../ports/store/approvals.ts'
import type { BuiltExternalIds } from '../ports/store/built-external-ids.ts'
import { BelowMinimum, CoinRefused, type PreparedSwap, type SwapChain, type SwapOrder } from '../ports/swap-chain.ts'
import type { BuildAggregatorCall } from '../quotes/ask-aggregators.ts'
import { choosePayable, type FeeTerms, type FeeTermsDeps, readFeeTerms } from '../quotes/fee-terms.ts'
import {
  type AggregatorDeps,
  aggregatorOrderOf,
  checkLoss,
  chooseQuote,
  type PricedSwap,
  priceAggregator,
  priceAt,
  priceSwap,
  type RouteSwapDeps,
  readAggregatorQuotes,
  type WeightedQuote,
} from '../quotes/quote-swap.ts'
import { type ReadSwapDeps, readSwapRequest } from '../quotes/read-swap-request.ts'
import type { ExecutedSwap } from '../routing/execute.ts'
import { findContradiction, isMove } from './judge-simulation.ts'
import { type RouteReliability, suspectsOf } from './route-reliability.ts'
import type { SwapRefs } from './swap-refs.ts'

export type BuildSwapDeps = ReadSwapDeps &
  CheckAccountDeps &
  FeeTermsDeps &
  RouteSwapDeps &
  AggregatorDeps &
  Readonly<{
    routes: RouteReliability
    /** null if no aggregator is configured. */
    buildAggregatorCall: BuildAggregatorCall | null
    /** Scopes of paused pools, of all networks. */
    poolPauses(): Iterable<string>
    log: Readonly<{ info(fields: object, message: string): void }>
    refs: SwapRefs
    approvals: BuiltApprovals
    externalIds: BuiltExternalIds
    withIdempotency: WithIdempotency
    settings: SwapSettings
    now(): number
  }>

/** Builds the unsigned transactions of a swap. They are simulated before they are returned. */
export function createBuildSwap(deps: BuildSwapDeps): SwapServices['buildSwap'] {
  return (partner, request, idempotency) =>
    deps.withIdempotency(partner, idempotency, () => build(deps, partner, request))
}

async function build(deps: BuildSwapDeps, partner: Partner, request: BuildRequest): Promise<readonly string[]> {
  const { chain } = deps.networks.getOpen(request.network)
  const problems: Problem[] = []
  const accounts = readAccounts(chain, request, problems)
  const parsed = await readSwapRequest(deps, request, problems)
  const { account, recipient } = present(accounts, 'the accounts of a request without problems')
  await checkAccount(deps, chain, account, { field: 'account', direction: 'sender' })
  if (recipient !== account) await checkAccount(deps, chain, recipient, { field: 'recipient', direction: 'recipient' })
  const expiry = await chain.chooseExpiry(deps.now() + deps.settings.deadlineMs)
  const terms = { account, recipient, expiry, ...(await readFeeTerms(deps, partner, chain, parsed.feePpm)) }
  const avoid = deps.routes.avoided(chain.network.id, account)
  const [priced, quotes] = await Promise.all([
    priceSwap(deps, parsed, avoid),
    readAggregatorQuotes(deps, parsed, 'callable'),
  ])
  const quote = paysRecipient(chain, terms) ? chooseQuote(deps, priced, quotes) : null
  const attempt = quote === null ? null : await prepareByAggregator(deps, partner, priced, terms, quote)
  const { approve, swap, ref } = attempt?.prepared ?? (await prepareOwnRoute(deps, partner, priced, terms, avoid))
  // If our own route fails simulation too, `prepareOwnRoute` throws and the aggregator is not penalised. The contract of an unlisted token
  // decides what a build pays, so that anyone could exclude an aggregator by a token of their own.
  const isListed = priced.routed.unlisted.length === 0
  if (quote !== null && attempt !== null && attempt.shortPpm !== null && isListed)
    deps.reliability.record(chain.network.id, quote.source, attempt.shortPpm)
  checkpoint('swap.built')
  const { externalId } = request
  if (externalId !== undefined) await deps.externalIds.save({ ref, partnerId: partner.id, externalId })
  if (approve === null) return [swap]
  // `checkApproval` requires this row when the approval is sent.
  await deps.approvals.save({
    partnerId: partner.id,
    network: chain.network.id,
    account,
    token: parsed.from.address,
    units: parsed.amountIn,
  })
  return [approve, swap]
}

/** With the reference of its order. */
type BuiltSwap = PreparedSwap & Pick<SwapOrder, 'ref'>

type BuildTerms = FeeTerms & Readonly<{ account: string; recipient: string; expiry: Expiry | null }>

/** Routes per build: the first, one at newer pools, and one around pools that paid other than quoted. */
const ROUTES_MAX = 3

/**
 * Prepares our own route. If its simulation fails or contradicts the quote, it is routed again: once at newer pools, then around the pools
 * that may be the cause. On a fast network the pools are newer after each simulation, so that this alone is no reason for the same route.
 * No later route pays less than the slippage allows of the first: else anyone could lead builds to a pool that is far worse.
 */
async function prepareOwnRoute(
  deps: BuildSwapDeps,
  partner: Partner,
  first: PricedSwap,
  terms: BuildTerms,
  avoidedBefore: readonly string[],
): Promise<BuiltSwap> {
  const avoid = new Set(avoidedBefore)
  let priced = first
  let problem: AppError | null = null
  for (let routes = 1; ; routes++) {
    const attempt = await attemptRoute(deps, partner, priced, terms)
    if (attempt.prepared !== null) return attempt.prepared
    // The first problem tells the partner most: later routes are worse.
    problem ??= attempt.problem
    const { network, routed } = priced
    if (routes === ROUTES_MAX || routed.swaps.length === 0) throw problem
    const again = attempt.isProof ? null : await routeAgain(deps, priced, avoid)
    const newer = again?.routed.block.hash === routed.block.hash ? null : again
    if (newer !== null && routes === 1) {
      if (newer.received < first.minReceived) throw problem
      priced = newer
      continue
    }
    const { id } = network.chain.network
    const suspects = attempt.isProof ? deps.routes.record(id, routed, terms.account) : suspectsOf(routed)
    for (const pool of suspects) avoid.add(pool)
    const around = await routeAgain(deps, priced, avoid)
    const next = chooseNext(priced.received, attempt.paid, newer, around)
    if (next === null || next.received < first.minReceived) throw problem
    const dexes = [...new Set(routed.swaps.map(({ pool }) => pool.dex))]
    if (next === around)
      deps.log.info({ network: id, isProof: attempt.isProof, suspects, dexes }, 'routed around pools')
    priced = next
  }
}

/** Around the pools that may be the cause, or by the newer ones if these say what the simulation paid, and pay more. */
function chooseNext(
  quoted: bigint,
  paid: bigint | null,
  newer: PricedSwap | null,
  around: PricedSwap | null,
): PricedSwap | null {
  if (newer === null || around === null) return around ?? newer
  return newer.received > around.received && isMove(quoted, paid, newer.received) ? newer : around
}

/** At the newest pools; null without another route. */
const routeAgain = (deps: RouteSwapDeps, priced: PricedSwap, avoid: ReadonlySet<string>): Promise<PricedSwap | null> =>
  priceSwap(deps, priced, [...avoid]).catch((error: unknown) => {
    if (error instanceof AppError && error.kind === 'refused') return null
    throw error
  })

type RouteAttempt =
  | Readonly<{ prepared: BuiltSwap }>
  /** `paid`: by the simulation; null if that is not known. */
  | Readonly<{ prepared: null; problem: AppError; isProof: boolean; paid: bigint | null }>

/** A failed or contradicting simulation is a problem; any other error is thrown. */
async function attemptRoute(
  deps: BuildSwapDeps,
  partner: Partner,
  priced: PricedSwap,
  terms: BuildTerms,
): Promise<RouteAttempt> {
  const prepared = await prepare(deps, partner, priced, terms).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'SIMULATION_FAILED') return error
    throw error
  })
  if (prepared instanceof BelowMinimum) {
    const { simulation } = prepared
    const isProof = findContradiction(priced.routed, priced.received, [simulation])?.isProof === true
    return { prepared: null, problem: prepared, isProof, paid: simulation.amountOut }
  }
  if (prepared instanceof AppError) return { prepared: null, problem: prepared, isProof: false, paid: null }
  const contradiction = findContradiction(priced.routed, priced.received, prepared.simulations)
  if (contradiction === null) return { prepared }
  const { isProof, simulated } = contradiction
  return { prepared: null, problem: contradicted(priced, simulated), isProof, paid: simulated }
}

function contradicted({ received, to }: PricedSwap, simulatedUnits: bigint): AppError {
  const [quoted, simulated] = [formatUnits(received, to.decimals), formatUnits(simulatedUnits, to.decimals)]
  const message = `the swap would pay ${simulated} and not the quoted ${quoted}: a token or pool of the route acts differently than it says`
  return new AppError('SIMULATION_FAILED', message, { extra: { reason: 'differs from the quote', quoted, simulated } })
}

/** Shortfall of an aggregator without a valid transaction in time. */
const UNBUILT_PPM = 2_000n
/** Least shortfall of a transaction that reverts. */
const REVERTED_MIN_PPM = 1_000n

type AggregatorAttempt = Readonly<{
  /** Null if our own route is better, or if the aggregator's call fails. */
  prepared: BuiltSwap | null
  /** Shortfall against the quote, millionths; null: the build says nothing about the aggregator. */
  shortPpm: bigint | null
}>

async function prepareByAggregator(
  deps: BuildSwapDeps,
  partner: Partner,
  priced: PricedSwap,
  terms: BuildTerms,
  quote: WeightedQuote,
): Promise<AggregatorAttempt> {
  if (deps.buildAggregatorCall === null) return { prepared: null, shortPpm: 0n }
  const { chain } = priced.network
  const { slippagePpm, amountIn } = priced
  const failed = (shortPpm: bigint | null, reason: string): AggregatorAttempt => {
    deps.log.info({ network: chain.network.id, source: quote.source, reason }, 'an aggregator quote was not built')
    return { prepared: null, shortPpm }
  }
  const taker = chain.aggregatorTaker ?? terms.account
  const order = { ...aggregatorOrderOf(priced), taker, slippagePpm }
  const trade = await deps.buildAggregatorCall(quote.source, order, chain)
  if (trade === null) return failed(UNBUILT_PPM, 'no valid call to its published contracts in time')
  const { gas, penaltyPpm } = quote
  const own = { ...priced.routed, referenceOut: priced.referenceOut, aggregatorGas: chain.aggregatorGas }
  if (!beatsOwnRoute(own, { ...trade, gas, penaltyPpm }, deps.settings.aggregatorGainBps))
    return failed(shortfallPpm(quote.amountOut, trade.amountOut), 'the call pays less than our own route')
  if ('swaps' in trade.call && isOnPausedPool(deps, chain, trade.call.swaps))
    return failed(0n, 'a DEX, pool or token of its route is paused')
  const repriced = priceAggregator(priced, trade.amountOut)
  const quoted = priceAt(priced, quote.amountOut).received
  try {
    if (!(await chain.isKnownCall(trade.call, priced.from.address)))
      return failed(UNBUILT_PPM, 'the call hands the input to an unknown contract')
    const prepared = await prepare(deps, partner, repriced, terms, trade.call)
    const shortPpm = shortfallPpm(quoted, prepared.simulatedOut)
    // Trust the simulated output, not the claimed one.
    if (prepared.simulatedOut >= priced.received) return { prepared, shortPpm }
    return failed(shortPpm, `for ${amountIn} it pays ${prepared.simulatedOut}; our own route pays ${priced.received}`)
  } catch (error) {
    // The code of the recipient can tell by whom it is paid: anyone could exclude an aggregator by an account of their own.
    if (error instanceof CoinRefused) return failed(null, error.message)
    // It pays less than its minimum, by an unknown amount. The slippage that the user accepts may allow far less than that minimum.
    const shortPpm = shortfallPpm(quoted, repriced.minReceived)
    // A problem of the account also fails our own route, which then reports it.
    return failed(largest(shortPpm, REVERTED_MIN_PPM), error instanceof AppError ? error.message : String(error))
  }
}

function isOnPausedPool(
  { poolPauses }: BuildSwapDeps,
  { network }: SwapChain,
  swaps: readonly ExecutedSwap[],
): boolean {
  const pauses = poolPausesOf(poolPauses(), network.id)
  return swaps.some(({ pool }) => isPaused(pool, pauses))
}

const shortfallPpm = (quoted: bigint, paid: bigint): bigint =>
  paid >= quoted ? 0n : ((quoted - paid) * 1_000_000n) / quoted

async function prepare(
  deps: BuildSwapDeps,
  partner: Partner,
  priced: PricedSwap,
  terms: BuildTerms,
  aggregatorCall?: AggregatorCall,
): Promise<BuiltSwap> {
  checkLoss(deps, priced)
  if (priced.minReceived <= 0n || priced.amountIn <= 0n)
    throw new AppError('AMOUNT_BELOW_MIN', 'the amount is too small: nothing would be received', { field: 'amount' })
  const { chain } = priced.network
  const decimals = { native: chain.network.decimals, token: priced.from.decimals }
  const fee = await choosePayable(deps, chain, terms, { token: priced.to.address, units: priced.fee })
  const order = orderOf(deps, partner, priced, { ...terms, ...fee }, aggregatorCall)
  const prepared = await chain.prepare(order).catch((error: unknown) => {
    throw error instanceof InsufficientBalance ? new InsufficientBalance(error.shortage, decimals) : error
  })
  return { ...prepared, ref: order.ref }
}

/** The sender, and who receives the output: the sender, unless the request names another account. Null with a problem added. */
function readAccounts(
  chain: SwapChain,
  request: BuildRequest,
  problems: Problem[],
): Pick<BuildTerms, 'account' | 'recipient'> | null {
  const account = readAccount(chain, request.account, 'account', problems)
  const recipient = request.recipient === undefined ? account : readRecipient(chain, request, account, problems)
  return account === null || recipient === null ? null : { account, recipient }
}

function readRecipient(
  chain: SwapChain,
  { recipient: text = '', fromTokenAddress, toTokenAddress }: BuildRequest,
  account: string | null,
  problems: Problem[],
): string | null {
  const field = 'recipient'
  const recipient = readAccount(chain, text, field, problems)
  if (recipient === null || recipient === account) return recipient
  if (!chain.paysOthers) {
    const message = `a swap on ${chain.network.id} pays its sender: leave recipient out`
    problems.push({ code: 'VALIDATION_ERROR', field, message })
    return null
  }
  // The contract of a token would keep what is paid to it. That of the wrapped coin is no payee at all.
  if ([fromTokenAddress, toTokenAddress].some((token) => chain.parse(token) === recipient)) {
    problems.push({ code: 'INVALID_ADDRESS', field, message: 'recipient is one of the two tokens' })
    return null
  }
  return recipient
}

/** An aggregator that trades for the sender's own account also pays that account. */
const paysRecipient = (chain: SwapChain, { account, recipient }: Pick<BuildTerms, 'account' | 'recipient'>): boolean =>
  recipient === account || chain.aggregatorTaker !== null

function orderOf(
  { refs }: BuildSwapDeps,
  partner: Partner,
  { network: { chain }, from, to, amountIn, minReceived, feePpm, routed }: PricedSwap,
  { account, recipient, feeTo, owesFee, expiry }: BuildTerms,
  aggregatorCall: AggregatorCall | undefined,
): SwapOrder {
  const terms = {
    ...{ account, recipient, tokenIn: from.address, tokenOut: to.address },
    ...{ amountIn, minReceived, feePpm, feeTo, expiry },
  }
  const call = aggregatorCall === undefined ? {} : { aggregatorCall }
  const order = { ...terms, ...call, swaps: routed.swaps }
  const callHash = chain.hashCall(order)
  const dexes = swapsOf(order).map(({ pool }) => pool.dex)
  const built = { ...terms, ...call, callHash, owesFee, partnerId: partner.id, network: chain.network.id }
  const ref = refs.issue(built, dexes)
  return { ...order, ref }
}

/** The swaps that the transaction names: none for a call of an aggregator's contract. */
function swapsOf({ swaps, aggregatorCall }: Pick<SwapOrder, 'swaps' | 'aggregatorCall'>): readonly ExecutedSwap[] {
  if (aggregatorCall === undefined) return swaps
  return 'swaps' in aggregatorCall ? aggregatorCall.swaps : []
}
