import type { Chain } from '../ports/chain.ts'

type Place = Readonly<{ network: string; address: string }>

/** Whether whoever sees the addresses takes them for one person's: the same account, key or script, on whichever networks. */
export function isSameHolder(chains: ReadonlyMap<string, Pick<Chain, 'addresses'>>, a: Place, b: Place): boolean {
  const holderOf = ({ network, address }: Place) => chains.get(network)?.addresses.holderId?.(address) ?? address
  return holderOf(a) === holderOf(b)
}
