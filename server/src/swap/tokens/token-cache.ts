import { LRUCache } from 'lru-cache'
import { AppError } from '../../core/domain/errors.ts'
import { createTtlCache } from '../../lib/ttl-cache.ts'
import type { Token } from '../domain/token.ts'
import { isNative } from '../networks.ts'
import type { SwapChain } from '../ports/swap-chain.ts'
import type { ListedToken } from '../ports/token-lists.ts'
import { nativeTokenOf } from './list-tokens.ts'

/** Finds a token by its canonical address; null if it does not exist. May wait for a node, at most `WAIT_MS`. */
export type FindToken = (chain: SwapChain, address: string) => Promise<Token | null>
/** As `FindToken`, without waiting: undefined if the token is not cached yet; it is then read in the background. */
export type PeekToken = (chain: SwapChain, address: string) => Token | null | undefined

export type TokenCache = Readonly<{ peek: PeekToken; find: FindToken }>

/** Token metadata hardly ever changes. */
const TOKEN_FRESH_MS = 24 * 3_600_000
/** A contract may be deployed in the next block. */
const ABSENT_FRESH_MS = 15_000
const ENTRIES_MAX = 20_000
/** Concurrent reads per network. */
const READS_MAX = 16
/** After a failed read the next background read waits this long. */
const RETRY_MS = 5_000
const WAIT_MS = 5_000

type Entry<T> = Readonly<{ token: T; at: number }>

/** Tokens from the lists, else from the chain: cached in memory and refreshed in the background, one read per token at a time. */
export function createTokenCache(
  listed: (network: string) => readonly ListedToken[],
  now: () => number = Date.now,
): TokenCache {
  const findLocal = createFindLocal(listed)
  // Two caches, so that requests for absent tokens cannot evict existing ones.
  const existing = new LRUCache<string, Entry<Token>>({ max: ENTRIES_MAX })
  const absent = new LRUCache<string, Entry<null>>({ max: ENTRIES_MAX })
  const failed = createTtlCache<string, true>({ max: ENTRIES_MAX, ttlMs: RETRY_MS, now })
  const readsByNetwork = new Map<string, Map<string, Promise<Token | null>>>()

  async function readChain(chain: SwapChain, address: string, key: string): Promise<Token | null> {
    try {
      const facts = await chain.readToken(address)
      if (facts === null) {
        existing.delete(key)
        absent.set(key, { token: null, at: now() })
        return null
      }
      const token = { ...facts, network: chain.network.id, address }
      absent.delete(key)
      existing.set(key, { token, at: now() })
      return token
    } catch (error) {
      failed.set(key, true)
      throw error
    }
  }

  /** Joins a running read or starts one. Null if the network has too many reads under way. */
  function startRead(chain: SwapChain, address: string, key: string): Promise<Token | null> | null {
    const { id } = chain.network
    const reads = readsByNetwork.get(id) ?? new Map<string, Promise<Token | null>>()
    readsByNetwork.set(id, reads)
    const running = reads.get(address)
    if (running !== undefined) return running
    if (reads.size >= READS_MAX) return null
    const read = readChain(chain, address, key).finally(() => reads.delete(address))
    // A background read has no caller for its error; callers that wait still get it.
    read.catch(() => undefined)
    reads.set(address, read)
    return read
  }

  const keyOf = ({ network }: SwapChain, address: string) => `${network.id} ${address}`
  const isFresh = (entry: Entry<Token | null> | undefined): boolean =>
    entry !== undefined && now() - entry.at <= (entry.token === null ? ABSENT_FRESH_MS : TOKEN_FRESH_MS)

  const peek: PeekToken = (chain, address) => {
    const local = findLocal(chain, address)
    if (local !== null) return local
    const key = keyOf(chain, address)
    const entry = existing.get(key) ?? absent.get(key)
    if (!isFresh(entry) && failed.get(key) === undefined) void startRead(chain, address, key)
    return entry?.token
  }

  return {
    peek,
    async find(chain, address) {
      const cached = peek(chain, address)
      if (cached) return cached
      const key = keyOf(chain, address)
      if (isFresh(absent.get(key))) return null
      const read = startRead(chain, address, key)
      if (read !== null) return within(WAIT_MS, read, chain)
      throw new AppError('OVERLOADED', 'too many new tokens are being read: try again', { retryAfterSeconds: 1 })
    },
  }
}

/** Finds tokens that need no node: native currency and listed tokens. */
function createFindLocal(listed: (network: string) => readonly ListedToken[]) {
  const byNetwork = new Map<string, ReadonlyMap<string, ListedToken>>()
  return (chain: SwapChain, address: string): Token | null => {
    if (isNative(chain, address)) return nativeTokenOf(chain)
    const { id } = chain.network
    const all = byNetwork.get(id) ?? new Map(listed(id).map((token) => [token.address, token]))
    byNetwork.set(id, all)
    const token = all.get(address)
    if (token === undefined) return null
    const { name, symbol, decimals } = token
    return { network: id, address, name, symbol, decimals }
  }
}

async function within<T>(ms: number, work: Promise<T>, { network }: SwapChain): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const message = `the token was not read from ${network.id} in time: try again`
    timer = setTimeout(() => reject(new AppError('NETWORK_UNAVAILABLE', message)), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
