import type { Network } from '../../../core/domain/network.ts'
import type { Addresses } from '../../../exchange/ports/chain.ts'
import type { PublicKeys } from '../../../exchange/ports/signer.ts'
import type { KeyPath } from '../../../exchange/ports/spend.ts'
import { assert } from '../../../lib/assert.ts'
import { addressOfPoint, readAddress } from '../shared/account-address.ts'

export type MemoryAddresses = Addresses & {
  /** The address of a path: what a spend comes from. */
  own(path: KeyPath): string
}

/** Addresses of the account model: the same form and checksum as Ethereum's, so that a catalogue needs no other rules. */
export function createMemoryAddresses(network: Network, publicKeys: PublicKeys): MemoryAddresses {
  const hotKey: KeyPath = { branch: 'hot', index: network.hotIndex }
  let hot: string | null = null
  const derive = (path: KeyPath) => addressOfPoint(publicKeys.plainKey(network.coinType, path))
  const own = (path: KeyPath) => {
    assert(path.branch !== 'change', 'account families have no change addresses')
    if (path.branch !== hotKey.branch || path.index !== hotKey.index) return derive(path)
    // Every transfer asks for it.
    hot ??= derive(hotKey)
    return hot
  }
  return Object.freeze({
    parse: readAddress,
    parseMemo: () => null,
    deposit: (index: number) => ({ address: own({ branch: 'deposit', index }), memo: null }),
    hot: () => own(hotKey),
    change: () => own(hotKey),
    own,
  })
}
