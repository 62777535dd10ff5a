import { smallest } from '../../lib/bigint.ts'
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

/** The largest payout for one partner's customer that waits for no operator, in US dollars: quotes promise no more. */
export const largestPayoutUsd = (limits: Limits): bigint => payoutCapUsd(limits, [limitOf(limits, 'partner:')])

/** The largest payout that counts against these limits, in US dollars. What is larger than a rolling limit would wait for ever. */
export const payoutCapUsd = ({ perTransactionUsd }: Limits, counted: readonly OutflowLimit[]): bigint =>
  smallest(perTransactionUsd, ...counted.flatMap(({ hour, day }) => [hour, day]))
