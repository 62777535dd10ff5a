import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Network } from '../../domain/network.ts'
import { assert } from '../../lib/assert.ts'
import type { Addresses } from '../../ports/chain.ts'
import type { PublicKeys } from '../../ports/signer.ts'
import type { KeyPath } from '../../ports/spend.ts'

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
    parse: parseAddress,
    parseMemo: () => null,
    deposit: (index: number) => ({ address: own({ branch: 'deposit', index }), memo: null }),
    hot: () => own(hotKey),
    change: () => own(hotKey),
    own,
  })
}

/** EIP-55: one case throughout carries no checksum and is taken; mixed case must be the checksum. */
export function parseAddress(text: string): string | null {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return null
  const digits = text.slice(2)
  const lower = digits.toLowerCase()
  const canonical = checksummed(lower)
  const isMixed = digits !== lower && digits !== digits.toUpperCase()
  return isMixed && text !== canonical ? null : canonical
}

/** Last 20 bytes of the Keccak hash of the plain point (Yellow Paper, appendix F). */
export function addressOfPoint(point: Uint8Array): string {
  assert(point.length === 65 && point[0] === 4, 'an uncompressed public key has 65 bytes')
  return checksummed(Buffer.from(keccak_256(point.subarray(1)).subarray(12)).toString('hex'))
}

function checksummed(lower: string): string {
  const hash = Buffer.from(keccak_256(Buffer.from(lower, 'ascii'))).toString('hex')
  let text = '0x'
  for (let at = 0; at < lower.length; at++) {
    const digit = lower.charAt(at)
    text += hash.charAt(at) >= '8' ? digit.toUpperCase() : digit
  }
  return text
}
