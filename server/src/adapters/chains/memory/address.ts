import type { Network } from '../../../core/domain/network.ts'
import type { Addresses } from '../../../exchange/ports/chain.ts'
import type { PublicKeys } from '../../../exchange/ports/signer.ts'
import type { KeyPath } from '../../../exchange/ports/spend.ts'
import { assert } from '../../../lib/assert.ts'
import { addressOfPoint, readAddress } from '../shared/account-address.ts'

export type MemoryAddresses = Addresses & {
  /** The address of a key path. */
  addressAt(path: KeyPath): string
}

/** Ethereum's address format and checksum, so that the asset catalogue needs no further rules. */
export function createMemoryAddresses(network: Network, publicKeys: PublicKeys): MemoryAddresses {
  const hotKey: KeyPath = { branch: 'hot', index: network.hotIndex }
  let hot: string | null = null
  const derive = (path: KeyPath) => addressOfPoint(publicKeys.uncompressedKey(network.coinType, path))
  const addressAt = (path: KeyPath) => {
    assert(path.branch !== 'change', 'account-based families have no change addresses')
    if (path.branch !== hotKey.branch || path.index !== hotKey.index) return derive(path)
    // Every transfer needs it: derived once.
    hot ??= derive(hotKey)
    return hot
  }
  return Object.freeze({
    parse: readAddress,
    parseMemo: () => null,
    deposit: (index: number) => ({ address: addressAt({ branch: 'deposit', index }), memo: null }),
    hot: () => addressAt(hotKey),
    change: () => addressAt(hotKey),
    addressAt,
  })
}
