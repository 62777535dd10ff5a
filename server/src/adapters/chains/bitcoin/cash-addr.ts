import { bech32 } from '@scure/base'

/**
 * CashAddr, the address form of Bitcoin Cash: https://reference.cash/protocol/blockchain/encoding/cashaddr
 * Supports 20-byte hashes only, without token-aware types and P2SH32.
 */
export type CashAddr = Readonly<{ type: 'pkh' | 'sh'; hash: Uint8Array }>

const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const HASH_BYTES = 20
const CHECKSUM_WORDS = 8
/** Version byte: type in the upper bits, size 0 (160 bits) in the lower three bits. */
const VERSION = { pkh: 0x00, sh: 0x08 } as const

export function encodeCashAddr(prefix: string, address: CashAddr): string {
  const words = bech32.toWords(Uint8Array.of(VERSION[address.type], ...address.hash))
  const checksum = polymod([...prefixWords(prefix), ...words, ...new Array<number>(CHECKSUM_WORDS).fill(0)])
  const tail = Array.from({ length: CHECKSUM_WORDS }, (_, index) => {
    return Number((checksum >> BigInt(5 * (CHECKSUM_WORDS - 1 - index))) & 31n)
  })
  return `${prefix}:${[...words, ...tail].map((word) => ALPHABET[word]).join('')}`
}

/** The hash of an address with or without its prefix, in a single case; null for anything else. */
export function decodeCashAddr(prefix: string, text: string): CashAddr | null {
  const lower = text.toLowerCase()
  if (text !== lower && text !== text.toUpperCase()) return null
  const payload = lower.startsWith(`${prefix}:`) ? lower.slice(prefix.length + 1) : lower
  if (payload.length !== Math.ceil(((1 + HASH_BYTES) * 8) / 5) + CHECKSUM_WORDS) return null
  const words = Array.from(payload, (letter) => ALPHABET.indexOf(letter))
  if (words.includes(-1)) return null
  if (polymod([...prefixWords(prefix), ...words]) !== 0n) return null
  const bytes = bech32.fromWordsUnsafe(words.slice(0, -CHECKSUM_WORDS))
  if (!bytes || bytes.length !== 1 + HASH_BYTES) return null
  const hash = bytes.slice(1)
  if (bytes[0] === VERSION.pkh) return { type: 'pkh', hash }
  return bytes[0] === VERSION.sh ? { type: 'sh', hash } : null
}

function prefixWords(prefix: string): number[] {
  return [...Array.from(prefix, (letter) => letter.charCodeAt(0) & 31), 0]
}

const GENERATORS = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n]

/** The specification's 40-bit BCH code over GF(2^5). */
function polymod(words: readonly number[]): bigint {
  let code = 1n
  for (const word of words) {
    const top = code >> 35n
    code = ((code & 0x07ffffffffn) << 5n) ^ BigInt(word)
    GENERATORS.forEach((generator, bit) => {
      if ((top >> BigInt(bit)) & 1n) code ^= generator
    })
  }
  return code ^ 1n
}
