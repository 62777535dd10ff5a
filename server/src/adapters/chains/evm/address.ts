import { ECDH } from 'node:crypto'
import type { Network } from '../../../core/domain/network.ts'
import type { Addresses } from '../../../exchange/ports/chain.ts'
import type { PublicKeys } from '../../../exchange/ports/signer.ts'
import type { KeyPath } from '../../../exchange/ports/spend.ts'
import { assert } from '../../../lib/assert.ts'
import { addressOfPoint, readAddress } from '../shared/account-address.ts'

/** Precompiles and system contracts live down here (0x01…0x11, 0x64… of Arbitrum, 0x1010 of Polygon, 0xdead): no recipients. */
const RESERVED_MAX = 0xffffn
/** The placeholder by which aggregators name the coin: never a recipient. */
const NATIVE_PLACEHOLDER = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

export type EvmAddresses = Addresses & {
  /** The address of a path: what a spend comes from. */
  addressAt(path: KeyPath): string
}

/** `tokens`: contracts of the catalogue on this network. Coins sent to a token's own contract are lost. */
export function createEvmAddresses(network: Network, publicKeys: PublicKeys, tokens: readonly string[]): EvmAddresses {
  const refused = new Set([NATIVE_PLACEHOLDER, ...tokens.map((token) => token.toLowerCase())])
  const hotKey: KeyPath = { branch: 'hot', index: network.hotIndex }
  let hot: string | null = null

  function own(path: KeyPath): string {
    assert(path.branch !== 'change', 'account families have no change addresses')
    return addressOfPoint(publicKeys.uncompressedKey(network.coinType, path))
  }

  return Object.freeze({
    parse(text: string) {
      const canonical = parseAddress(text)
      return canonical !== null && !refused.has(canonical.toLowerCase()) ? canonical : null
    },
    parseMemo: () => null,
    deposit: (index: number) => ({ address: own({ branch: 'deposit', index }), memo: null }),
    precompute: (indexes: readonly number[]) => publicKeys.precompute?.(network.coinType, 'deposit', indexes),
    // Asked for by every create: derived once.
    hot: () => (hot ??= own(hotKey)),
    change: () => own(hotKey),
    own,
  })
}

/** Of whoever may be paid: by EIP-55, and above what is reserved. */
export function parseAddress(text: string): string | null {
  const canonical = readAddress(text)
  return canonical !== null && BigInt(canonical) > RESERVED_MAX ? canonical : null
}

/** Compressed secp256k1 public key → address. */
export function addressOfKey(compressed: Uint8Array): string {
  assert(compressed.length === 33, 'a compressed public key has 33 bytes')
  const plain = ECDH.convertKey(Buffer.from(compressed), 'secp256k1', undefined, 'hex', 'uncompressed')
  return addressOfPoint(Buffer.from(String(plain), 'hex'))
}
