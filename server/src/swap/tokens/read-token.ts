import { AppError } from '../../core/domain/errors.ts'
import { isNative } from '../domain/token.ts'
import type { SwapServices } from '../interfaces.ts'
import type { SwapNetworks } from '../networks.ts'
import type { Router } from '../ports/router.ts'
import type { ListedToken } from '../ports/token-lists.ts'
import type { FindToken } from './known-tokens.ts'

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
      token: { ...token, address: chain.formatAddress(address) },
      enabled: traded && !networks.isPaused(id),
      icon: listed(id).find((one) => one.address === address)?.icon ?? null,
    }
  }
}
