/** What became of one request: `remaining` of `limit`, whole again after `resetSeconds`. */
export type ThrottleVerdict = Readonly<{ allowed: boolean; limit: number; remaining: number; resetSeconds: number }>

/** Counts weighted requests by partner or address. The answer may lag what other processes counted. */
export interface Throttle {
  take(key: string, cost: number, limitPerMinute: number): ThrottleVerdict | Promise<ThrottleVerdict>
}
