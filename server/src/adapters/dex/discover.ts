import type { Dex } from '../../swap/domain/dex.ts'
import { type Rpc, refusalOf } from '../chains/evm/rpc.ts'
import { readerOf } from './dex-readers.ts'
import { scanLogs } from './logs.ts'
import type { DexReader, PoolIdentity, ReadContext } from './tracked-pool.ts'

export type DiscoverOptions = Readonly<{
  rpc: Rpc
  readContext: ReadContext
  dexes: readonly Dex[]
  connectors: readonly string[]
  /** Tokens that are looked up against the connector tokens where history is out of reach. */
  tokens: readonly string[]
  at: Readonly<{ height: number; hash: string }>
  /** Longer histories are not scanned. */
  scanBlocksMax: number
  onSkipped(dex: Dex, error: unknown): void
}>

/** Pools of one DEX that are remembered, to be ranked. */
const FOUND_MAX = 20_000

/** Pools of every DEX, from its factory's logs or by pairs. A node that is away fails the whole: half of it is no state. */
export async function discover(options: DiscoverOptions): Promise<PoolIdentity[]> {
  const found = new Map<string, PoolIdentity>()
  for (const dex of options.dexes) {
    const reader = readerOf(dex)
    if (reader === null) continue
    for (const pool of await discoverOne(dex, reader, options)) found.set(pool.id, pool)
  }
  return [...found.values()]
}

async function discoverOne(dex: Dex, reader: DexReader, options: DiscoverOptions): Promise<readonly PoolIdentity[]> {
  const { at, readContext } = options
  const byPairs = async () => (await reader.lookUp?.(readContext, at.hash, dex, pairsOf(options))) ?? []
  const isNear = dex.deployedAt !== undefined && at.height - dex.deployedAt <= options.scanBlocksMax
  if (!isNear && reader.lookUp !== null) return byPairs()
  try {
    return await scan(dex, reader, options)
  } catch (error) {
    // A node without old logs.
    if (refusalOf(error) === null) throw error
    options.onSkipped(dex, error)
    return byPairs()
  }
}

async function scan(
  dex: Dex,
  reader: DexReader,
  { rpc, at, readContext, scanBlocksMax }: DiscoverOptions,
): Promise<readonly PoolIdentity[]> {
  const from = Math.max(dex.deployedAt ?? 0, at.height - scanBlocksMax)
  const { address, topic } = reader.creation(dex)
  const found: PoolIdentity[] = []
  for await (const logs of scanLogs(rpc, from, at.height, { addresses: [address], topics: [topic] })) {
    for (const log of logs) {
      const pool = reader.parseCreation(log, dex, readContext.wrapped)
      if (pool !== null) found.push(pool)
    }
    if (found.length >= FOUND_MAX) break
  }
  return reader.resolve ? reader.resolve(readContext, at.hash, found) : found
}

/** Every connector token with every token. Each pair begins with the lower address, as factories sort them. */
export function pairsOf({
  connectors,
  tokens,
  readContext: { wrapped },
}: Pick<DiscoverOptions, 'connectors' | 'tokens' | 'readContext'>): (readonly [string, string])[] {
  const middle = new Set([wrapped, ...connectors])
  const pairs = new Map<string, readonly [string, string]>()
  for (const connector of middle)
    for (const token of new Set([...middle, ...tokens])) {
      if (connector === token) continue
      const pair = connector < token ? ([connector, token] as const) : ([token, connector] as const)
      pairs.set(pair.join(), pair)
    }
  return [...pairs.values()]
}
