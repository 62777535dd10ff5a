import { createTtlCache } from '../../lib/ttl-cache.ts'
import type { PoolReads, PoolView } from '../interfaces.ts'
import type { SwapNetworks } from '../networks.ts'
import type { ListedPool } from '../ports/pools.ts'
import type { Router } from '../ports/router.ts'
import type { SwapChain } from '../ports/swap-chain.ts'
import type { ListedToken } from '../ports/token-lists.ts'
import type { PeekToken } from './token-cache.ts'

export type ReadPoolsDeps = Readonly<{
  networks: SwapNetworks
  /** Ids of the served networks. */
  served: readonly string[]
  router: Router
  listed(network: string): readonly ListedToken[]
  findToken: PeekToken
  now(): number
}>

/** The router thread values all pools of a network for one list, so operators share it for this time. */
const FRESH_MS = 5_000

/** What the router of this process follows, for operators. */
export function createReadPools({ networks, served, router, listed, findToken, now }: ReadPoolsDeps): PoolReads {
  const lists = createTtlCache<string, Promise<readonly ListedPool[]>>({
    ...{ max: Math.max(1, served.length), ttlMs: FRESH_MS, now },
  })
  const symbolsOf = (chain: SwapChain): ReadonlyMap<string, string> => {
    const wrapped = findToken(chain, chain.wrapped)
    return new Map([
      ...(wrapped ? [[chain.wrapped, wrapped.symbol] as const] : []),
      ...listed(chain.network.id).map(({ address, symbol }) => [address, symbol] as const),
    ])
  }

  /** A failure is not kept. */
  function readPools(network: string): Promise<readonly ListedPool[]> {
    const kept = lists.get(network)
    if (kept !== undefined) return kept
    const read = router.listPools(network)
    lists.set(network, read)
    read.catch(() => lists.delete(network))
    return read
  }

  return {
    states: () =>
      served.flatMap((network) => {
        const state = router.state(network)
        const chain = networks.find(network)?.chain
        if (state === null || chain === undefined) return []
        const { symbol, decimals } = chain.network
        return [{ network, symbol, decimals, ...state, depth: router.depth(network) }]
      }),
    async list(name) {
      const { chain } = networks.get(name)
      const pools = await readPools(chain.network.id)
      const symbols = symbolsOf(chain)
      const show = (token: string) => ({ address: chain.formatAddress(token), symbol: symbols.get(token) ?? null })
      return pools.map((pool): PoolView => ({ ...pool, shown: pool.tokens.map(show) }))
    },
  }
}
