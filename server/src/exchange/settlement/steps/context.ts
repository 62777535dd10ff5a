import type { Asset, AssetId } from '../../../core/domain/asset.ts'
import type { Currency } from '../../../core/domain/currency.ts'
import type { FundsLocation } from '../../../core/domain/ledger/entries.ts'
import { isUtxoFamily, type Network } from '../../../core/domain/network.ts'
import type { Screening, Verdict } from '../../../core/ports/screening.ts'
import { present } from '../../../lib/assert.ts'
import type { Log } from '../../../lib/log.ts'
import { type Exchange, type ExchangeStatus, endsOf, type Leg, type StatusReason } from '../../domain/exchange.ts'
import { moveTo } from '../../domain/lifecycle.ts'
import { countedUnits } from '../../domain/private-plan.ts'
import type { FixedRate } from '../../domain/terms.ts'
import type { Chain } from '../../ports/chain.ts'
import type { Signer } from '../../ports/signer.ts'
import type { Execution, OnRelease } from '../../ports/store/execution.ts'
import type { ExecutionChange, StepContext } from '../../ports/store/steps.ts'
import type { Store, StoreTx } from '../../ports/store/store.ts'
import type { Venue } from '../../ports/venue.ts'
import type { BookSnapshot } from '../../quotes/book-snapshot.ts'
import type { QuoteClock } from '../../quotes/quote-rate.ts'
import type { ServiceSettings } from '../../settings.ts'

export type StepDeps = Readonly<{
  store: Store
  chains: ReadonlyMap<string, Chain>
  /** Currencies by asset, including disabled ones: open exchanges are finished whatever is listed. */
  currencyOf(assetId: AssetId): Currency | null
  books: BookSnapshot
  venue: Venue<StoreTx>
  screening: Screening
  /** Derives payout ids; steps sign nothing. */
  signer: Pick<Signer, 'payoutId'>
  clock: QuoteClock
  settings: Pick<ServiceSettings, 'guards'>
  log: Log
}>

/** What terms, prices and destinations are computed from. */
export type MarketDeps = Pick<StepDeps, 'currencyOf' | 'books' | 'settings'> &
  Readonly<{ clock: Pick<QuoteClock, 'now'>; chains: ReadonlyMap<string, Pick<Chain, 'addresses'>> }>

/** What was read from outside for one execution, before the transaction. */
export type Evidence = Readonly<{
  /**
   * The block that all nodes agreed on, and the units that the address received by the transfer. `heldUnits`: the units of the address's other
   * deposits that they were computed with, where a node lacked the state of the block; else null.
   */
  deposit: { blockHash: string; receivedUnits: bigint; heldUnits: bigint | null } | null
  screening: Verdict
}>

/** One execution to act on, inside the transaction of the step. */
export type Act = Readonly<{
  deps: StepDeps
  tx: StoreTx
  context: StepContext
  execution: Execution
  evidence: Evidence | null
}>

/** The fixed rate of an exchange; null = floating. */
export function fixedRateOf({ fromUnits, toUnits, fixedUntil, fixedInclusionMs }: Exchange): FixedRate | null {
  return fixedUntil === null || fixedInclusionMs === null
    ? null
    : { fromUnits, toUnits, until: fixedUntil, inclusionMs: fixedInclusionMs }
}

type LegPosition = Readonly<{ context: Pick<Act['context'], 'exchange'>; execution: Pick<Execution, 'leg'> }>

/** The leg that an execution converts, and the legs that its proceeds fund. */
const listLegsLeft = ({ context: { exchange }, execution: { leg } }: LegPosition): readonly Leg[] =>
  exchange.legs.slice(leg)

/** Whether an asset or a network of a leg that is left is paused: nothing is converted until it is not (M17). */
export function isPaused({ books }: Pick<StepDeps, 'books'>, position: LegPosition): boolean {
  const { assets, networks } = books.current().pauses
  const isHeld = ({ id, network }: Asset) => assets.has(id) || networks.has(network)
  return listLegsLeft(position).some(({ from, to }) => isHeld(from) || isHeld(to))
}

/** Whether the execution waits for a pause: also one of payouts or of its partner, which lets conversions go on and holds what they queue. */
export function isPayoutPaused(deps: StepDeps, position: LegPosition): boolean {
  const { payouts, partners } = deps.books.current().pauses
  const isHeld = ({ to }: Leg) => payouts?.has(to.network) === true || payouts?.has('all') === true
  const isPartnerPaused = partners?.has(position.context.exchange.partnerId) === true
  return isPaused(deps, position) || isPartnerPaused || listLegsLeft(position).some(isHeld)
}

/** Whether the proceeds of the execution fund another leg. */
export function hasNextLeg({ context: { exchange }, execution: { leg } }: LegPosition): boolean {
  return leg < exchange.legs.length - 1
}

/** Units to convert: the deposit and, on a later leg, the part that was withheld from the intermediary's chain. */
export function convertibleUnits({
  context: { exchange },
  execution: { leg, deposit },
}: Pick<Act, 'context' | 'execution'>): bigint {
  const units = present(deposit.creditedUnits, 'a credited deposit has units')
  return leg === 0 || exchange.plan === undefined ? units : countedUnits(exchange.plan, units)
}

/** The leg that an execution converts. */
export function legOf({ context: { exchange }, execution }: LegPosition): Leg {
  return present(exchange.legs[execution.leg], `leg ${execution.leg} of exchange ${exchange.id}`)
}

/**
 * A network that the execution needs next and that is not configured; null = none. An uncredited deposit needs its own, a
 * refund that of the source, a conversion those of all legs that are left.
 */
export function findMissingNetwork({
  deps,
  context: { exchange },
  execution: { status, onRelease, leg, deposit },
}: Readonly<{ deps: Pick<MarketDeps, 'chains'> }> & Pick<Act, 'context' | 'execution'>): string | null {
  const next = status === 'verifying' ? onRelease?.status : status
  const needed =
    deposit.status !== 'credited'
      ? [deposit.network]
      : next === 'refunding'
        ? [endsOf(exchange).from.network]
        : exchange.legs.slice(leg).map(({ to }) => to.network)
  return needed.find((network) => !deps.chains.has(network)) ?? null
}

export function fundsLocationOf(network: Network): FundsLocation {
  return isUtxoFamily(network) ? 'wallet' : 'deposits'
}

export function getChain(deps: StepDeps, network: string): Chain {
  return present(deps.chains.get(network), `the chain of ${network}`)
}

/** Asset of the deposit, which may differ from the requested one. */
export function depositAsset(act: Readonly<{ deps: Pick<StepDeps, 'currencyOf'> }> & Pick<Act, 'execution'>): Asset {
  const { assetId } = act.execution.deposit
  return present(
    assetId === null ? null : act.deps.currencyOf(assetId)?.asset,
    `the asset of deposit ${act.execution.deposit.id}`,
  )
}

export function isRightAsset(act: Pick<Act, 'context' | 'execution'>): boolean {
  return act.execution.deposit.assetId === legOf(act).from.id
}

/** The operator has decided in spite of the screening. */
export const isClearedByOperator = ({ decision }: Execution): boolean => decision === 'refund' || decision === 'release'

type Fields = Omit<ExecutionChange, 'id' | 'status' | 'reason'>

/** Moves the execution along an edge of the lifecycle and stores the event. */
export async function move(
  act: Act,
  status: ExchangeStatus,
  reason: StatusReason | null,
  event: string,
  fields: Fields = {},
  detail: Record<string, unknown> = {},
): Promise<Execution> {
  const moved = moveTo(act.execution, status, reason)
  await act.tx.steps.saveExecution(
    act.context.exchange.id,
    { id: moved.id, status: moved.status, reason, ...fields },
    event,
    detail,
  )
  return { ...moved, ...fields, changedAt: act.context.now }
}

/** Where the partner decides: deposits that anyone may send in any number must not fill the operator's alarms. `watch-refunds.ts` counts them. */
const reasonsForPartner: ReadonlySet<StatusReason> = new Set(['REFUND_ADDRESS_REQUIRED'])

/** A return waits for the reserve of the source asset. */
export const returnAlarm = ({ id }: Pick<Execution, 'id'>): string => `return:${id}`

/**
 * Puts the execution on hold and raises an alarm if the operator must decide. Clears an earlier decision and stores where to
 * resume: after a release, a refund continues as a refund and is never converted.
 */
export async function holdFor(
  act: Act,
  reason: StatusReason,
  fields: Fields = {},
  detail: Record<string, unknown> = {},
): Promise<Execution> {
  const { execution } = act
  const { alarms } = act.tx
  const subject = `held:${execution.id}`
  const exchangeId = act.context.exchange.id
  if (reasonsForPartner.has(reason)) await alarms.clear(subject)
  else await alarms.raise(subject, 'an execution is held', { exchangeId, reason, ...detail })
  // It waits for no reserve now.
  await alarms.clear(returnAlarm(execution))
  const onRelease: OnRelease | null =
    execution.status === 'verifying'
      ? execution.onRelease
      : execution.status === 'refunding'
        ? { status: 'refunding', reason: execution.reason }
        : { status: 'exchanging', reason: null }
  return move(act, 'verifying', reason, 'held', { decision: null, onRelease, ...fields }, detail)
}

/**
 * Whether we owe the exchange this amount beyond what its payouts have reserved. Checked before each reservation, so that a
 * bug in the account of one deposit is not paid with another deposit's money.
 */
export async function isOwed(act: Act, assetId: AssetId, units: bigint): Promise<boolean> {
  return (await act.tx.ledger.unreserved(act.context.exchange.id, assetId)) >= units
}

/** Saves the accounting state of the deposit, and returns the deposit as it is stored now. */
export async function saveDeposit(
  act: Act,
  change: Partial<Pick<Execution['deposit'], 'status' | 'creditedUnits' | 'credits' | 'isBookedAsLoss'>>,
): Promise<Execution['deposit']> {
  const deposit = { ...act.execution.deposit, ...change }
  const { id, status, creditedUnits, credits, isBookedAsLoss } = deposit
  await act.tx.chainLog.saveDeposit({ id, status, creditedUnits, credits, isBookedAsLoss })
  // It came back with other units: `chainLog.saveDeposit` has stored its new block and units, and it is checked again.
  return deposit.returned === null
    ? deposit
    : { ...deposit, ...deposit.returned, status: 'seen', orphaned: false, returned: null }
}
