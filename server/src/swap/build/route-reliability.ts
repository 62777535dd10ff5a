import type { RoutedSwap } from '../ports/router.ts'

/**
 * Pools of routes that paid other than they say, for a while: per process, in memory. A pool with an unlisted token is left out of all
 * routes; it serves trades of that token only. A pool of listed tokens is left out for the account that saw the difference, and for all
 * accounts once a second one saw it: an account whose own token or code acts differently must not take a real pool from the others.
 */
export type RouteReliability = Readonly<{
  /** Ids of pools that a route for `account` must not use; null: a quote, whose account is not known. */
  avoided(network: string, account: string | null): readonly string[]
  /** Records that the route pays other than it says, and returns the pools that may be the cause. */
  record(network: string, route: Pick<RoutedSwap, 'swaps' | 'unlisted'>, account: string): readonly string[]
}>

export type RouteReliabilityDeps = Readonly<{
  now(): number
  /** Called for every pool that is recorded. */
  onRecorded?(network: string, pool: string): void
}>

/** Half an hour: the pool is tried again then. */
const FORGET_MS = 30 * 60_000
const POOLS_MAX = 2_000
/** From so many accounts on the pool counts as the cause. */
const ACCOUNTS_MIN = 2

type Record = Readonly<{ id: string; network: string; accounts: readonly string[]; isForAll: boolean; untilMs: number }>

export function createRouteReliability({ now, onRecorded }: RouteReliabilityDeps): RouteReliability {
  const records = new Map<string, Record>()

  function recordPool(network: string, id: string, account: string, isUnlisted: boolean): void {
    const key = `${network} ${id}`
    const known = records.get(key)
    const earlier = known !== undefined && known.untilMs > now() ? known.accounts : []
    const accounts = [...new Set([...earlier, account])].slice(-ACCOUNTS_MIN)
    const isForAll = isUnlisted || accounts.length >= ACCOUNTS_MIN
    records.delete(key)
    records.set(key, { id, network, accounts, isForAll, untilMs: now() + FORGET_MS })
    const [oldest] = records.keys()
    if (records.size > POOLS_MAX && oldest !== undefined) records.delete(oldest)
    onRecorded?.(network, id)
  }

  return {
    avoided(network, account) {
      const ids: string[] = []
      for (const [key, one] of records) {
        if (one.untilMs <= now()) records.delete(key)
        else if (one.network === network && (one.isForAll || (account !== null && one.accounts.includes(account))))
          ids.push(one.id)
      }
      return ids
    },
    record(network, route, account) {
      const suspects = suspectsOf(route)
      for (const id of suspects) recordPool(network, id, account, route.unlisted.length > 0)
      return suspects
    },
  }
}

/** The pools of a route that may pay other than they say: those with an unlisted token, else all. */
export function suspectsOf({ swaps, unlisted }: Pick<RoutedSwap, 'swaps' | 'unlisted'>): readonly string[] {
  const pools = swaps.map(({ pool }) => pool)
  const withUnlisted = pools.filter(({ tokens }) => tokens.some((token) => unlisted.includes(token)))
  return [...new Set((withUnlisted.length > 0 ? withUnlisted : pools).map(({ id }) => id))]
}
