/** The most that may leave in one scope, in US dollars scaled by 10^12. */
export type OutflowLimit = Readonly<{ scope: string; hour: bigint; day: bigint }>
/** A limit that a payout would exceed. */
export type ReachedLimit = Readonly<{ scope: string; window: 'hour' | 'day' }>
/** What left in a scope in the last hour and in the last day. */
export type Outflow = Readonly<{ scope: string; hour: bigint; day: bigint }>

/** Rolling outflow windows per scope, in US dollars scaled by 10^12 (I-24). */
export interface OutflowStore {
  /** Adds a payout to the windows of all scopes, or names the limit that it would exceed. Null = added. */
  take(payoutId: string, usd: bigint, limits: readonly OutflowLimit[]): Promise<ReachedLimit | null>
  /** As `take`, but adds nothing and locks nothing: to find out before anything is asked of a node. */
  check(payoutId: string, usd: bigint, limits: readonly OutflowLimit[]): Promise<ReachedLimit | null>
  /** Removes outflows of payouts that are not sent now from their windows. */
  release(payoutIds: readonly string[]): Promise<void>
  /** Scopes with an outflow in the last day, the largest first. Without those of recipients, which are many. */
  list(limit: number): Promise<readonly Outflow[]>
}
