/** What became of one request: `remaining` of `limit`, whole again after `resetSeconds`. */
export type ThrottleVerdict = Readonly<{ allowed: boolean; limit: number; remaining: number; resetSeconds: number }>

/** Counts weighted requests by partner or address, in memory: the answer may lag what other processes counted. A refusal costs nothing. */
export interface Throttle {
  take(key: string, cost: number, limitPerMinute: number): ThrottleVerdict
}
