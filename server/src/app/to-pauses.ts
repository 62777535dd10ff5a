import type { AssetId } from '../core/domain/asset.ts'
import type { Pauses } from '../core/domain/book.ts'
import { isPoolPause } from '../swap/domain/pool-pauses.ts'

/** What the paused scopes of the database stop. `all` pauses every network. */
export function toPauses(paused: readonly Readonly<{ scope: string }>[], networks: readonly string[]): Pauses {
  const scopes = paused.map(({ scope }) => scope)
  const named = (prefix: string) =>
    new Set(scopes.flatMap((scope) => (scope.startsWith(prefix) ? [scope.slice(prefix.length)] : [])))
  return {
    networks: new Set([...named('network:'), ...(scopes.includes('all') ? networks : [])]),
    assets: named('asset:') as ReadonlySet<AssetId>,
    payouts: named('payouts:'),
    partners: named('partner:'),
    pools: new Set(scopes.filter(isPoolPause)),
  }
}
