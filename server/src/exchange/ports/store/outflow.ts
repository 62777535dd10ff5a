/** Rolling outflow windows per scope, in US dollars scaled by 10^12 (I-24). */
export interface OutflowStore {
  /** Adds an outflow to the scopes' rolling windows, or names the limit that it would break. */
  take(
    payoutId: string,
    scopes: readonly string[],
    usd: bigint,
    limits: { hour: bigint; day: bigint },
  ): Promise<'hour' | 'day' | null>
  /** Removes outflows of payouts that are not sent now from their windows. */
  release(payoutIds: readonly string[]): Promise<void>
}
