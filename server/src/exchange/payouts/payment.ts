import type { Job } from '../../core/ports/jobs.ts'
import type { Payout } from '../ports/store/payouts.ts'

/** The next steps of the exchanges that these payouts are of. */
export const exchangeJobs = (payouts: readonly Pick<Payout, 'exchangeId'>[]): readonly Job[] =>
  payouts.flatMap(({ exchangeId }) => (exchangeId === null ? [] : [{ kind: 'exchange', id: exchangeId }]))

/** All that is said of a transaction while it is under way: once it is confirmed, or provably dead, none of it holds. */
export const alarmsUnderWay = (transactionId: string): readonly string[] =>
  ['broadcast', 'coins', 'gone', 'release', 'stuck', 'unmined'].map((alarm) => `${alarm}:${transactionId}`)
