import type { ExchangeStatus } from './exchange.ts'

const HOUR_MS = 3_600_000

/** How long something may stay in one state before an alarm, and what to check then. */
export type Deadline = Readonly<{ ms: number; owner: string }>

export type Deadlines = Readonly<{
  executions: Readonly<Record<Exclude<ExchangeStatus, 'finished' | 'failed' | 'refunded'>, Deadline>>
  transactions: Readonly<Record<'live' | 'confirmed', Deadline>>
  /** Payouts of our own: sweeps, gas, withdrawals. `held`: for the operator. */
  payouts: Readonly<Record<'queued' | 'held', Deadline>>
}>

/**
 * Every non-terminal state has a deadline and an owner, so nothing can stall unnoticed. The deadlines exceed what a healthy
 * network takes: on the slowest one, four times the confirmations take 7 hours, and finality 17.
 */
export function deadlinesOf(expiryMs: number): Deadlines {
  return {
    executions: {
      pending: { ms: expiryMs + HOUR_MS, owner: 'the workers: the exchange should have expired' },
      confirming: { ms: 12 * HOUR_MS, owner: "the network's node or its watcher" },
      exchanging: { ms: HOUR_MS, owner: 'prices, the venue, or the payout queue of its network' },
      sending: { ms: 24 * HOUR_MS, owner: 'the payout transaction' },
      refunding: { ms: 24 * HOUR_MS, owner: 'the refund transaction, or the payout queue of its network' },
      verifying: { ms: 24 * HOUR_MS, owner: 'the operator: the execution waits for a decision' },
    },
    transactions: {
      live: { ms: 24 * HOUR_MS, owner: 'the operator: raise its fee, or name a conflicting transaction' },
      confirmed: { ms: 48 * HOUR_MS, owner: "the network's node or its watcher" },
    },
    payouts: {
      queued: { ms: 24 * HOUR_MS, owner: 'the payout queue of its network' },
      held: { ms: 24 * HOUR_MS, owner: 'the operator: the payout waits for its release or drop' },
    },
  }
}
