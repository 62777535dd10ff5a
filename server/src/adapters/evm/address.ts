import { ECDH } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Network } from '../../domain/network.ts'
import { assert } from '../../lib/assert.ts'
import type { Addresses } from '../../ports/chain.ts'
import type { PublicKeys } from '../../ports/signer.ts'
import type { KeyPath } from '../../ports/spend.ts'

/** Precompiles and system contracts live down here (0x01…0x11, 0x64… of Arbitrum, 0x1010 of Polygon, 0xdead). */
const RESERVED_MAX = 0xffffn
/** The placeholder by which aggregators name the coin: never a recipient. */
const COIN_PLACEHOLDER = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

export type EvmAddresses = Addresses & {
  /** The address of a path: what a spend comes from. */
  own(path: KeyPath): string
}

/** `tokens`: contracts of the catalogue on this network. Coins sent to a token's own contract are lost. */
export function createEvmAddresses(network: Network, publicKeys: PublicKeys, tokens: readonly string[]): EvmAddresses {
  const refused = new Set([COIN_PLACEHOLDER, ...tokens.map((token) => token.toLowerCase())])
  const hotKey: KeyPath = { branch: 'hot', index: network.hotIndex }
  let hot: string | null = null

  function own(path: KeyPath): string {
    assert(path.branch !== 'change', 'account families have no change addresses')
    return addressOfPoint(publicKeys.plainKey(network.coinType, path))
  }

  return Object.freeze({
    parse(text: string) {
      const canonical = parseAddress(text)
      return canonical !== null && !refused.has(canonical.toLowerCase()) ? canonical : null
    },
    parseMemo: () => null,
    deposit: (index: number) => ({ address: own({ branch: 'deposit', index }), memo: null }),
    expect: (indexes: readonly number[]) => publicKeys.expect?.(network.coinType, 'deposit', indexes),
    // Asked for by every create: derived once.
    hot: () => (hot ??= own(hotKey)),
    change: () => own(hotKey),
    own,
  })
}

/** EIP-55: one case throughout carries no checksum and is taken; mixed case must be the checksum. */
export function parseAddress(text: string): string | null {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return null
  const digits = text.slice(2)
  const lower = digits.toLowerCase()
  const canonical = withChecksum(lower)
  const isMixed = digits !== lower && digits !== digits.toUpperCase()
  if (isMixed && text !== canonical) return null
  return BigInt(`0x${lower}`) > RESERVED_MAX ? canonical : null
}

/** Compressed secp256k1 public key → address. */
export function addressOfKey(compressed: Uint8Array): string {
  assert(compressed.length === 33, 'a compressed public key has 33 bytes')
  const plain = ECDH.convertKey(Buffer.from(compressed), 'secp256k1', undefined, 'hex', 'uncompressed')
  return addressOfPoint(Buffer.from(String(plain), 'hex'))
}

/** The last 20 bytes of the Keccak hash of the plain point. */
function addressOfPoint(point: Uint8Array): string {
  assert(point.length === 65, 'an uncompressed public key has 65 bytes')
  const hashed = keccak_256(point.subarray(1))
  return withChecksum(Buffer.from(hashed.subarray(12)).toString('hex'))
}

/**
 * EIP-55: a letter is upper case where the digit of the hash of the text at its place is 8 or more. Every create asks for
 * two addresses, and viem's take twice as long (12 and 26 µs of the 270 of a create); a test holds these to them.
 *
 * @param digits forty, in lower case
 */
function withChecksum(digits: string): string {
  const hashed = Buffer.from(keccak_256(Buffer.from(digits, 'latin1'))).toString('hex')
  let text = '0x'
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charAt(at)
    text += hashed.charAt(at) >= '8' ? digit.toUpperCase() : digit
  }
  return text
}
