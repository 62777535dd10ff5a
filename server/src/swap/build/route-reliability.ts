import type { RoutedSwap } from '../ports/router.ts'

/**
 * Pools of routes that paid less than they say, for a while: per process, in memory. A pool with an unlisted token is left out of all
 * routes; it serves trades of that token only. A pool of listed tokens is left out for the account that saw the difference, and for all
 * accounts once two saw it on a route of that pool alone. Accounts cost nothing, and one whose own code is called by a token of the route
 * can move the pools behind it: it must not take a real pool from the others.
 */
export type RouteReliability = Readonly<{
  /** Ids of pools that a route for `account` must not use; null: a quote, whose account is not known. */
  avoided(network: string, account: string | null): readonly string[]
  /** Records that the route pays less than it says, and returns the pools that may be the cause. */
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

/** Accounts that are remembered per pool. */
const ACCOUNTS_MAX = 10

/** Why a pool is recorded: it has an unlisted token, it is the whole route, or it is one pool of a route of listed tokens. */
type Suspicion = 'unlisted' | 'alone' | 'shared'
type Record = Readonly<{
  id: string
  network: string
  accounts: readonly string[]
  /** Accounts that saw it on a route of this pool alone. */
  alone: readonly string[]
  isForAll: boolean
  untilMs: number
}>

export function createRouteReliability({ now, onRecorded }: RouteReliabilityDeps): RouteReliability {
  const records = new Map<string, Record>()

  function recordPool(network: string, id: string, account: string, suspicion: Suspicion): void {
    const key = `${network} ${id}`
    const found = records.get(key)
    const known = found !== undefined && found.untilMs > now() ? found : null
    const add = (accounts: readonly string[] = []) => [...new Set([...accounts, account])].slice(-ACCOUNTS_MAX)
    const accounts = add(known?.accounts)
    const alone = suspicion === 'alone' ? add(known?.alone) : (known?.alone ?? [])
    const isForAll = known?.isForAll === true || suspicion === 'unlisted' || alone.length >= ACCOUNTS_MIN
    records.delete(key)
    records.set(key, { id, network, accounts, alone, isForAll, untilMs: now() + FORGET_MS })
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
      const suspicion = route.unlisted.length > 0 ? 'unlisted' : suspects.length === 1 ? 'alone' : 'shared'
      for (const id of suspects) recordPool(network, id, account, suspicion)
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
