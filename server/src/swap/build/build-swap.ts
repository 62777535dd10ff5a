import { formatUnits } from '../../core/domain/amount.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { Partner } from '../../core/domain/partner.ts'
import type { Screening } from '../../core/ports/screening.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import type { WithIdempotency } from '../../core/services/interfaces.ts'
import { largest } from '../../lib/bigint.ts'
import type { AggregatorCall } from '../domain/aggregator-call.ts'
import { beatsOwnRoute } from '../domain/choose-aggregator.ts'
import { zeroAddress } from '../domain/token.ts'
import type { BuildRequest, SwapServices, SwapSettings } from '../interfaces.ts'
import type { BuiltApprovals } from '../ports/store/approvals.ts'
import type { SwapDesk } from '../ports/store/swaps.ts'
import type { PreparedSwap, SwapChain, SwapOrder } from '../ports/swap-chain.ts'
import type { BuildAggregatorCall } from '../quotes/ask-aggregators.ts'
import {
  type AggregatorDeps,
  readAggregatorQuotes,
  checkImpact,
  chooseQuote,
  aggregatorOrderOf,
  type PricedSwap,
  priceAt,
  priceSwap,
  type RouteSwapDeps,
  type WeightedQuote,
} from '../quotes/quote-swap.ts'
import { type ReadSwapDeps, readSwapRequest } from '../quotes/read-swap-request.ts'
import type { SwapRefs } from './swap-refs.ts'

export type BuildSwapDeps = ReadSwapDeps &
  RouteSwapDeps &
  AggregatorDeps &
  Readonly<{
    /** null: nobody else is asked. */
    buildAggregatorCall: BuildAggregatorCall | null
    log: Readonly<{ info(fields: object, message: string): void }>
    refs: SwapRefs
    desk: SwapDesk
    approvals: BuiltApprovals
    screening: Screening
    withIdempotency: WithIdempotency
    settings: SwapSettings
    now(): number
  }>

/** The transactions that carry a swap out, simulated before they are handed out. */
export function createBuildSwap(deps: BuildSwapDeps): SwapServices['buildSwap'] {
  return (partner, request, idempotency) => deps.withIdempotency(partner, idempotency, () => build(deps, partner, request))
}

async function build(deps: BuildSwapDeps, partner: Partner, request: BuildRequest): Promise<readonly string[]> {
  const { chain } = deps.networks.getOpen(request.network)
  const account = readAccount(chain, request.account, 'account')
  const read = await readSwapRequest(deps, request)
  await checkAccount(deps, chain, account)
  const parties = { account, ...(await feeTaker(deps, partner, chain, read.feePpm)) }
  const [priced, offers] = await Promise.all([priceSwap(deps, read), readAggregatorQuotes(deps, read, 'callable')])
  const offer = chooseQuote(deps, priced, offers)
  const outside = offer === null ? null : await prepareOutside(deps, partner, priced, parties, offer)
  const { approve, swap } = outside?.prepared ?? (await prepareOwn(deps, partner, priced, parties))
  // What our own route does not come through either is nobody's broken word.
  if (offer !== null && outside !== null) deps.reliability.record(chain.network.id, offer.source, outside.shortPpm)
  checkpoint('swap.built')
  if (approve === null) return [swap]
  // Sending an approval asks for this row.
  await deps.approvals.keep({
    partnerId: partner.id,
    network: chain.network.id,
    account,
    token: read.from.address,
    units: read.amountIn,
  })
  return [approve, swap]
}

type FeeTaker = Readonly<{ feeTo: string; owesFee: boolean }>
type Parties = FeeTaker & Readonly<{ account: string }>

async function prepareOwn(
  deps: BuildSwapDeps,
  partner: Partner,
  priced: PricedSwap,
  parties: Parties,
): Promise<PreparedSwap> {
  return prepare(deps, partner, priced, parties).catch(async (error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'SIMULATION_FAILED') throw error
    // The chain may be a block ahead of the route: once more, by the newest pools.
    const again = await priceSwap(deps, priced)
    if (again.routed.block.hash === priced.routed.block.hash) throw error
    return prepare(deps, partner, again, parties)
  })
}

/** No transaction in time, or one of contracts that it does not publish: it could not be built, whatever it pays. */
const UNBUILT_PPM = 2_000n
/** One that reverts pays less than its least; of a least that is hardly less than the offer that says little. */
const REVERTED_LEAST_PPM = 1_000n

/** `prepared` is null wherever our own route serves better, or the call does not come to a swap that works on chain. */
type Outside = Readonly<{ prepared: PreparedSwap | null /** by how much it fell short of its offer */; shortPpm: bigint }>

async function prepareOutside(
  deps: BuildSwapDeps,
  partner: Partner,
  priced: PricedSwap,
  parties: Parties,
  offer: WeightedQuote,
): Promise<Outside> {
  const order = aggregatorOrderOf(priced)
  if (order === null || deps.buildAggregatorCall === null) return { prepared: null, shortPpm: 0n }
  const { chain } = priced.network
  const { slippagePpm, amountIn } = priced
  const failed = (shortPpm: bigint, reason: string): Outside => {
    deps.log.info({ network: chain.network.id, source: offer.source, reason }, 'an outside offer was not built')
    return { prepared: null, shortPpm }
  }
  const trade = await deps.buildAggregatorCall(offer.source, { ...order, taker: chain.externalExecutor, slippagePpm })
  if (trade === null) return failed(UNBUILT_PPM, 'no call of its own contracts in time')
  const { gas, penaltyPpm } = offer
  if (!beatsOwnRoute(priced.routed, { ...trade, gas, penaltyPpm }, deps.settings.aggregatorGainBps))
    return failed(shortOf(offer.amountOut, trade.amountOut), 'no call as good as the offer')
  const better = priceAt(priced, trade.amountOut)
  try {
    const prepared = await prepare(deps, partner, better, parties, trade.call)
    const shortPpm = shortOf(priceAt(priced, offer.amountOut).received, prepared.simulatedOut)
    // What it says is one thing, what it pays another.
    if (prepared.simulatedOut >= priced.received) return { prepared, shortPpm }
    return failed(shortPpm, `it pays ${prepared.simulatedOut} for ${amountIn}, and our own route ${priced.received}`)
  } catch (error) {
    // Whatever is wrong with the account, our own route finds too, and says so.
    return failed(
      largest(BigInt(slippagePpm), REVERTED_LEAST_PPM),
      error instanceof AppError ? error.message : String(error),
    )
  }
}

const shortOf = (offered: bigint, paid: bigint): bigint =>
  paid >= offered ? 0n : ((offered - paid) * 1_000_000n) / offered

async function prepare(
  deps: BuildSwapDeps,
  partner: Partner,
  priced: PricedSwap,
  parties: Parties,
  aggregatorCall?: AggregatorCall,
): Promise<PreparedSwap> {
  checkImpact(deps, priced)
  const { chain } = priced.network
  return chain.prepare(orderOf(deps, partner, priced, parties, outside)).catch((error: unknown) => {
    throw inDecimals(error, { coin: chain.network.decimals, token: priced.from.decimals })
  })
}

/** What an account lacks, as amounts are told everywhere. */
function inDecimals(error: unknown, decimals: Readonly<{ coin: number; token: number }>): unknown {
  if (!(error instanceof AppError) || error.code !== 'INSUFFICIENT_BALANCE') return error
  const problems = error.problems.map(({ of, ...problem }) => {
    const places = of === 'coin' ? decimals.coin : decimals.token
    const told = (name: string) => formatUnits(BigInt(String(problem[name])), places)
    return { ...problem, required: told('required'), available: told('available') }
  })
  return new AppError(error.code, error.message, { problems, cause: error })
}

/** An account that a person can have: our contracts are none. */
export function readAccount(chain: SwapChain, text: string, field: string): string {
  const account = chain.parseAccount(text)
  if (account === null || isOurContract(chain, account))
    throw new AppError('INVALID_ADDRESS', `${field} is not an account on ${chain.network.id}`, { field })
  return account
}

const isOurContract = ({ router, executor, externalExecutor }: SwapChain, address: string): boolean =>
  [router, executor, externalExecutor].includes(address)

async function checkAccount({ desk, screening }: BuildSwapDeps, chain: SwapChain, account: string): Promise<void> {
  const spelled = chain.formatAddress(account)
  if (await desk.isOurs(spelled))
    throw new AppError('ADDRESS_IS_OURS', 'account is an address of this service', { field: 'account' })
  await screen(screening, chain, spelled)
}

export async function screen(screening: Screening, { network }: SwapChain, spelled: string): Promise<void> {
  const verdict = await screening.screen({ network: network.id, address: spelled, direction: 'recipient' })
  if (verdict !== 'allow') throw new AppError('RESTRICTED', 'this address cannot be served', { field: 'account' })
}

/** The partner's own, else the operator's, who owes it to the partner then. */
async function feeTaker(
  { desk, settings }: BuildSwapDeps,
  partner: Partner,
  chain: SwapChain,
  feePpm: number,
): Promise<FeeTaker> {
  if (feePpm === 0) return { feeTo: zeroAddress, owesFee: false }
  const { id } = chain.network
  const own = await desk.feeAddress(partner.id, id)
  const feeTo = chain.parseAccount(own ?? settings.feeAddresses.get(id) ?? '')
  // From our contracts anybody could take it.
  if (feeTo !== null && !isOurContract(chain, feeTo)) return { feeTo, owesFee: own === null }
  throw new AppError('REFERRER_FEE_OUT_OF_RANGE', `no address takes fees on ${id}: set one, or ask for no fee`, {
    field: 'referrerFee',
    extra: { min: '0', max: '0' },
  })
}

function orderOf(
  { refs, settings, now }: BuildSwapDeps,
  partner: Partner,
  { network: { chain }, from, to, amountIn, minReceived, feePpm, routed }: PricedSwap,
  { account, feeTo, owesFee }: Parties,
  aggregatorCall: AggregatorCall | undefined,
): SwapOrder {
  const terms = {
    ...{
      account,
      recipient: account,
      tokenIn: from.address,
      tokenOut: to.address,
      amountIn,
      minReceived,
      feePpm,
      feeTo,
    },
    deadline: Math.floor((now() + settings.deadlineMs) / 1000),
  }
  const own = outside === undefined ? {} : { outside }
  const order = { ...terms, ...own, swaps: routed.swaps }
  const callHash = chain.callHash(order)
  const ref = refs.issue({ ...terms, ...own, callHash, owesFee, partnerId: partner.id, network: chain.network.id })
  return { ...order, ref }
}
