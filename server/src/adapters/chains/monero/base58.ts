const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const BLOCK_BYTES = 8
const BLOCK_CHARACTERS = 11
/** Characters of the last block, by its number of bytes. */
const CHARACTERS: readonly number[] = [0, 2, 3, 5, 6, 7, 9, 10, 11]

/** Monero's base58: blocks of 8 bytes become 11 characters, so the text length depends on the byte length only. */
export function encodeBase58(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    const block = bytes.subarray(at, at + BLOCK_BYTES)
    let value = BigInt(`0x${Buffer.from(block).toString('hex')}`)
    let part = ''
    for (let n = CHARACTERS[block.length] ?? 0; n > 0; n--) {
      part = `${ALPHABET[Number(value % 58n)] ?? ''}${part}`
      value /= 58n
    }
    text += part
  }
  return text
}

/** Null for text that is not the encoding of any bytes. */
export function decodeBase58(text: string): Uint8Array | null {
  const blocks: Buffer[] = []
  for (let at = 0; at < text.length; at += BLOCK_CHARACTERS) {
    const part = text.slice(at, at + BLOCK_CHARACTERS)
    const length = CHARACTERS.indexOf(part.length)
    if (length < 1) return null
    let value = 0n
    for (const character of part) {
      const digit = ALPHABET.indexOf(character)
      if (digit < 0) return null
      value = value * 58n + BigInt(digit)
    }
    if (value >= 1n << BigInt(8 * length)) return null
    blocks.push(Buffer.from(value.toString(16).padStart(2 * length, '0'), 'hex'))
  }
  return new Uint8Array(Buffer.concat(blocks))
}
