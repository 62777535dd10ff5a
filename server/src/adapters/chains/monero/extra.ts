import { createByteReader, readItems, UnreadableError } from './byte-reader.ts'

/** Public keys of a transaction; `outputKeys`: additional keys, one per output. */
export type ExtraKeys = Readonly<{ publicKeys: readonly Uint8Array[]; outputKeys: readonly Uint8Array[] }>

/** Fields (tx_extra.h). Zeros pad the rest of the extra field, so no key follows them. */
const TAG = { publicKey: 0x01, nonce: 0x02, mergeMining: 0x03, outputKeys: 0x04, minergate: 0xde } as const
/** TX_EXTRA_NONCE_MAX_COUNT. */
const NONCE_MAX = 255

/**
 * The public keys of the extra field that Monero's wallets use: of the fields before the first unreadable one, all public keys
 * and the first list of additional keys, which counts only beside a public key (cryptonote_format_utils.cpp: parse_tx_extra;
 * wallet2.cpp: process_new_transaction). Anyone can write this field, and an output whose key only we read could not be
 * spent by the wallet program.
 */
export function readExtra(extra: Uint8Array): ExtraKeys {
  const publicKeys: Uint8Array[] = []
  const outputKeys: (readonly Uint8Array[])[] = []
  try {
    readFields(extra, publicKeys, outputKeys)
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
  }
  return { publicKeys, outputKeys: (publicKeys.length > 0 && outputKeys[0]) || [] }
}

function readFields(extra: Uint8Array, publicKeys: Uint8Array[], outputKeys: (readonly Uint8Array[])[]): void {
  const reader = createByteReader(extra)
  while (!reader.isAtEnd()) {
    const tag = reader.take(1)[0]
    if (tag === TAG.publicKey) publicKeys.push(reader.take(32))
    else if (tag === TAG.outputKeys) outputKeys.push(readItems(reader.number(), () => reader.take(32)))
    else if (tag === TAG.nonce) checkNonce(reader.take(reader.number()))
    else if (tag === TAG.mergeMining) checkMergeMining(reader.take(reader.number()))
    else if (tag === TAG.minergate) reader.take(reader.number())
    else return
  }
}

function checkNonce(nonce: Uint8Array): void {
  if (nonce.length > NONCE_MAX) throw new UnreadableError('a nonce is too long')
}

/** The depth and the root of a Merkle tree, and nothing else. */
function checkMergeMining(field: Uint8Array): void {
  const reader = createByteReader(field)
  reader.varint()
  reader.take(32)
  if (!reader.isAtEnd()) throw new UnreadableError('a merge-mining field is too long')
}
