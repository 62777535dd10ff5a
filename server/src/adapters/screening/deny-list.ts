import type { Screening } from '../../core/ports/screening.ts'

/** Compares addresses: the same text for every encoding of one address. Null: not an address on this network. */
export type AddressKey = (network: string, address: string) => string | null

/** Blocks the addresses of the operator's list, given as `network:address`, and allows all others. Throws for an entry that is no address. */
export function createDenyList(entries: readonly string[], keyOf: AddressKey): Screening {
  const denied = new Set(
    entries.map((entry, index) => {
      const colon = entry.indexOf(':')
      const [network, address] = [entry.slice(0, colon), entry.slice(colon + 1)]
      const key = keyOf(network, address)
      if (key === null) throw new Error(`screening.denied.${index} is not an address on ${network}: check it`)
      return key
    }),
  )
  return {
    screen: async ({ network, address }) => (denied.has(keyOf(network, address) ?? '') ? 'block' : 'allow'),
  }
}
