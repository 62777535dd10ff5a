/** Pauses of pools that routes must not use: DEXes by name, pools by id or address, tokens by address, in canonical form. */
export type PoolPauses = Readonly<{
  dexes: ReadonlySet<string>
  pools: ReadonlySet<string>
  tokens: ReadonlySet<string>
}>

export const noPoolPauses: PoolPauses = { dexes: new Set(), pools: new Set(), tokens: new Set() }

const SCOPE = /^(dex|pool|token):([^@]+)@(.+)$/
const ADDRESS_LENGTH = 42

export const isPoolPause = (scope: string): boolean => SCOPE.test(scope)

/** The pauses of one network. Scopes: `dex:uniswap-v2@base`, `pool:0x…@base`, `token:0x…@base`. */
export function poolPausesOf(scopes: Iterable<string>, network: string): PoolPauses {
  const named = { dex: new Set<string>(), pool: new Set<string>(), token: new Set<string>() }
  for (const scope of scopes) {
    const [, kind, name, of] = SCOPE.exec(scope) ?? []
    if (name !== undefined && of === network) named[kind as keyof typeof named].add(name)
  }
  return { dexes: named.dex, pools: named.pool, tokens: named.token }
}

/** The scopes of `scopes` that pause this pool. */
export const pausesOfPool = (pool: PausablePool, scopes: readonly string[], network: string): readonly string[] =>
  scopes.filter((scope) => isPaused(pool, poolPausesOf([scope], network)))

export type PausablePool = Readonly<{ dex: string; id: string; tokens: readonly string[] }>

export function isPaused({ dex, id, tokens: ofPool }: PausablePool, { dexes, pools, tokens }: PoolPauses): boolean {
  // A pool of Balancer's vault is also named by its address, the first 20 bytes of its id.
  return (
    dexes.has(dex) ||
    pools.has(id) ||
    pools.has(id.slice(0, ADDRESS_LENGTH)) ||
    ofPool.some((token) => tokens.has(token))
  )
}
