import type { ExchangeStatus } from './exchange.ts'

const HOUR_MS = 3_600_000

/** How long something may stay where it is before a person is told, and who is to look at it. */
export type Deadline = Readonly<{ ms: number; owner: string }>

export type Deadlines = Readonly<{
  executions: Readonly<Record<Exclude<ExchangeStatus, 'finished' | 'failed' | 'refunded'>, Deadline>>
  transactions: Readonly<Record<'live' | 'confirmed', Deadline>>
  /** Payouts of the house's own (sweeps, gas, withdrawals) in the queue. */
  payout: Deadline
}>

/**
 * Every state that is no end has a deadline and an owner: nothing waits for ever and nobody knows. Far above what a
 * healthy network takes: four times the confirmations of the slowest are seven hours, its finality seventeen.
 */
export function deadlinesOf(expiryMs: number): Deadlines {
  return {
    executions: {
      pending: { ms: expiryMs + HOUR_MS, owner: 'the workers: it should have expired' },
      confirming: { ms: 12 * HOUR_MS, owner: "the network's node, or its watcher" },
      exchanging: { ms: HOUR_MS, owner: 'prices, the venue, or the queue of its network' },
      sending: { ms: 24 * HOUR_MS, owner: 'the payout’s transaction' },
      refunding: { ms: 24 * HOUR_MS, owner: 'the refund’s transaction, or the queue of its network' },
      verifying: { ms: 24 * HOUR_MS, owner: 'the operator: it waits for a decision' },
    },
    transactions: {
      live: { ms: 24 * HOUR_MS, owner: 'the operator: raise its fee from outside, or find its rival' },
      confirmed: { ms: 48 * HOUR_MS, owner: "the network's node, or its watcher" },
    },
    payout: { ms: 24 * HOUR_MS, owner: 'the queue of its network' },
  }
}
