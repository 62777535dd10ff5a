import { keccak_256 } from '@noble/hashes/sha3.js'
import { assert } from '../../../lib/assert.ts'

/**
 * The canonical form of an address of Ethereum's account model, or null. EIP-55: one case throughout carries no checksum
 * and is taken; mixed case must be the checksum.
 */
export function readAddress(text: string): string | null {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return null
  const digits = text.slice(2)
  const lower = digits.toLowerCase()
  const canonical = withChecksum(lower)
  const isMixed = digits !== lower && digits !== digits.toUpperCase()
  return isMixed && text !== canonical ? null : canonical
}

/** Last 20 bytes of the Keccak hash of the plain point (Yellow Paper, appendix F). */
export function addressOfPoint(point: Uint8Array): string {
  assert(point.length === 65 && point[0] === 4, 'an uncompressed public key has 65 bytes')
  return withChecksum(Buffer.from(keccak_256(point.subarray(1)).subarray(12)).toString('hex'))
}

/**
 * EIP-55: a letter is upper case where the digit of the hash of the text at its place is 8 or more. Every create asks for
 * two addresses, and viem's take twice as long (12 and 26 µs of the 270 of a create); tests of the EVM family hold these to
 * them.
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
