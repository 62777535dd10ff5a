import pMap from 'p-map'
import { AppError } from '../../core/domain/errors.ts'
import { exchangeAccount } from '../../core/domain/ledger/entries.ts'
import type { FinalityTag } from '../../core/domain/network.ts'
import type { ScreeningSubject, Verdict } from '../../core/ports/screening.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import { assert, unreachable } from '../../lib/assert.ts'
import { endsOf, type StatusReason } from '../domain/exchange.ts'
import { decide, type Facts, isTerminal, overallStatus, type Step } from '../domain/lifecycle.ts'
import { coversQuote, isInTime } from '../domain/terms.ts'
import type { Chain } from '../ports/chain.ts'
import type { Execution } from '../ports/store/execution.ts'
import type { ExecutionPosition, StepContext } from '../ports/store/steps.ts'
import type { StoreTx } from '../ports/store/store.ts'
import {
  type Act,
  type Evidence,
  findMissingNetwork,
  fixedRateOf,
  holdFor,
  isPayoutPaused,
  legOf,
  move,
  returnAlarm,
  type StepDeps,
} from './steps/context.ts'
import { convert, queuePayout, reconvert, unwind } from './steps/convert.ts'
import { bookLoss, bookUnclaimed, credit, holdExecution, reverseLoss, revertToPending } from './steps/credit.ts'
import { createHeldUnits } from './steps/held-units.ts'
import { hasPriceReturned } from './steps/price-guard.ts'
import { refundDestination } from './steps/queue-payment.ts'
import { queueRefund, startRefund } from './steps/refund.ts'

/** Acts on one execution in one transaction; longer than any path through the lifecycle. */
const ACTS_MAX = 12
/** Windows of executions in one step; the next step continues with the rest. */
const WINDOWS_MAX = 4
/** Executions of a window whose evidence is read in parallel. */
const EVIDENCE_PARALLEL = 4
/** An open exchange is checked this often even if all wake-ups are lost. */
const CHECK_EVERY_MS = 15_000
const CHECK_EVERY_MS_MAX = 600_000

/**
 * Takes an exchange as far as it can go now. Any process may run it, repeatedly, and may crash between any two lines.
 * Strangers can create executions by sending dust, so each window of executions has its own transaction; if windows are
 * left, the exchange is woken and the next step continues there.
 */
export function createStepExchange(deps: StepDeps) {
  return async function stepExchange(id: string): Promise<void> {
    let after: ExecutionPosition | null | undefined
    for (let n = 1; n <= WINDOWS_MAX; n++) {
      const next = await stepWindow(deps, id, after, n === WINDOWS_MAX)
      if (next === null) return
      after = next
    }
  }
}

/**
 * Reads chains and screening before the transaction; decides inside it from the locked rows. The next window starts where
 * the unlocked read ended, so an execution that entered this window in between is processed by the next step.
 */
async function stepWindow(
  deps: StepDeps,
  id: string,
  after: ExecutionPosition | null | undefined,
  isLast: boolean,
): Promise<ExecutionPosition | null> {
  const before = await deps.store.steps.load(id, after)
  if (!before) return null
  const { next } = before
  const evidence = await readEvidence(deps, before)
  checkpoint('step.gathered')
  await deps.store.transaction(async (tx) => {
    const current = await tx.steps.load(id, before.after)
    assert(current, `exchange ${id} exists`)
    await markReservationIfPaid(tx, current)
    const executions: Execution[] = []
    for (const execution of current.executions)
      executions.push(
        await advanceExecution({ deps, tx, context: current, execution, evidence: evidence.get(execution.id) ?? null }),
      )
    checkpoint('step.decided')
    await saveExchange(deps, tx, current, executions, next)
    if (isLast && next !== null) await tx.wake([{ kind: 'exchange', id }])
  })
  checkpoint('step.committed')
  return next
}

/** A deposit that can execute at the fixed rate ends the limits of unpaid promises; one that cannot does not. */
async function markReservationIfPaid(tx: StoreTx, { exchange, executions }: StepContext): Promise<void> {
  const fixed = fixedRateOf(exchange)
  if (fixed === null) return
  const isPayment = ({ leg, deposit: { block, assetId, units, firstSeenAt: seenAt, includedAt } }: Execution) =>
    leg === 0 &&
    block !== null &&
    assetId === exchange.legs[0]?.from.id &&
    coversQuote(fixed, units) &&
    isInTime(fixed, { seenAt, includedAt })
  if (executions.some(isPayment)) await tx.inventory.markReservationPaid(exchange.id)
}

/**
 * While the watcher is behind, a deposit that came in time may be in a block that is not recorded yet. A network that is not
 * configured has no watcher.
 */
const isExpired = (deps: StepDeps, { exchange, now, watchedUntil }: StepContext): boolean =>
  now > exchange.expiresAt &&
  (watchedUntil === null || watchedUntil > exchange.expiresAt || !deps.chains.has(endsOf(exchange).from.network))

function toFacts(deps: StepDeps, context: StepContext, execution: Execution): Facts {
  const { exchange, heads } = context
  const { leg, deposit, order, payout } = execution
  const depth = deposit.block === null ? 0 : (heads.get(deposit.network) ?? 0) - deposit.block.height + 1
  return {
    status: execution.status,
    deposit: deposit.block === null ? 'missing' : depth >= deposit.requiredConfirmations ? 'deep' : 'shallow',
    credited: deposit.status === 'credited',
    rejected: deposit.status === 'rejected',
    isBookedAsLoss: deposit.isBookedAsLoss,
    // The deposit of a later leg is our own payment, which is never late.
    expired: leg === 0 ? isExpired(deps, context) : execution.isSourceClosed,
    fill: order === null || order.state === 'planned' || order.state === 'cancelled' ? 'none' : order.state,
    payout: payoutFactOf(payout),
    decision:
      execution.decision ??
      (hasNamedRefund(deps, context, execution) ||
      hasPriceReturned({ deps, context, execution }) ||
      hasNetworkReturned({ deps, context, execution })
        ? 'release'
        : null),
    source: sourceOf(execution),
    nextLegFunded: execution.nextLegFunded || leg === exchange.legs.length - 1,
    isNetworkMissing: findMissingNetwork({ deps, context, execution }) !== null,
    stalled: isStalled(context, execution) && !isPayoutPaused(deps, { context, execution }),
  }
}

/** Held because a refund address was missing, and there is one now. */
const hasNamedRefund = (deps: StepDeps, context: StepContext, execution: Execution): boolean =>
  execution.reason === 'REFUND_ADDRESS_REQUIRED' && refundDestination({ deps, context, execution }) !== null

/** Held because a network was not configured, and it is again. */
const hasNetworkReturned = (act: Pick<Act, 'deps' | 'context' | 'execution'>): boolean =>
  act.execution.status === 'verifying' &&
  act.execution.reason === 'NETWORK_UNAVAILABLE' &&
  findMissingNetwork(act) === null

function payoutFactOf(payout: Execution['payout']): Facts['payout'] {
  if (payout === null) return 'none'
  if (payout.attention === null) return payout.state
  return payout.attention === 'LIMIT' ? 'limited' : 'refused'
}

function sourceOf({ leg, status, reason, source, isSourceMissing }: Execution): Facts['source'] {
  if (leg === 0) return 'sound'
  if (source !== 'confirmed') return 'unconfirmed'
  if (isSourceMissing) return 'missing'
  return status === 'verifying' && reason === 'DEPOSIT_VANISHED' ? 'returned' : 'sound'
}

function isStalled({ exchange: { plan }, now }: StepContext, { leg, changedAt }: Execution): boolean {
  return plan !== undefined && now.getTime() - changedAt.getTime() > (plan.delaysMs[leg] ?? 0) + plan.stallMs
}

/** The time that a leg waits under a pause does not count: when the pause ends, the leg has its whole time again. */
async function restartStall(act: Act): Promise<Act> {
  const { deps, context, execution } = act
  const { status, reason } = execution
  if (status !== 'exchanging' || !isStalled(context, execution) || !isPayoutPaused(deps, act)) return act
  return { ...act, execution: await move(act, status, reason, 'paused: the time limit starts again') }
}

/** Reads what the next acts need from outside: deposits from the nodes, addresses from the screening. */
async function readEvidence(deps: StepDeps, current: StepContext): Promise<ReadonlyMap<string, Evidence>> {
  const evidence = new Map<string, Evidence>()
  const ask = async (execution: Execution) => {
    const { act } = decide(toFacts(deps, current, execution))
    if (act === 'wait' || act === 'close') return
    const deposit = act === 'credit' || act === 'reverseLoss' ? await readDeposit(deps, current, execution) : null
    evidence.set(execution.id, { deposit, screening: await screen(deps, current, execution) })
  }
  await pMap(current.executions, ask, { concurrency: EVIDENCE_PARALLEL })
  return evidence
}

/** A deposit that cannot be read now must not stop the others: only its execution waits, and the next check reads it again. */
async function readDeposit(deps: StepDeps, current: StepContext, execution: Execution): Promise<Evidence['deposit']> {
  try {
    return await checkDeposit(deps, current, execution)
  } catch (err) {
    if (!(err instanceof AppError && err.retryable)) throw err
    const { id: depositId, network, txHash } = execution.deposit
    deps.log.warn({ network, exchangeId: current.exchange.id, depositId, txHash, err }, 'deposit not read')
    return null
  }
}

async function checkDeposit(
  deps: StepDeps,
  { exchange, heads }: StepContext,
  { deposit }: Execution,
): Promise<Evidence['deposit']> {
  const { id: depositId, block, network, requiredTag, txHash } = deposit
  const chain = deps.chains.get(network)
  if (
    chain === undefined ||
    block === null ||
    !(await hasReachedFinalityTag(chain, requiredTag, block.height, heads.get(network) ?? 0))
  )
    return null
  const { reader } = chain
  if (!(await reader.agrees(block))) {
    deps.log.warn({ network, exchangeId: exchange.id, depositId, txHash }, 'nodes disagree about a deposit')
    return null
  }
  const held = createHeldUnits(deps.store.steps, exchange.id, deposit)
  const receivedUnits = await reader.receivedUnits(deposit, block, held.read)
  // A reorganisation between the two reads also gives 0, so the block must still be there.
  if (receivedUnits === 0n && !(await reader.agrees(block))) return null
  return { blockHash: block.hash, receivedUnits, heldUnits: await held.result() }
}

/**
 * Whether the chain's finality tag has reached the block at `height`. If a node does not offer the tag, `finalityBlocks`
 * decide instead, so that a deposit does not wait for ever because of a node's settings.
 */
async function hasReachedFinalityTag(
  { network, reader }: Chain,
  tag: FinalityTag | null,
  height: number,
  head: number,
): Promise<boolean> {
  if (tag === null) return true
  const tagHeight = await reader.tagHeight(tag)
  return tagHeight === null ? head - height + 1 >= network.finalityBlocks : tagHeight >= height
}

/** The worst verdict on sender, recipient and refund address. No answer counts as `review`. */
async function screen(deps: StepDeps, { exchange }: StepContext, { payer }: Execution): Promise<Verdict> {
  const { from, to } = endsOf(exchange)
  const { recipient, refund } = exchange
  const subjects: ScreeningSubject[] = []
  if (payer !== null) subjects.push({ network: from.network, address: payer, direction: 'sender' })
  if (recipient !== null) subjects.push({ network: to.network, address: recipient.address, direction: 'recipient' })
  if (refund !== null) subjects.push({ network: from.network, address: refund.address, direction: 'refund' })
  const verdicts = await Promise.all(
    subjects.map((subject) => deps.screening.screen(subject).catch((): Verdict => 'review')),
  )
  return verdicts.find((verdict) => verdict === 'block') ?? verdicts.find((verdict) => verdict === 'review') ?? 'allow'
}

/** Acts on an execution until it has to wait. */
async function advanceExecution(start: Act): Promise<Execution> {
  let act = await restartStall(start)
  for (let n = 0; n < ACTS_MAX; n++) {
    const next = await performStep(act, decide(toFacts(act.deps, act.context, act.execution)))
    if (next === null) return act.execution
    act = { ...act, execution: next }
  }
  throw new AppError('INTERNAL', `execution ${start.execution.id} still acts after ${ACTS_MAX} acts`)
}

/** Performs one act. Null = wait for something outside. */
async function performStep(act: Act, step: Step): Promise<Execution | null> {
  const { execution } = act
  switch (step.act) {
    case 'wait':
      return null
    case 'reopen':
      return move(act, 'confirming', null, 'deposit is back')
    case 'credit':
      return credit(act)
    case 'revertToPending':
      return revertToPending(act)
    case 'bookLoss':
      return bookLoss(act)
    case 'reverseLoss':
      return reverseLoss(act)
    case 'convert':
      return convert(act)
    case 'queuePayout':
      return queuePayout(act)
    case 'send':
      return move(act, 'sending', null, 'payout signed', { payoutHash: execution.payout?.txHash ?? null })
    case 'refund':
      return startRefund(act, step.reason)
    case 'queueRefund':
      return queueRefund(act)
    case 'hold':
      return holdExecution(act, step.reason, missingNetworkOf(act, step.reason))
    case 'holdForSource':
      return holdFor(act, 'DEPOSIT_VANISHED', {}, { ofLeg: 0 })
    case 'resume':
      return resume(act)
    case 'reconvert':
      return reconvert(act)
    case 'close':
      return close(act, step)
    default:
      return unreachable(step)
  }
}

/** For the alarm of the hold. */
const missingNetworkOf = (act: Act, reason: StatusReason): Record<string, unknown> =>
  reason === 'NETWORK_UNAVAILABLE' ? { network: findMissingNetwork(act) } : {}

/** Continues a held execution: the operator released it, or its payout was signed or confirmed meanwhile. */
async function resume(act: Act): Promise<Execution> {
  const { execution, tx } = act
  await tx.alarms.clear(`held:${execution.id}`)
  const { payout } = execution
  if (payout?.state === 'reserved') {
    const isReleased = execution.decision === 'release'
    const isRefund = payout.purpose === 'refund'
    if (isReleased) await tx.payouts.approve(payout.id)
    await tx.wake([
      { kind: 'dispatch', id: isRefund ? endsOf(act.context.exchange).from.network : legOf(act).to.network },
    ])
    const reason = isRefund ? (execution.onRelease?.reason ?? null) : null
    const moved = await move(act, isRefund ? 'refunding' : 'exchanging', reason, 'released', { decision: null })
    return { ...moved, payout: { ...payout, attention: isReleased ? null : payout.attention } }
  }
  if (payout?.purpose === 'refund') return move(act, 'refunding', execution.onRelease?.reason ?? null, 'resumed')
  if (payout) return move(act, 'sending', null, 'released')
  const { status, reason } = execution.onRelease ?? { status: 'exchanging', reason: null }
  return move(act, status, reason, 'released')
}

async function close(act: Act, { status, reason }: Extract<Step, { act: 'close' }>): Promise<Execution> {
  const { execution, tx } = act
  if (status === 'failed') {
    await unwind(act)
    await bookUnclaimed(act)
  }
  await tx.alarms.clear(`held:${execution.id}`, `next-leg:${execution.id}`, returnAlarm(execution))
  const sent = status === 'finished' ? { sentUnits: execution.payout?.units ?? null } : {}
  const moved = await move(act, status, reason ?? (status === 'refunded' ? execution.reason : null), status, {
    ...sent,
    payoutHash: execution.payout?.txHash ?? null,
  })
  return status === 'failed' ? { ...moved, payout: null } : moved
}

/** An unpaid exchange waits for its watcher; the longer that takes, the less often it is checked. */
function nextExpiryCheck({ exchange: { expiresAt }, now }: StepContext): Date {
  const overdueMs = now.getTime() - expiresAt.getTime()
  if (overdueMs < 0) return expiresAt
  return new Date(now.getTime() + Math.min(Math.max(overdueMs / 10, CHECK_EVERY_MS), CHECK_EVERY_MS_MAX))
}

/** Saves the status of the exchange. Fails if a closed exchange still owes something. */
async function saveExchange(
  deps: StepDeps,
  tx: StoreTx,
  context: StepContext,
  executions: readonly Execution[],
  next: ExecutionPosition | null,
): Promise<void> {
  const { exchange, sighted, now } = context
  for (const { id, payoutHash, payout, status, reason } of executions) {
    // The hash appears with the signature and changes with a replacement.
    if (payout?.txHash && payout.txHash !== payoutHash && (status === 'refunding' || status === 'sending')) {
      await tx.steps.saveExecution(exchange.id, { id, status, reason, payoutHash: payout.txHash }, 'payout hash', {
        txHash: payout.txHash,
      })
    }
  }
  const { latestByStatus, needsRepair } = await tx.steps.summarize(exchange.id)
  const { status, reason } = overallStatus(exchange, latestByStatus, {
    sighted,
    expired: isExpired(deps, context),
    lastLeg: exchange.legs.length - 1,
  })
  const isOpen = latestByStatus.some((execution) => !isTerminal(execution.status))
  const soon = new Date(now.getTime() + CHECK_EVERY_MS)
  const nextCheckAt =
    isOpen || needsRepair || next !== null || status === 'confirming'
      ? soon
      : isTerminal(status)
        ? null
        : nextExpiryCheck(context)
  if (isTerminal(status) && !isOpen) {
    const owed = await tx.ledger.balances(exchangeAccount(exchange.id))
    assert(owed.size === 0, `closed exchange ${exchange.id} owes nothing`)
  }
  await tx.steps.save(exchange.id, { status, reason, nextCheckAt, next })
}
