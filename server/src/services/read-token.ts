import { AppError } from '../domain/errors.ts'
import { isNative, type Token } from '../domain/swap/token.ts'
import { createRecent } from '../lib/recent.ts'
import type { Router } from '../ports/router.ts'
import type { SwapChain } from '../ports/swap-chain.ts'
import type { ListedToken } from '../ports/tokens.ts'
import { coinOf } from './list-tokens.ts'
import type { SwapServices } from './swap-interfaces.ts'
import type { SwapNetworks } from './swap-networks.ts'

/** A token that is known by its canonical address. null where there is none. */
export type FindToken = (chain: SwapChain, address: string) => Promise<Token | null>

/** What a contract says of itself hardly ever changes; that there is none may change with the next block. */
const KEPT_MS = 24 * 3_600_000
const ABSENT_MS = 15_000
const KEPT_MOST = 20_000

/** From the lists, else from the chain, asked once at a time and kept. */
export function createFindToken(
  listed: (network: string) => readonly ListedToken[],
  now: () => number = Date.now,
): FindToken {
  const byNetwork = new Map<string, ReadonlyMap<string, ListedToken>>()
  const kept = createRecent<string, Token>({ most: KEPT_MOST, ageMs: KEPT_MS, now })
  const absent = createRecent<string, true>({ most: KEPT_MOST, ageMs: ABSENT_MS, now })
  const asking = new Map<string, Promise<Token | null>>()

  function listedOn(network: string): ReadonlyMap<string, ListedToken> {
    const found = byNetwork.get(network) ?? new Map(listed(network).map((token) => [token.address, token]))
    byNetwork.set(network, found)
    return found
  }

  async function ask(chain: SwapChain, address: string, key: string): Promise<Token | null> {
    const facts = await chain.readToken(address)
    if (facts === null) {
      absent.set(key, true)
      return null
    }
    const token = { ...facts, network: chain.network.id, address }
    kept.set(key, token)
    return token
  }

  return async (chain, address) => {
    if (isNative(address)) return coinOf(chain)
    const { id } = chain.network
    const own = listedOn(id).get(address)
    if (own !== undefined) return { network: id, address, name: own.name, symbol: own.symbol, decimals: own.decimals }
    const key = `${id} ${address}`
    const known = kept.get(key)
    if (known !== undefined) return known
    if (absent.get(key)) return null
    const waiting = asking.get(key) ?? ask(chain, address, key).finally(() => asking.delete(key))
    asking.set(key, waiting)
    return waiting
  }
}

export type ReadTokenDeps = Readonly<{
  networks: SwapNetworks
  router: Router
  findToken: FindToken
  listed(network: string): readonly ListedToken[]
}>

/** Metadata of any token, listed or not. */
export function createReadToken({ networks, router, findToken, listed }: ReadTokenDeps): SwapServices['readToken'] {
  return async (name, text) => {
    const { chain } = networks.get(name)
    const { id } = chain.network
    const address = chain.parse(text)
    if (address === null)
      throw new AppError('INVALID_ADDRESS', `address is not an address on ${id}`, { field: 'address' })
    const token = await findToken(chain, address)
    if (token === null) throw new AppError('TOKEN_NOT_FOUND', 'there is no token at this address', { field: 'address' })
    const traded = router.liquidity(id).has(isNative(address) ? chain.wrapped : address)
    return {
      token: { ...token, address: chain.spell(address) },
      enabled: traded && !networks.isPaused(id),
      icon: listed(id).find((one) => one.address === address)?.icon ?? null,
    }
  }
}
