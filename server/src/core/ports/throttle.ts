/** Decision on one request. `remaining` of `limit` is left; the limit is full again after `resetSeconds`. */
export type ThrottleVerdict = Readonly<{ allowed: boolean; limit: number; remaining: number; resetSeconds: number }>

/** Counts weighted requests by partner or address, in memory. Counts of other processes arrive late. A refused request does not count. */
export interface Throttle {
  take(key: string, cost: number, limitPerMinute: number): ThrottleVerdict
}
