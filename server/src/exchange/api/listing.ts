import type { Asset } from '../../core/domain/asset.ts'
import type { Currency } from '../../core/domain/currency.ts'
import type { Listing } from './present.ts'

type Seen = Readonly<{ of: readonly Currency[]; demanding: ReadonlySet<string>; assets: ReadonlyMap<string, Asset> }>

/** Which networks demand a memo, and every asset, from the list that partners see. Worked out once per list. */
export function createListing(listCurrencies: () => readonly Currency[]): Listing {
  let seen: Seen | null = null
  const look = (): Seen => {
    const listed = listCurrencies()
    if (seen?.of !== listed) seen = read(listed)
    return seen
  }
  return {
    requiresMemo: (network) => look().demanding.has(network),
    assetOf: (id) => look().assets.get(id) ?? null,
  }
}

function read(listed: readonly Currency[]): Seen {
  const demanding = listed.filter(({ network }) => network.memo === 'required').map(({ network }) => network.id)
  return { of: listed, demanding: new Set(demanding), assets: new Map(listed.map(({ asset }) => [asset.id, asset])) }
}
