import { BPS, scale } from '../../../core/domain/amount.ts'
import { AppError } from '../../../core/domain/errors.ts'
import { conversionEntry, conversionId, toPartnerEntry } from '../../../core/domain/ledger/entries.ts'
import { reversalOf } from '../../../core/domain/ledger/journal.ts'
import { assert, present } from '../../../lib/assert.ts'
import { quoteLegs } from '../../domain/intermediary.ts'
import { isTerminal } from '../../domain/lifecycle.ts'
import type { PairPricing } from '../../domain/pricing.ts'
import { paidUnits, shownUnits } from '../../domain/private-plan.ts'
import { type DepositTerms, decideTerms, type LiveRate, toLiveRate } from '../../domain/terms.ts'
import type { Destination } from '../../ports/chain.ts'
import type { Execution } from '../../ports/store/execution.ts'
import type { StoreTx } from '../../ports/store/store.ts'
import { type Act, convertibleUnits, getChain, holdFor, hasNextLeg, isOwed, isRightAsset, legOf, move } from './context.ts'
import { drawnDelayMs, minOutputUnits, payoutIdOf, reserve } from './reserve.ts'

/** Never an id again whose order was settled: what was taken back or refused is tried anew under another (I-22). */
export function nextOrderId({ id, deposit, orderId }: Execution): string {
  const first = `${id}:${deposit.credits}`
  if (orderId === null || (orderId !== first && !orderId.startsWith(`${first}.`))) return first
  return `${first}.${Number(orderId.slice(first.length + 1) || '1') + 1}`
}

/** The floating direction of a leg as the book prices it now; it throws as a quote does. The last one bears the partner's fee. */
function pricingOf(act: Act, leg = legOf(act)): PairPricing {
  const {
    deps,
    context: { exchange },
  } = act
  const partnerFeeBps = leg === exchange.legs.at(-1) ? exchange.partnerFeeBps : 0
  const from = present(deps.currencyOf(leg.from.id), `the listing of ${leg.from.id}`)
  const to = present(deps.currencyOf(leg.to.id), `the listing of ${leg.to.id}`)
  return deps.books.price({ from, to, flow: 'standard', partnerFeeBps }, deps.clock.now())
}

/** The bounds of a first leg are those of the whole way: what the last one could not pay is not begun. */
function liveOf(act: Act): LiveRate {
  const { exchange } = act.context
  const pricing = pricingOf(act)
  const next = exchange.legs[act.execution.leg + 1]
  if (next === undefined) return toLiveRate(pricing)
  const { minUnits, maxUnits } = quoteLegs(
    pricing,
    pricingOf(act, next),
    exchange.fromUnits,
    Math.max(exchange.plan?.payoutPpm ?? 0, 0),
  )
  return { ...toLiveRate(pricing), minUnits, maxUnits }
}

/** How this deposit executes, or `wait` where that needs a rate and there is none now. */
export async function termsOf(act: Act): Promise<DepositTerms | { kind: 'wait' }> {
  const {
    context: { exchange },
    execution,
  } = act
  assert(isRightAsset(act), `execution ${execution.id} has terms only in the asset that was ordered`)
  const first = await isFirst(act)
  const isFurther = execution.leg > 0
  try {
    return decideTerms({
      flow: exchange.flow,
      fixed: exchange.flow === 'fixed-rate' ? { fromUnits: exchange.fromUnits, toUnits: exchange.toUnits } : null,
      isFirst: first,
      // A further leg is our own payment: it is never late, nor too small for what was accepted.
      seenAt: isFurther ? exchange.createdAt : execution.deposit.firstSeenAt,
      fixedUntil: exchange.fixedUntil,
      expiresAt: exchange.expiresAt,
      closedBefore: !isFurther && isTerminal(exchange.status),
      depositUnits: convertibleUnits(act),
      requestedUnits: isFurther ? convertibleUnits(act) : exchange.fromUnits,
      live: () => liveOf(act),
    })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // A listing that was taken off or has no reserve gives the money back; a source that is silent is waited for.
    return error.retryable ? { kind: 'wait' } : { kind: 'refund', reason: 'NO_LIQUIDITY' }
  }
}

/** A fixed rate serves one deposit: the first that is there. One that left the chain leaves it to the next. */
async function isFirst(act: Act): Promise<boolean> {
  const {
    tx,
    context: { exchange },
    execution: { leg, deposit },
  } = act
  if (exchange.flow !== 'fixed-rate') return false
  return !(await tx.steps.isRateUsed(exchange.id, { leg, depositId: deposit.id }, legOf(act).from.id))
}

/** Places the order at the venue under an id that exists before the call. Null = nothing can be done now. */
export async function convert(act: Act): Promise<Execution | null> {
  const {
    deps,
    tx,
    execution,
    context: { exchange },
  } = act
  if (!isRightAsset(act)) return move(act, 'refunding', 'WRONG_ASSET', 'not what was ordered')
  const terms = await termsOf(act)
  if (terms.kind === 'wait') return null
  if (terms.kind === 'refund') return move(act, 'refunding', terms.reason, 'not convertible')
  const { from, to } = legOf(act)
  const takeUnits = dueOf(act, terms.toUnits)
  if ((exchange.recipient !== null || hasNextLeg(act)) && takeUnits < minOutputUnits(act, to))
    return move(act, 'refunding', 'BELOW_MIN', 'too small to be paid out')
  const giveUnits = present(execution.deposit.creditedUnits, 'credited units')
  if (!(await isOwed(act, from.id, giveUnits))) return holdFor(act, 'OPERATOR', {}, { uncovered: from.id })
  const id = nextOrderId(execution)
  const order = { id, give: from, giveUnits, take: to, takeUnits }
  await tx.inventory.order({
    id,
    executionId: execution.id,
    venue: deps.venue.id,
    giveAsset: from.id,
    giveUnits: order.giveUnits,
    takeAsset: to.id,
    takeUnits,
  })
  // What a fixed rate held for this exchange is what its order takes.
  if (terms.rate !== 'floating') await tx.inventory.release(`hold:${exchange.id}`)
  const outcome = await deps.venue.place({ ...order, exchangeId: exchange.id }, tx)
  if (outcome.kind !== 'filled') {
    await tx.inventory.settleOrder(id, outcome.kind === 'rejected' ? 'rejected' : 'unknown')
    return outcome.kind === 'rejected'
      ? move(act, 'refunding', 'NO_LIQUIDITY', 'no venue could fill', { orderId: id, decision: null })
      : null
  }
  await tx.inventory.settleOrder(id, 'filled')
  await tx.ledger.post(
    conversionEntry({
      orderId: id,
      exchangeId: exchange.id,
      partnerId: exchange.partnerId,
      give: { assetId: from.id, units: order.giveUnits },
      take: { assetId: to.id, ...margin(act, convertibleUnits(act), terms.toUnits), dueUnits: takeUnits },
    }),
  )
  const moved = await move(
    act,
    'exchanging',
    null,
    'converted',
    { dueUnits: takeUnits, rateKind: terms.rate, orderId: id },
    { takeUnits: takeUnits.toString() },
  )
  return { ...moved, order: { id, state: 'filled', takeUnits } }
}

/**
 * An intermediary's chain never shows the plain amount; what it is not shown stays with the house until the next leg. What
 * the recipient gets may differ by what was drawn for it.
 */
function dueOf(act: Act, plainUnits: bigint): bigint {
  const { plan } = act.context.exchange
  if (plan === undefined) return plainUnits
  return hasNextLeg(act) ? shownUnits(plan, plainUnits) : paidUnits(plan, plainUnits)
}

/** A person wants what was on its way back converted after all: what was reserved for it is void first. */
export async function reconvert(act: Act): Promise<Execution> {
  await unwind(act)
  await act.tx.alarms.clear(`held:${act.execution.id}`)
  const moved = await move(act, 'exchanging', null, 'to be converted after all', { dueUnits: null })
  const { order } = act.execution
  return { ...moved, payout: null, order: order?.state === 'filled' ? { ...order, state: 'cancelled' } : order }
}

/** Takes a conversion back while nothing of it is signed: the payout, the order, the reservation and the postings. */
export async function unwind({ tx, execution }: Act): Promise<void> {
  if (execution.payout && !(await tx.payouts.void(execution.payout.id))) {
    throw new AppError('OVERLOADED', 'the payout was signed meanwhile: the step is run again')
  }
  if (execution.payout?.purpose === 'refund')
    await reverse(tx, `payout:${execution.payout.id}:refund-fee`, 'refund fee reversed')
  const { order } = execution
  if (order?.state !== 'filled') return
  await reverse(tx, conversionId(order.id), 'conversion reversed')
  await tx.inventory.release(order.id)
  await tx.inventory.settleOrder(order.id, 'cancelled')
}

async function reverse(tx: StoreTx, id: string, event: string): Promise<void> {
  const entry = await tx.ledger.entry(id)
  if (entry) await tx.ledger.post(reversalOf(entry, `${id}:reversed`, event))
}

/** What the reference rate gives beyond the payout, part by part. At a fixed rate the house may have nothing left, or less. */
function margin(act: Act, giveUnits: bigint, dueUnits: bigint) {
  const none = { dueUnits, spreadUnits: 0n, networkUnits: 0n, partnerUnits: 0n }
  let pricing: PairPricing
  try {
    pricing = pricingOf(act)
  } catch (error) {
    if (error instanceof AppError) return none
    throw error
  }
  const gross = scale(giveUnits, pricing.rate.numerator, pricing.rate.denominator, 'down')
  const { networkUnits, partnerBps } = pricing
  // The partner's share of what came before the network fee, as the quote takes it.
  const partnerUnits = scale(dueUnits + networkUnits, partnerBps, BPS - partnerBps, 'down')
  const rest = gross - dueUnits - networkUnits - partnerUnits
  return { dueUnits, networkUnits, partnerUnits, spreadUnits: rest > 0n ? rest : 0n }
}

/**
 * The proceeds are there: to the recipient, or to the partner's balance where no address was named. Null = nobody was
 * screened for this step.
 */
export async function reservePayout(act: Act): Promise<Execution | null> {
  const {
    tx,
    execution,
    context: { exchange },
  } = act
  const { to } = legOf(act)
  const units = present(execution.dueUnits, 'a converted execution has what is due')
  if (act.evidence === null) return null
  if (act.evidence.screening !== 'allow' && execution.decision !== 'release') return holdFor(act, 'SCREENING')
  if (exchange.recipient === null && !hasNextLeg(act)) {
    await tx.ledger.post(toPartnerEntry(execution.id, exchange.id, exchange.partnerId, to.id, units))
    await tx.inventory.release(present(execution.order, 'a converted execution has its order').id)
    const sending = await move(act, 'sending', null, 'credited to the partner', { sentUnits: units })
    return move({ ...act, execution: sending }, 'finished', null, 'finished')
  }
  const destination = hasNextLeg(act) ? await nextTarget(act) : present(exchange.recipient, 'a recipient')
  const id = await payoutIdOf(act)
  return reserve(act, { id, purpose: 'payout', asset: to, to: destination, units, heldMs: drawnDelayMs(act) })
}

/** Where the next leg's deposit will arrive: a fresh address of ours, stored before anything is signed for it. */
async function nextTarget(act: Act): Promise<Destination> {
  const { deps, tx, execution } = act
  const { network } = legOf(act).to
  const keyIndex = present((await tx.exchanges.takeKeyIndexes(1))[0], 'a fresh index')
  const destination = getChain(deps, network).addresses.deposit(keyIndex)
  await tx.steps.addDepositTarget({
    exchangeId: act.context.exchange.id,
    leg: execution.leg + 1,
    network,
    destination,
    keyIndex,
    sourceId: execution.id,
  })
  return destination
}
