import type { Dex } from '../../swap/domain/dex.ts'
import { type Rpc, refusalOf } from '../chains/evm/rpc.ts'
import { isListed, type ListedTokens } from '../pools/rank.ts'
import { readerOf } from './dex-readers.ts'
import { scanLogs } from './logs.ts'
import type { DexReader, PoolIdentity, ReadContext } from './tracked-pool.ts'

export type DiscoverOptions = Readonly<{
  rpc: Rpc
  readContext: ReadContext
  dexes: readonly Dex[]
  connectors: readonly string[]
  /** Listed tokens, whose pairs with the connector tokens are looked up if the log history is not available. */
  tokens: readonly string[]
  listing: ListedTokens
  at: Readonly<{ height: number; hash: string }>
  /** Limit of blocks whose logs are scanned. */
  scanBlocksMax: number
  onSkipped(dex: Dex, error: unknown): void
}>

/** Limit of pools of one DEX that are ranked. If the logs have more, the pairs are looked up as well. */
const POOLS_MAX = 20_000

/** Finds the pools of listed tokens of every DEX by the factory's logs or by pairs. Throws if the node does not answer: partial results are unusable. */
export async function discover(options: DiscoverOptions): Promise<PoolIdentity[]> {
  const pools = new Map<string, PoolIdentity>()
  for (const dex of options.dexes) {
    const reader = readerOf(dex)
    if (reader === null) continue
    for (const pool of await discoverDex(dex, reader, options)) pools.set(pool.id, pool)
  }
  return [...pools.values()]
}

async function discoverDex(dex: Dex, reader: DexReader, options: DiscoverOptions): Promise<readonly PoolIdentity[]> {
  const { at, readContext } = options
  const byPairs = async () => (await reader.lookUp?.(readContext, at.hash, dex, pairsOf(options))) ?? []
  const isScannable = dex.deployedAt !== undefined && at.height - dex.deployedAt <= options.scanBlocksMax
  if (!isScannable && reader.lookUp) return byPairs()
  try {
    const scanned = await scan(dex, reader, options)
    return scanned.length < POOLS_MAX ? scanned : [...scanned, ...(await byPairs())]
  } catch (error) {
    // The node refused: it has no old logs.
    if (refusalOf(error) === null) throw error
    options.onSkipped(dex, error)
    return byPairs()
  }
}

async function scan(
  dex: Dex,
  reader: DexReader,
  { rpc, at, readContext, scanBlocksMax, listing }: DiscoverOptions,
): Promise<readonly PoolIdentity[]> {
  const from = Math.max(dex.deployedAt ?? 0, at.height - scanBlocksMax)
  const { address, topic } = reader.creation(dex)
  const pools: PoolIdentity[] = []
  for await (const logs of scanLogs(rpc, from, at.height, { addresses: [address], topics: [topic] })) {
    for (const log of logs) {
      const pool = reader.parseCreation(log, dex, readContext.wrapped)
      if (pool !== null && isListed(listing, pool.tokens)) pools.push(pool)
    }
    if (pools.length >= POOLS_MAX) break
  }
  const resolved = reader.resolve ? await reader.resolve(readContext, at.hash, pools) : pools
  // The log of some kinds has no tokens.
  return resolved.filter(({ tokens }) => isListed(listing, tokens))
}

/** Pairs of every connector token with every token, sorted by address as factories sort them. */
export function pairsOf({
  connectors,
  tokens,
  readContext: { wrapped },
}: Pick<DiscoverOptions, 'connectors' | 'tokens' | 'readContext'>): (readonly [string, string])[] {
  const allConnectors = new Set([wrapped, ...connectors])
  const pairs = new Map<string, readonly [string, string]>()
  for (const connector of allConnectors)
    for (const token of new Set([...allConnectors, ...tokens])) {
      if (connector === token) continue
      const pair = connector < token ? ([connector, token] as const) : ([token, connector] as const)
      pairs.set(pair.join(), pair)
    }
  return [...pairs.values()]
}
