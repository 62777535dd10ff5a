import { BPS, scale } from '../../../core/domain/amount.ts'
import { AppError } from '../../../core/domain/errors.ts'
import {
  conversionEntry,
  conversionId,
  conversionReversalEntry,
  partnerAccount,
  refundFeeId,
  toPartnerEntry,
} from '../../../core/domain/ledger/entries.ts'
import { reversalOf } from '../../../core/domain/ledger/journal.ts'
import { assert, present } from '../../../lib/assert.ts'
import { largest } from '../../../lib/bigint.ts'
import type { Exchange, StatusReason } from '../../domain/exchange.ts'
import { boundsOfLegs } from '../../domain/intermediary.ts'
import { paidUnits, shownUnits } from '../../domain/private-plan.ts'
import {
  type DepositFacts,
  type DepositTerms,
  decideTerms,
  type LiveRate,
  toLiveRate,
  wasWithinMax,
} from '../../domain/terms.ts'
import type { Destination } from '../../ports/chain.ts'
import type { PayoutRelease } from '../../ports/signer.ts'
import type { Execution } from '../../ports/store/execution.ts'
import type { StoreTx } from '../../ports/store/store.ts'
import type { VenueOrder } from '../../ports/venue.ts'
import {
  type Act,
  convertibleUnits,
  fixedRateOf,
  getChain,
  hasNextLeg,
  holdFor,
  isOwed,
  isPaused,
  isRightAsset,
  legOf,
  type MarketDeps,
  move,
} from './context.ts'
import { partnerFeeBpsOf, pricingOf, referenceOf } from './leg-pricing.ts'
import { findFarMove, holdDetailOf, isGuarded, measurePrices, orderedUnitsOf } from './price-guard.ts'
import { drawnDelayMs, holdUnlessAuthentic, minOutputUnits, payoutIdOf, queuePayment } from './queue-payment.ts'
import { recount } from './recount.ts'
import {
  findReleased,
  findReleasedKeyIndex,
  orderedUnitsOfReleased,
  unitsBeforeWithholding,
} from './released-payout.ts'

/** Id of the next order. A settled id is never used again, so a reversed or rejected order is repeated with a new id (I-22). */
export function nextOrderId({ id, deposit, orderId }: Execution): string {
  const first = `${id}:${deposit.credits}`
  if (orderId === null || (orderId !== first && !orderId.startsWith(`${first}.`))) return first
  return `${first}.${Number(orderId.slice(first.length + 1) || '1') + 1}`
}

/** Stores an order, before the venue gets it (I-22). */
export function storeOrder({ deps, tx, execution }: Act, { id, give, giveUnits, take, takeUnits }: VenueOrder) {
  return tx.inventory.insertOrder({
    id,
    executionId: execution.id,
    venue: deps.venue.id,
    giveAsset: give.id,
    giveUnits,
    takeAsset: take.id,
    takeUnits,
  })
}

/** What terms are decided from; they change nothing. */
type Position = Readonly<{ deps: MarketDeps; tx: Pick<StoreTx, 'inventory' | 'steps'> }> &
  Pick<Act, 'context' | 'execution'>

/**
 * Current rate of a leg. The limits of a first leg also cover the second, so an amount that cannot be paid out is refunded. A
 * deposit that was accepted is not refused because its price has moved past a limit of payouts: such a payout is held.
 */
function liveRateOf(act: Position, ownUnits: bigint): LiveRate {
  const { exchange, acceptedMaxUnits } = act.context
  const isAccepted = act.execution.leg === 0 && wasWithinMax(acceptedMaxUnits, convertibleUnits(act))
  const pricing = pricingOf(act, legOf(act), ownUnits, isAccepted)
  const next = exchange.legs[act.execution.leg + 1]
  if (next === undefined) return toLiveRate(pricing)
  const payoutPpm = Math.max(exchange.plan?.payoutPpm ?? 0, 0)
  return { ...toLiveRate(pricing), ...boundsOfLegs(pricing, pricingOf(act, next), payoutPpm) }
}

/** The conversion waits for a price, for the end of a pause, or for the reserve. */
type Wait =
  | Readonly<{ kind: 'wait'; for: 'price' }>
  | Readonly<{ kind: 'wait'; for: 'pause' }>
  | Readonly<{ kind: 'wait'; for: 'reserve'; reason: StatusReason }>
type Terms = Exclude<DepositTerms, { kind: 'wait' }> | Wait
type ExecutedTerms = Extract<DepositTerms, { kind: 'execute' }>

/** Terms on which this deposit executes. */
export async function termsOf(act: Position): Promise<Terms> {
  const { execution } = act
  const { exchange } = act.context
  assert(isRightAsset(act), `execution ${execution.id} has terms only in the asset that was ordered`)
  // A missing network must not look like a missing listing, which refunds.
  const isMissing = exchange.legs.slice(execution.leg).some(({ to }) => !act.deps.chains.has(to.network))
  if (isMissing || isPaused(act.deps, act)) return { kind: 'wait', for: 'pause' }
  const isLaterLeg = execution.leg > 0
  // A later leg is returned at once: its customer's deposit is already spent.
  const acceptedMaxUnits = isLaterLeg ? 0n : act.context.acceptedMaxUnits
  const reservedUnits = exchange.flow === 'fixed-rate' ? await act.tx.inventory.reservedUnits(exchange.id) : 0n
  try {
    const facts = {
      flow: exchange.flow,
      fixed: fixedRateOf(exchange),
      isFirst: true,
      // The deposit of a later leg is our own payment: never late, and never too small.
      seenAt: isLaterLeg ? exchange.createdAt : execution.deposit.firstSeenAt,
      includedAt: isLaterLeg ? exchange.createdAt : execution.deposit.includedAt,
      expiresAt: exchange.expiresAt,
      closedBefore: !isLaterLeg && hasEnded(exchange),
      isCancelled: !isLaterLeg && exchange.isCancelled,
      depositUnits: convertibleUnits(act),
      requestedUnits: isLaterLeg ? convertibleUnits(act) : exchange.fromUnits,
      acceptedMaxUnits,
      // What the fixed rate has reserved is available to the deposit that gets it.
      live: () => liveRateOf(act, reservedUnits),
    }
    if (await hasFixedRate(act, facts)) return toTerms(decideTerms(facts))
    return toTerms(decideTerms({ ...facts, isFirst: false, live: () => liveRateOf(act, 0n) }))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // It began meanwhile.
    if (isPaused(act.deps, act)) return { kind: 'wait', for: 'pause' }
    // Without a listing the deposit is refunded; without a price the step waits, without a reserve for a limited time.
    if (error.retryable) return { kind: 'wait', for: 'price' }
    return error.code === 'INSUFFICIENT_LIQUIDITY' && wasWithinMax(acceptedMaxUnits, convertibleUnits(act))
      ? { kind: 'wait', for: 'reserve', reason: 'NO_LIQUIDITY' }
      : { kind: 'refund', reason: 'NO_LIQUIDITY' }
  }
}

const toTerms = (terms: DepositTerms): Terms => (terms.kind === 'wait' ? { ...terms, for: 'reserve' } : terms)

/** Null = wait. For the reserve it waits a limited time, which does not run during a pause; then the deposit is refunded. */
async function waitFor(act: Act, wait: Wait): Promise<Execution | null> {
  const { deps, execution, context } = act
  const { waitsSince } = execution
  if (wait.for === 'price') return null
  if (wait.for === 'pause')
    return waitsSince === null ? null : move(act, 'exchanging', null, 'paused', { waitsSince: null })
  if (waitsSince === null) return move(act, 'exchanging', null, 'waits for the reserve', { waitsSince: context.now })
  if (context.now.getTime() - waitsSince.getTime() < deps.settings.guards.reserveWaitMs) return null
  return move(act, 'refunding', wait.reason, 'no reserve in time', { waitsSince: null })
}

/** After this a deposit floats. An exchange that refunded a deposit still owes its fixed rate to one that can execute at it. */
const hasEnded = ({ status, reason }: Exchange): boolean =>
  status === 'finished' || (status === 'failed' && reason === 'OPERATOR')

/**
 * Whether the fixed rate applies: it serves the first deposit that can execute at it. A test payment or a stranger's dust
 * that is refunded uses nothing up (M18). If the deposit leaves the chain, the next one gets the rate.
 */
async function hasFixedRate(act: Position, facts: DepositFacts): Promise<boolean> {
  const { tx } = act
  const { exchange } = act.context
  const { leg, deposit } = act.execution
  if (exchange.flow !== 'fixed-rate') return false
  const [position, assetId] = [{ leg, depositId: deposit.id }, legOf(act).from.id]
  if (await tx.steps.isRateUsed(exchange.id, position, assetId)) return false
  const earlier = await tx.steps.listEarlierDeposits(exchange.id, position, assetId)
  return !earlier.some((other) => canExecute({ ...facts, ...other }))
}

function canExecute(facts: DepositFacts): boolean {
  try {
    return decideTerms(facts).kind !== 'refund'
  } catch (error) {
    if (error instanceof AppError && !error.retryable) return false
    throw error
  }
}

/** The terms of a payout that a signer has released, whatever the rate and the bounds are now. */
function repeatReleased(act: Act, released: PayoutRelease | null, terms: Terms): Terms {
  if (released === null || (terms.kind === 'wait' && terms.for !== 'reserve')) return terms
  const toUnits = unitsBeforeWithholding(act, released)
  return terms.kind === 'execute' ? { ...terms, toUnits } : { kind: 'execute', toUnits, rate: 'floating' }
}

/** Converts the deposit at the venue, with an order id that is stored before the call (I-22). Null = wait. */
export async function convert(act: Act): Promise<Execution | null> {
  const { deps, tx, execution } = act
  const { exchange } = act.context
  if (!isRightAsset(act)) return move(act, 'refunding', 'WRONG_ASSET', 'wrong asset')
  const released = await findReleased(act)
  const terms = repeatReleased(act, released, await termsOf(act))
  if (terms.kind === 'wait') return waitFor(act, terms)
  if (terms.kind === 'refund') return move(act, 'refunding', terms.reason, 'no terms for a conversion')
  const { from, to } = legOf(act)
  const takeUnits = released?.units ?? dueUnitsOf(act, terms.toUnits)
  const isPaidOut = exchange.recipient !== null || hasNextLeg(act)
  if (released === null && isPaidOut && takeUnits < minOutputUnits(act, to))
    return move(act, 'refunding', 'BELOW_MIN', 'too small to be paid out')
  const isFloating = released === null && (terms.rate === 'floating' || terms.rate === 'mixed')
  const far = isFloating && isGuarded(execution) ? findFarMove(measurePrices(act)) : null
  if (far !== null) return holdFor(act, 'PRICE_GUARD', {}, holdDetailOf(far))
  const giveUnits = present(execution.deposit.creditedUnits, 'credited units')
  if (!(await isOwed(act, from.id, giveUnits))) return holdFor(act, 'OPERATOR', {}, { uncovered: from.id })
  const id = nextOrderId(execution)
  const order = { id, exchangeId: exchange.id, give: from, giveUnits, take: to, takeUnits }
  const ownUnits = terms.rate === 'floating' ? 0n : await tx.inventory.lockReservedUnits(exchange.id)
  if (!(await deps.venue.hasFunds(order, ownUnits, tx))) {
    // It has left the wallet: a refund would pay twice. The imports of other transactions bring what the books lack.
    if (released !== null) return null
    const wasAccepted = execution.leg === 0 && wasWithinMax(act.context.acceptedMaxUnits, giveUnits)
    if (wasAccepted) return waitFor(act, { kind: 'wait', for: 'reserve', reason: 'NO_LIQUIDITY' })
  }
  const ordered = released === null ? orderedUnitsOf(act) : orderedUnitsOfReleased(act, released)
  await storeOrder(act, order)
  // The order uses what the fixed rate had reserved.
  if (terms.rate !== 'floating') await tx.inventory.release(`hold:${exchange.id}`)
  const outcome = await deps.venue.place(order, ownUnits, tx)
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
      give: { assetId: from.id, units: giveUnits },
      take: { assetId: to.id, dueUnits: takeUnits, ...margin(act, takeUnits, terms) },
    }),
  )
  const moved = await move(
    act,
    'exchanging',
    null,
    'converted',
    { dueUnits: takeUnits, rateKind: terms.rate, orderId: id, waitsSince: null, ...ordered },
    { takeUnits: takeUnits.toString() },
  )
  return { ...moved, order: { id, state: 'filled', takeUnits } }
}

/**
 * Units to pay for this leg. A private exchange withholds a part of the intermediary amount from its chain until the next
 * leg, and varies the recipient's amount by the drawn `payoutPpm`.
 */
export function dueUnitsOf(act: Pick<Act, 'context' | 'execution'>, plainUnits: bigint): bigint {
  const { plan } = act.context.exchange
  if (plan === undefined) return plainUnits
  return hasNextLeg(act) ? shownUnits(plan, plainUnits) : paidUnits(plan, plainUnits)
}

/** Converts a refund after all, on the operator's decision. Voids the queued refund first. */
export async function reconvert(act: Act): Promise<Execution> {
  await unwind(act)
  await act.tx.alarms.clear(`held:${act.execution.id}`)
  const moved = await move(act, 'exchanging', null, 'conversion requested by the operator', { dueUnits: null })
  const { order } = act.execution
  return { ...moved, payout: null, order: order?.state === 'filled' ? { ...order, state: 'cancelled' } : order }
}

/** Reverses an unsigned conversion: payout, order, reservation and postings. */
export async function unwind(act: Act): Promise<void> {
  await reverseConversion(act)
  await recount(act)
}

async function reverseConversion(act: Act): Promise<void> {
  const { tx, execution } = act
  if (execution.payout && !(await tx.payouts.void(execution.payout.id))) {
    throw new AppError('OVERLOADED', 'the payout was signed meanwhile; the step runs again')
  }
  if (execution.payout) await tx.alarms.clear(`payout:${execution.payout.id}`)
  if (execution.payout?.purpose === 'refund') await reverseRefundFee(tx, execution.payout.id)
  const { order } = execution
  if (order?.state !== 'filled') return
  await reversePostings(act, order.id)
  await tx.inventory.release(order.id)
  await tx.inventory.settleOrder(order.id, 'cancelled')
}

async function reverseRefundFee(tx: StoreTx, payoutId: string): Promise<void> {
  const entry = await tx.ledger.entry(refundFeeId(payoutId))
  if (entry) await tx.ledger.post(reversalOf(entry, `${entry.id}:reversed`, 'refund fee reversed'))
}

/**
 * Takes the partner's fee from what is still owed to the partner in that currency. What was paid out meanwhile is our loss, so
 * that the customer can be refunded.
 */
async function reversePostings({ tx, context: { exchange } }: Act, orderId: string): Promise<void> {
  const entry = await tx.ledger.entry(conversionId(orderId))
  if (!entry) return
  const { id: exchangeId, partnerId } = exchange
  const account = partnerAccount(partnerId)
  const fee = entry.postings.find(({ credit }) => credit === account)
  const paidUnits = fee === undefined ? 0n : fee.units - (await tx.ledger.lockOwed(account, fee.assetId))
  await tx.ledger.post(conversionReversalEntry(entry, partnerId, largest(paidUnits, 0n)))
  if (fee === undefined || paidUnits <= 0n) return
  await tx.alarms.raise(`paid-fee:${orderId}`, 'a conversion was reversed after its partner was paid the fee of it', {
    exchangeId,
    partnerId,
    assetId: fee.assetId,
    units: paidUnits.toString(),
  })
}

/**
 * Splits what the reference rate gives beyond the payout into the fees. A fixed rate is executed at the network costs of its
 * quote, so the partner gets the fee that the quote stated; without a live price the reference rate is the quote's, too.
 * The spread is the rest: below zero if the payout is worth more than the deposit, and zero if no rate is known. What is
 * withheld from a next leg is no income, because that leg converts it.
 */
function margin(act: Act, takeUnits: bigint, { toUnits, rate: kind }: ExecutedTerms) {
  const { exchange } = act.context
  const leg = legOf(act)
  const live = referenceOf(act, leg)
  const quoted = kind === 'fixed' || kind === 'mixed' ? exchange.quotedFees : null
  const networkUnits = quoted?.networkUnits ?? live?.networkUnits ?? 0n
  const rate = live?.rate ?? (quoted && { numerator: quoted.grossUnits, denominator: exchange.fromUnits })
  const partnerBps = BigInt(partnerFeeBpsOf(exchange, leg))
  // The partner fee is a share of the amount before the network fee, as in the quote.
  const partnerUnits = scale(toUnits + networkUnits, partnerBps, BPS - partnerBps, 'down')
  const paidUnits = (hasNextLeg(act) ? toUnits : takeUnits) + networkUnits + partnerUnits
  const grossUnits = rate ? scale(convertibleUnits(act), rate.numerator, rate.denominator, 'down') : paidUnits
  return { networkUnits, partnerUnits, spreadUnits: grossUnits - paidUnits }
}

/**
 * Queues the payout of the proceeds: to the next leg, to the recipient, or to the partner's balance if the exchange has no
 * recipient. Null = no screening result in this step, or no payout would be signed now for what the partner's balance gets.
 */
export async function queuePayout(act: Act): Promise<Execution | null> {
  const { tx, execution } = act
  const { exchange } = act.context
  const { to } = legOf(act)
  const units = present(execution.dueUnits, 'a converted execution has what is due')
  if (act.evidence === null) return null
  if (act.evidence.screening !== 'allow' && execution.decision !== 'release') return holdFor(act, 'SCREENING')
  if (exchange.recipient === null && !hasNextLeg(act)) {
    // No queue holds it until the deposit has its confirmations again (I-34).
    if (!(await tx.payouts.isBacked(execution.id))) return null
    await tx.ledger.post(toPartnerEntry(execution.id, exchange.id, exchange.partnerId, to.id, units))
    await tx.inventory.release(present(execution.order, 'a converted execution has its order').id)
    const sending = await move(act, 'sending', null, 'credited to the partner', { sentUnits: units })
    return move({ ...act, execution: sending }, 'finished', null, 'finished')
  }
  // The next leg is paid at an address that is derived now.
  const held = hasNextLeg(act) ? null : await holdUnlessAuthentic(act, 'recipient')
  if (held !== null) return held
  const destination = hasNextLeg(act) ? await createNextTarget(act) : present(exchange.recipient, 'a recipient')
  const id = await payoutIdOf(act)
  return queuePayment(act, { id, purpose: 'payout', asset: to, to: destination, units, delayMs: drawnDelayMs(act) })
}

/**
 * Stores a new deposit address of ours for the next leg, before a payout to it is signed. If an earlier payout of this
 * execution was invalidated after the next leg had its deposit, that deposit waits at the same address for this payout. A payout
 * that a signer released before the database was restored keeps its address, so that it can be imported.
 */
async function createNextTarget(act: Act): Promise<Destination> {
  const { deps, tx, execution } = act
  const earlier = execution.nextLegFunded ? await tx.steps.findNextDestination(execution.id) : null
  if (earlier !== null) return earlier
  const { network } = legOf(act).to
  const released = await findReleased(act)
  const releasedIndex = released?.units === execution.dueUnits ? await findReleasedKeyIndex(act, released) : null
  const keyIndex = releasedIndex ?? present((await tx.exchanges.takeKeyIndexes(1))[0], 'a new key index')
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
