import { ECDH } from 'node:crypto'
import { bytesToHex, checksumAddress, isHex } from 'viem'
import { publicKeyToAddress } from 'viem/accounts'
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
    return addressOfPoint(bytesToHex(publicKeys.plainKey(network.coinType, path)))
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
  const canonical = checksumAddress(`0x${lower}`)
  const isMixed = digits !== lower && digits !== digits.toUpperCase()
  if (isMixed && text !== canonical) return null
  return BigInt(`0x${lower}`) > RESERVED_MAX ? canonical : null
}

/** Compressed secp256k1 public key → address. */
export function addressOfKey(compressed: Uint8Array): string {
  assert(compressed.length === 33, 'a compressed public key has 33 bytes')
  const plain = ECDH.convertKey(bytesToHex(compressed).slice(2), 'secp256k1', 'hex', 'hex', 'uncompressed')
  return addressOfPoint(`0x${String(plain)}`)
}

/** The last 20 bytes of the Keccak hash of the plain point. */
function addressOfPoint(text: string): string {
  assert(isHex(text) && text.length === 132, 'an uncompressed public key has 65 bytes')
  return publicKeyToAddress(text)
}
