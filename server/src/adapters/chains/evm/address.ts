import { ECDH } from 'node:crypto'
import type { Network } from '../../../core/domain/network.ts'
import type { PublicKeys } from '../../../exchange/ports/signer.ts'
import type { KeyPath } from '../../../exchange/ports/spend.ts'
import { assert } from '../../../lib/assert.ts'
import { type AccountAddresses, addressOfPoint, readAddress } from '../shared/account-address.ts'

/** Highest reserved address: precompiles and system contracts (0x01…0x11, Arbitrum's 0x64…, Polygon's 0x1010, 0xdead). */
const RESERVED_MAX = 0xffffn
/** The address by which aggregators name the native currency; never a recipient. */
const NATIVE_PLACEHOLDER = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

/** `tokens`: token contracts of the catalogue, refused as recipients because a payment to them is lost. */
export function createEvmAddresses(
  network: Network,
  publicKeys: PublicKeys,
  tokens: readonly string[],
): AccountAddresses {
  const refused = new Set([NATIVE_PLACEHOLDER, ...tokens.map((token) => token.toLowerCase())])
  const hotKey: KeyPath = { branch: 'hot', index: network.hotIndex }
  let hot: string | null = null

  function addressAt(path: KeyPath): string {
    assert(path.branch !== 'change', 'account families have no change addresses')
    return addressOfPoint(publicKeys.uncompressedKey(network.coinType, path))
  }

  return Object.freeze({
    parse(text: string) {
      const canonical = parseAddress(text)
      return canonical !== null && !refused.has(canonical.toLowerCase()) ? canonical : null
    },
    parseMemo: () => null,
    deposit: (index: number) => ({ address: addressAt({ branch: 'deposit', index }), memo: null }),
    precompute: (indexes: readonly number[]) => publicKeys.precompute?.(network.coinType, 'deposit', indexes),
    // Every create needs it: derived once.
    hot: () => (hot ??= addressAt(hotKey)),
    change: () => addressAt(hotKey),
    addressAt,
  })
}

/** The canonical form of a payable address: valid by EIP-55 and not reserved; else null. */
export function parseAddress(text: string): string | null {
  const canonical = readAddress(text)
  return canonical !== null && BigInt(canonical) > RESERVED_MAX ? canonical : null
}

/** Compressed secp256k1 public key → address. */
export function addressOfKey(compressed: Uint8Array): string {
  assert(compressed.length === 33, 'a compressed public key has 33 bytes')
  const uncompressed = ECDH.convertKey(Buffer.from(compressed), 'secp256k1', undefined, 'hex', 'uncompressed')
  return addressOfPoint(Buffer.from(String(uncompressed), 'hex'))
}
