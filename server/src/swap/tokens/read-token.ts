import { AppError } from '../../core/domain/errors.ts'
import type { SwapServices } from '../interfaces.ts'
import { poolToken, type SwapNetworks } from '../networks.ts'
import type { Router } from '../ports/router.ts'
import type { ListedToken } from '../ports/token-lists.ts'
import type { FindToken } from './token-cache.ts'

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
    const isTraded = router.liquidity(id).has(poolToken(chain, address))
    return {
      token: { ...token, address: chain.formatAddress(address) },
      enabled: isTraded && !networks.isPaused(id),
      icon: listed(id).find((one) => one.address === address)?.icon ?? null,
    }
  }
}
