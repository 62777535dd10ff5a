import type { AssetId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import { present } from '../../lib/assert.ts'
import { endsOf } from '../domain/exchange.ts'
import type { Decision } from '../domain/lifecycle.ts'
import { afterNetworkFee } from '../domain/pricing.ts'
import type { Destination } from '../ports/chain.ts'
import type { Execution } from '../ports/store/execution.ts'
import type { StepContext } from '../ports/store/steps.ts'
import type { Stores } from '../ports/store/store.ts'
import {
  convertibleUnits,
  depositAsset,
  findMissingNetwork,
  hasNextLeg,
  isRightAsset,
  legOf,
  type MarketDeps,
} from '../settlement/steps/context.ts'
import { dueUnitsOf, termsOf } from '../settlement/steps/convert.ts'
import { costsOfReturn, pricingOf } from '../settlement/steps/leg-pricing.ts'
import { isAuthentic, minOutputUnits, refundDestination } from '../settlement/steps/queue-payment.ts'
import { refundFee } from '../settlement/steps/refund.ts'

/** What a decision about a held execution pays, by the rows and the prices of this moment. */
export type DecisionForecast = Readonly<{
  /** Null = it pays nothing, or the amount is not known now. */
  units: bigint | null
  assetId: AssetId | null
  /** Null = there is no address; a note says why. */
  to: Destination | null
  /** Network fee that is deducted from the amount; null = none is, or it was deducted before. */
  feeUnits: bigint | null
  /** Sentences for the operator: what is only known when the decision is carried out, and what prevents it. */
  notes: readonly string[]
}>

type Readers = Pick<Stores, 'inventory' | 'steps' | 'payouts'>
type Held = Readonly<{ deps: MarketDeps; tx: Readers; context: StepContext; execution: Execution }>

const nothing: DecisionForecast = { units: null, assetId: null, to: null, feeUnits: null, notes: [] }
const onlyNotes = (...notes: readonly string[]): DecisionForecast => ({ ...nothing, notes })
const withNotes = (forecast: DecisionForecast, ...notes: readonly string[]): DecisionForecast => ({
  ...forecast,
  notes: [...notes, ...forecast.notes],
})

const ESTIMATE = 'The amount is an estimate by current prices: it is known when the decision is carried out.'
const FEE_ESTIMATE = 'The network fee is an estimate: it is known when the refund is carried out.'
const NO_PRICE = 'There is no current price or network fee: the amount is known when the decision is carried out.'
const NO_REFUND_ADDRESS = 'There is no refund address: the refund waits for one.'
const NOT_AUTHENTIC = 'The payee was changed outside of the program: the deposit is held again.'

/** The held execution with its exchange; null = it is held no more. Inside a transaction the exchange is locked. */
export async function loadHeld(
  { steps }: Pick<Stores, 'steps'>,
  exchangeId: string,
  { id, leg, depositId }: Readonly<{ id: string; leg: number; depositId: string }>,
): Promise<Pick<Held, 'context' | 'execution'> | null> {
  // The window begins with the execution, wherever among many it stands.
  const context = await steps.load(exchangeId, { leg, depositId: String(BigInt(depositId) - 1n) })
  const execution = context?.executions.find((one) => one.id === id && one.status === 'verifying')
  return context && execution ? { context, execution } : null
}

/**
 * What the next steps do after this decision. It follows `verifying` of the lifecycle and uses the functions of the steps, but
 * writes nothing; the steps decide again, by the rows and prices of their time.
 */
export async function forecastDecision(held: Held, decision: Decision): Promise<DecisionForecast> {
  const { execution, deps, context } = held
  const { deposit, payout, onRelease } = execution
  if (payout !== null && payout.state !== 'reserved')
    return withNotes(await forecastPayout(held, payout.id), 'This payment is signed already: no decision changes it.')
  if (decision === 'fail')
    return onlyNotes(
      deposit.block === null
        ? 'It pays nothing: the deposit is not on its chain.'
        : 'It pays nothing: the deposit stays until its owner claims it.',
    )
  if (deposit.status !== 'credited' || deposit.block === null)
    return onlyNotes('The deposit is not on its chain: nothing is paid until it is back.')
  if (execution.leg > 0 && execution.isSourceMissing)
    return onlyNotes("The customer's deposit is not on its chain: nothing is paid until it is back.")
  const isRefund = decision === 'refund' || (decision === 'release' && onRelease?.status === 'refunding')
  const decided: Held = { ...held, execution: { ...execution, status: isRefund ? 'refunding' : 'exchanging' } }
  const network = findMissingNetwork({ deps, context, execution: decided.execution })
  if (network !== null) return onlyNotes(`The network ${network} is not configured: the deposit is held again.`)
  if (decision === 'release' && payout !== null) return forecastPayout(held, payout.id)
  if (isRefund) return forecastRefund(decided)
  if (decision === 'release' && execution.order?.state === 'filled' && execution.dueUnits !== null)
    return forecastProceeds(decided, execution.dueUnits)
  return forecastConversion(decided)
}

/** The payout or refund that is reserved. */
async function forecastPayout({ tx, execution, context }: Held, id: string): Promise<DecisionForecast> {
  const payout = present((await tx.payouts.find([id]))[0], `payout ${id} of execution ${execution.id}`)
  const { assetId, units, address, memo, purpose } = payout
  const isNextLeg = purpose === 'payout' && hasNextLeg({ context, execution })
  return {
    ...{ units, assetId, to: { address, memo }, feeUnits: null },
    notes: [
      ...(isNextLeg ? ['The address is ours: it is the deposit of the next leg.'] : []),
      ...(payout.isAuthentic ? [] : ['The payout was changed outside of the program: the signer refuses it.']),
    ],
  }
}

/** What was converted, to the recipient, to the next leg, or to the partner's balance. */
function forecastProceeds(held: Held, units: bigint, feeUnits: bigint | null = null): DecisionForecast {
  const { context } = held
  const { recipient } = context.exchange
  const proceeds = { units, assetId: legOf(held).to.id, feeUnits }
  if (hasNextLeg(held))
    return { ...proceeds, to: null, notes: ['It funds the next leg, at an address of ours that is derived then.'] }
  if (recipient === null) return { ...proceeds, to: null, notes: ["It is credited to the partner's balance."] }
  return { ...proceeds, to: recipient, notes: isAuthentic(held, 'recipient') ? [] : [NOT_AUTHENTIC] }
}

async function forecastConversion(held: Held): Promise<DecisionForecast> {
  const { deps, context, execution } = held
  const { to } = legOf(held)
  if (!isRightAsset(held)) return refused(held, 'WRONG_ASSET')
  const assets = context.exchange.legs.slice(execution.leg).flatMap(({ from, to: target }) => [from, target])
  const unlisted = assets.find(({ id }) => deps.currencyOf(id) === null)
  if (unlisted) return onlyNotes(`${unlisted.id} is not listed: the conversion waits until it is.`)
  const terms = await termsOf(held)
  if (terms.kind === 'refund') return refused(held, terms.reason)
  if (terms.kind === 'wait') {
    if (terms.for === 'price') return withNotes(forecastUnknown(held), NO_PRICE)
    const what = terms.for === 'pause' ? 'the end of a pause' : 'the reserve'
    return withNotes(forecastUnknown(held), `The conversion waits for ${what}: the amount is known after that.`)
  }
  const units = dueUnitsOf(held, terms.toUnits)
  if (units < minOutputUnits({ deps }, to) && (hasNextLeg(held) || held.context.exchange.recipient !== null))
    return refused(held, 'BELOW_MIN')
  if (terms.rate === 'fixed') return withNotes(forecastProceeds(held, units), 'The rate is the fixed one.')
  return withNotes(forecastProceeds(held, units, conversionFee(held)), ESTIMATE)
}

/** The payee of an amount that is not known. */
const forecastUnknown = (held: Held): DecisionForecast => ({ ...forecastProceeds(held, 0n), units: null })

const refused = (held: Held, reason: string): DecisionForecast =>
  withNotes(forecastRefund(held), `It cannot be converted (${reason}): the deposit is refunded.`)

/** The network fee within a conversion now; null = no current price, as at a fixed rate that needs none. */
function conversionFee(held: Held): bigint | null {
  try {
    return pricingOf(held, legOf(held)).networkUnits
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

/** The deposit less the network fee. Of a later leg, what its conversion back gives, in the source asset. */
function forecastRefund(held: Held): DecisionForecast {
  const { deps, context, execution } = held
  const { deposit, leg } = execution
  if (deposit.assetId === null || deps.currencyOf(deposit.assetId) === null)
    return onlyNotes('The asset of the deposit is not listed: it cannot be refunded.')
  const isReturn = leg > 0
  const asset = isReturn ? endsOf(context.exchange).from : depositAsset(held)
  const costs = isReturn ? costsOfReturn(held) : null
  const feeUnits = isReturn ? (costs?.networkUnits ?? null) : refundFee(held)
  const to = refundDestination(held)
  const notes = [
    ...(to === null ? [NO_REFUND_ADDRESS] : isAuthentic(held, 'refund') ? [] : [NOT_AUTHENTIC]),
    ...(feeUnits === null ? [NO_PRICE] : isReturn ? [ESTIMATE] : [FEE_ESTIMATE]),
  ]
  if (feeUnits === null) return { units: null, assetId: asset.id, to, feeUnits, notes }
  const units =
    costs === null
      ? present(deposit.creditedUnits, 'a credited deposit has units') - feeUnits
      : afterNetworkFee(costs, convertibleUnits(held))
  if (units < minOutputUnits({ deps }, asset))
    return onlyNotes('After the network fee too little is left to be refunded: it pays nothing and is closed as dust.')
  return { units, assetId: asset.id, to, feeUnits, notes }
}
