import { scale } from '../../core/domain/amount.ts'
import { smallest } from '../../lib/bigint.ts'
import { RESERVE_MARGIN_PPM } from '../domain/intermediary.ts'
import { PPM } from '../domain/private-plan.ts'
import type { OutflowLimit } from '../ports/store/outflow.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { ServiceSettings } from '../settings.ts'

type Limits = ServiceSettings['limits']

/** Refunds have counters of their own: returning deposits must never stop payouts. */
const REFUND = 'refund:'

/** `address` is in canonical form. */
type Counted = Pick<Payout, 'purpose' | 'network' | 'assetId' | 'partnerId' | 'address' | 'memo'>

/** The limits that a payout counts against. */
export function limitsOf(limits: Limits, payout: Counted): readonly OutflowLimit[] {
  const { purpose, network, assetId, partnerId } = payout
  const scopes = [
    'all',
    `asset:${assetId}`,
    `network:${network}`,
    ...(partnerId === null ? [] : [`partner:${partnerId}`]),
    ...(purpose === 'payout' || purpose === 'refund' ? [recipientScope(payout)] : []),
  ]
  return scopes.map((scope) => limitOf(limits, purpose === 'refund' ? `${REFUND}${scope}` : scope))
}

/** The memo is a part of it: all customers of another exchange receive at one address there. Encoded, because payers choose it. */
const recipientScope = ({ network, address, memo }: Counted): string =>
  `recipient:${network}:${address}${memo === null ? '' : `:${encodeURIComponent(memo)}`}`

const kindOf = (scope: string): string => scope.replace(REFUND, '').replace(/:.*/, '')

/** A network that may use the whole limit: the limit of all payouts is reached before, or at the same time. */
export const isImpliedByAll = ({ networkPercent }: Limits, scope: string): boolean =>
  networkPercent === 100 && kindOf(scope) === 'network'

/**
 * A partner, the hot wallet of a network and a recipient may each use a share of the operator's limits: so that one partner's
 * customers cannot stop the others, and an error or an attack that pays one address ends early.
 */
export function limitOf(limits: Limits, scope: string): OutflowLimit {
  const { hourUsd, dayUsd, partnerPercent, networkPercent, recipientPercent } = limits
  const shares = new Map([
    ['partner', partnerPercent],
    ['network', networkPercent],
    ['recipient', recipientPercent],
  ])
  const percent = BigInt(shares.get(kindOf(scope)) ?? 100)
  return { scope, hour: (hourUsd * percent) / 100n, day: (dayUsd * percent) / 100n }
}

/**
 * What quotes promise of a limit: prices change until the payout, and the program must not hold a payout whose quote it gave.
 * The same share is left free as of a reserve.
 */
const promisedOf = (limit: bigint): bigint => scale(limit, PPM, PPM + BigInt(RESERVE_MARGIN_PPM), 'down')

/** The largest payout to one partner's customer that quotes promise, in US dollars: with its margin it waits for no operator. */
export const largestPayoutUsd = (limits: Limits): bigint =>
  promisedOf(
    payoutCapUsd(
      limits,
      ['partner:', 'network:', 'recipient:'].map((scope) => limitOf(limits, scope)),
    ),
  )

/** The largest payout that quotes promise within the signer's limits of its asset, in units. */
export const largestPayoutUnits = (limits: Readonly<Record<'transaction' | 'hour' | 'day', bigint>>): bigint =>
  promisedOf(smallest(limits.transaction, limits.hour, limits.day))

/** The largest payout that counts against these limits, in US dollars. What is larger than a rolling limit would wait for ever. */
export const payoutCapUsd = ({ perTransactionUsd }: Limits, counted: readonly OutflowLimit[]): bigint =>
  smallest(perTransactionUsd, ...counted.flatMap(({ hour, day }) => [hour, day]))
