import { type AccountAddresses, addressOfPoint, readAddress } from '../../src/adapters/chains/shared/account-address.ts'
import type { Network } from '../../src/core/domain/network.ts'
import type { PublicKeys } from '../../src/exchange/ports/signer.ts'
import type { KeyPath } from '../../src/exchange/ports/spend.ts'
import { assert } from '../../src/lib/assert.ts'

/** Ethereum's address format and checksum, so that the asset catalogue needs no further rules. */
export function createMemoryAddresses(network: Network, publicKeys: PublicKeys): AccountAddresses {
  const hotKey: KeyPath = { branch: 'hot', index: network.hotIndex }
  let hot: string | null = null
  const derive = (path: KeyPath) => addressOfPoint(publicKeys.uncompressedKey(network.coinType, path))
  const addressAt = (path: KeyPath) => {
    assert(path.branch !== 'change', 'account families have no change addresses')
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
