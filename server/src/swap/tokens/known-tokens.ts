import { LRUCache } from 'lru-cache'
import { AppError } from '../../core/domain/errors.ts'
import { createTtlCache } from '../../lib/ttl-cache.ts'
import { isNative, type Token } from '../domain/token.ts'
import type { SwapChain } from '../ports/swap-chain.ts'
import type { ListedToken } from '../ports/token-lists.ts'
import { nativeTokenOf } from './list-tokens.ts'

/** A token by its canonical address; null where there is none. Waits for a node where it must, some seconds at most. */
export type FindToken = (chain: SwapChain, address: string) => Promise<Token | null>
/** The same at once; undefined where it is met for the first time, and being read. */
export type PeekToken = (chain: SwapChain, address: string) => Token | null | undefined

export type TokenCache = Readonly<{ recall: PeekToken; find: FindToken }>

/** What a contract says of itself hardly ever changes; that there is none may change with the next block. */
const KEPT_MS = 24 * 3_600_000
const ABSENT_MS = 15_000
const KNOWN_MOST = 20_000
/** Tokens of one network that are read at once: whoever asks for more asks again. */
const READS_MAX = 16
/** What no node answered is not read again so soon where nobody waits for it. */
const PAUSE_MS = 5_000
const WAIT_MS = 5_000

type Read<T> = Readonly<{ token: T; at: number }>

/** From the lists, else from the chain: read once at a time, kept in memory, and read anew behind those who ask. */
export function createTokenCache(
  listed: (network: string) => readonly ListedToken[],
  now: () => number = Date.now,
): TokenCache {
  const givenOf = createGiven(listed)
  // Apart: by asking for what is nowhere, nobody drives out what is there.
  const kept = new LRUCache<string, Read<Token>>({ max: KNOWN_MOST })
  const absent = new LRUCache<string, Read<null>>({ max: KNOWN_MOST })
  const failed = createTtlCache<string, true>({ max: KNOWN_MOST, ttlMs: PAUSE_MS, now })
  const reading = new Map<string, Map<string, Promise<Token | null>>>()

  async function ask(chain: SwapChain, address: string, key: string): Promise<Token | null> {
    try {
      const facts = await chain.readToken(address)
      if (facts === null) {
        kept.delete(key)
        absent.set(key, { token: null, at: now() })
        return null
      }
      const token = { ...facts, network: chain.network.id, address }
      absent.delete(key)
      kept.set(key, { token, at: now() })
      return token
    } catch (error) {
      failed.set(key, true)
      throw error
    }
  }

  /** null where too many are read already. */
  function read(chain: SwapChain, address: string, key: string): Promise<Token | null> | null {
    const { id } = chain.network
    const reads = reading.get(id) ?? new Map<string, Promise<Token | null>>()
    reading.set(id, reads)
    const begun = reads.get(address)
    if (begun !== undefined) return begun
    if (reads.size >= READS_MAX) return null
    const made = ask(chain, address, key).finally(() => reads.delete(address))
    // Whoever waits is told; where nobody does, it is read again by the next who asks.
    made.catch(() => undefined)
    reads.set(address, made)
    return made
  }

  const keyOf = ({ network }: SwapChain, address: string) => `${network.id} ${address}`
  const isCurrent = (known: Read<Token | null> | undefined): boolean =>
    known !== undefined && now() - known.at <= (known.token === null ? ABSENT_MS : KEPT_MS)

  const recall: PeekToken = (chain, address) => {
    const given = givenOf(chain, address)
    if (given !== null) return given
    const key = keyOf(chain, address)
    const known = kept.get(key) ?? absent.get(key)
    if (!isCurrent(known) && failed.get(key) === undefined) void read(chain, address, key)
    return known?.token
  }

  return {
    recall,
    async find(chain, address) {
      const known = recall(chain, address)
      if (known) return known
      const key = keyOf(chain, address)
      if (isCurrent(absent.get(key))) return null
      const made = read(chain, address, key)
      if (made !== null) return within(WAIT_MS, made, chain)
      throw new AppError('OVERLOADED', 'too many tokens are met at once: ask again', { retryAfterSeconds: 1 })
    },
  }
}

/** What needs no node: the coin, and what is listed. */
function createGiven(listed: (network: string) => readonly ListedToken[]) {
  const byNetwork = new Map<string, ReadonlyMap<string, ListedToken>>()
  return (chain: SwapChain, address: string): Token | null => {
    if (isNative(address)) return nativeTokenOf(chain)
    const { id } = chain.network
    const all = byNetwork.get(id) ?? new Map(listed(id).map((token) => [token.address, token]))
    byNetwork.set(id, all)
    const own = all.get(address)
    return own === undefined
      ? null
      : { network: id, address, name: own.name, symbol: own.symbol, decimals: own.decimals }
  }
}

async function within<T>(ms: number, work: Promise<T>, { network }: SwapChain): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const message = `what is at this address is not read from ${network.id} yet: ask again`
    timer = setTimeout(() => reject(new AppError('NETWORK_UNAVAILABLE', message)), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
