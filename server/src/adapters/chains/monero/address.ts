import type { Addresses } from '../../../exchange/ports/chain.ts'
import type { KeyPath } from '../../../exchange/ports/spend.ts'
import { decodeBase58, encodeBase58 } from './base58.ts'
import { isPrime, keccak, readPoint } from './ed25519.ts'
import { type WalletKeys, type Point, publicKeysAt, subaddressOf } from './keys.ts'

/** Prefixes of mainnet, which a regtest daemon uses as well (cryptonote_config.h). */
const PREFIX = { standard: 18, integrated: 19, subaddress: 42 } as const
const CHECKSUM_BYTES = 4
const PAYMENT_ID_BYTES = 8
const KEYS_BYTES = 64
/** Of an integrated address. */
const LENGTH_MAX = 106

export type Address = Readonly<{
  kind: keyof typeof PREFIX
  spend: Point
  view: Point
  /** Of an integrated address. */
  paymentId: Uint8Array | null
}>

export function createAddresses(keys: WalletKeys): Addresses {
  const at = (path: KeyPath) => {
    const own = subaddressOf(path)
    const { spend, view } = publicKeysAt(keys, own)
    return writeAddress(path.branch === 'hot' ? 'standard' : 'subaddress', spend.toBytes(), view.toBytes())
  }
  const hot = at({ branch: 'hot', index: 0 })
  return {
    // A text has one reading, and an address one text.
    parse: (text) => (readAddress(text) === null ? null : text),
    parseMemo: () => null,
    deposit: (index) => ({ address: at({ branch: 'deposit', index }), memo: null }),
    hot: () => hot,
    change: (index) => at({ branch: 'change', index }),
  }
}

export function writeAddress(kind: 'standard' | 'subaddress', spend: Uint8Array, view: Uint8Array): string {
  const bytes = Uint8Array.of(PREFIX[kind], ...spend, ...view)
  return encodeBase58(Uint8Array.of(...bytes, ...keccak(bytes).subarray(0, CHECKSUM_BYTES)))
}

/** Refused beside what is misspelt: keys off the curve, neutral, or with a part of small order, which nobody has. */
export function readAddress(text: string): Address | null {
  if (text.length > LENGTH_MAX) return null
  const bytes = decodeBase58(text)
  const kind = (['standard', 'integrated', 'subaddress'] as const).find((one) => PREFIX[one] === bytes?.[0])
  if (bytes === null || kind === undefined) return null
  const idBytes = kind === 'integrated' ? PAYMENT_ID_BYTES : 0
  if (bytes.length !== 1 + KEYS_BYTES + idBytes + CHECKSUM_BYTES) return null
  const body = bytes.subarray(0, -CHECKSUM_BYTES)
  if (!Buffer.from(keccak(body).subarray(0, CHECKSUM_BYTES)).equals(bytes.subarray(-CHECKSUM_BYTES))) return null
  const [spend, view] = [readPoint(body.subarray(1, 33)), readPoint(body.subarray(33, 65))]
  if (spend === null || view === null || !isPrime(spend) || !isPrime(view)) return null
  return { kind, spend, view, paymentId: idBytes === 0 ? null : body.subarray(65) }
}
