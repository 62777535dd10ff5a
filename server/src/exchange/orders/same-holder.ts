import type { Chain } from '../ports/chain.ts'

type NetworkAddress = Readonly<{ network: string; address: string }>

/** Whether two addresses are visibly of one holder: the same account, key or script, also on different networks. */
export function isSameHolder(
  chains: ReadonlyMap<string, Pick<Chain, 'addresses'>>,
  a: NetworkAddress,
  b: NetworkAddress,
): boolean {
  const holderOf = ({ network, address }: NetworkAddress) =>
    chains.get(network)?.addresses.holderId?.(address) ?? address
  return holderOf(a) === holderOf(b)
}
