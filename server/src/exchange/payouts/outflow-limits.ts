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

/** The limits that a payout counts against. */
export function limitsOf(
  limits: Limits,
  { purpose, assetId, partnerId }: Pick<Payout, 'purpose' | 'assetId' | 'partnerId'>,
): readonly OutflowLimit[] {
  const scopes = ['all', `asset:${assetId}`, ...(partnerId === null ? [] : [`partner:${partnerId}`])]
  return scopes.map((scope) => limitOf(limits, purpose === 'refund' ? `${REFUND}${scope}` : scope))
}

/** A partner may use a share of the operator's limits, so that one partner's customers cannot stop the others. */
export function limitOf({ hourUsd, dayUsd, partnerPercent }: Limits, scope: string): OutflowLimit {
  const percent = scope.replace(REFUND, '').startsWith('partner:') ? BigInt(partnerPercent) : 100n
  return { scope, hour: (hourUsd * percent) / 100n, day: (dayUsd * percent) / 100n }
}

/**
 * What quotes promise of a limit: prices change until the payout, and the program must not hold a payout whose quote it gave.
 * The same share is left free as of a reserve.
 */
const promisedOf = (limit: bigint): bigint => scale(limit, PPM, PPM + BigInt(RESERVE_MARGIN_PPM), 'down')

/** The largest payout to one partner's customer that quotes promise, in US dollars: with its margin it waits for no operator. */
export const largestPayoutUsd = (limits: Limits): bigint =>
  promisedOf(payoutCapUsd(limits, [limitOf(limits, 'partner:')]))

/** The largest payout that quotes promise within the signer's limits of its asset, in units. */
export const largestPayoutUnits = (limits: Readonly<Record<'transaction' | 'hour' | 'day', bigint>>): bigint =>
  promisedOf(smallest(limits.transaction, limits.hour, limits.day))

/** The largest payout that counts against these limits, in US dollars. What is larger than a rolling limit would wait for ever. */
export const payoutCapUsd = ({ perTransactionUsd }: Limits, counted: readonly OutflowLimit[]): bigint =>
  smallest(perTransactionUsd, ...counted.flatMap(({ hour, day }) => [hour, day]))
