import type { TransferFeeConfig } from './transfer-fee.ts'

/* Mints of Token-2022: 82 bytes, padding to the size of a token account, the type, then extensions as type, length and value. */

const ACCOUNT_BYTES = 165
const MINT_TYPE = 1

/** Extension types of the program, by name. */
const TYPE = {
  transferFeeConfig: 1,
  defaultAccountState: 6,
  nonTransferable: 9,
  permanentDelegate: 12,
  transferHook: 14,
  metadata: 19,
  pausable: 26,
} as const

export function readExtensions(data: Uint8Array): ReadonlyMap<number, Buffer> {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const extensions = new Map<number, Buffer>()
  if (bytes.length <= ACCOUNT_BYTES || bytes[ACCOUNT_BYTES] !== MINT_TYPE) return extensions
  for (let at = ACCOUNT_BYTES + 1; at + 4 <= bytes.length; ) {
    const [type, length] = [bytes.readUInt16LE(at), bytes.readUInt16LE(at + 2)]
    if (type === 0) break
    extensions.set(type, bytes.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return extensions
}

/** The fee of an epoch. Two fees are stored: the newer one applies from its epoch on. Null without the extension. */
export function readTransferFeeConfig(data: Uint8Array, epoch: bigint): TransferFeeConfig | null {
  const value = readExtensions(data).get(TYPE.transferFeeConfig)
  if (value === undefined || value.length < 108) return null
  // Two authorities of 32 bytes and the withheld amount, then two fees of 18 bytes: epoch, maximum, basis points.
  const feeAt = (offset: number) => ({
    epoch: value.readBigUInt64LE(offset),
    maximumFee: value.readBigUInt64LE(offset + 8),
    basisPoints: BigInt(value.readUInt16LE(offset + 16)),
  })
  const [older, newer] = [feeAt(72), feeAt(90)]
  const { basisPoints, maximumFee } = epoch >= newer.epoch ? newer : older
  return { basisPoints, maximumFee }
}

const FROZEN = 2
const ALL_ZERO = Buffer.alloc(32)

/** Why a mint cannot be traded, whatever its pools say; null if it can. */
export function findMintRefusal(data: Uint8Array): string | null {
  const extensions = readExtensions(data)
  const hook = extensions.get(TYPE.transferHook)
  if (hook !== undefined && !hook.subarray(32, 64).equals(ALL_ZERO)) return 'calls a program at each transfer'
  const delegate = extensions.get(TYPE.permanentDelegate)
  if (delegate !== undefined && !delegate.subarray(0, 32).equals(ALL_ZERO))
    return 'lets a permanent delegate move the balances of all accounts'
  if (extensions.get(TYPE.defaultAccountState)?.[0] === FROZEN) return 'freezes new accounts'
  if (extensions.has(TYPE.nonTransferable)) return 'cannot be transferred'
  if (extensions.has(TYPE.pausable)) return 'lets its authority pause all transfers'
  return null
}

export type MintMetadata = Readonly<{ name: string; symbol: string }>

/** The metadata that the mint itself holds: authority, mint, then name, symbol and URI as texts with a length of 32 bits. */
export function readMintMetadata(data: Uint8Array): MintMetadata | null {
  const value = readExtensions(data).get(TYPE.metadata)
  return value === undefined ? null : readTexts(value, 64)
}

/** A metadata account of Metaplex: key, update authority, mint, then the same texts, padded with zero bytes. */
export const readMetaplexMetadata = (data: Uint8Array): MintMetadata | null =>
  data[0] === 4 ? readTexts(Buffer.from(data.buffer, data.byteOffset, data.byteLength), 65) : null

function readTexts(bytes: Buffer, offset: number): MintMetadata | null {
  const texts: string[] = []
  for (let at = offset; texts.length < 2; ) {
    if (at + 4 > bytes.length) return null
    const length = bytes.readUInt32LE(at)
    if (at + 4 + length > bytes.length) return null
    texts.push(
      bytes
        .toString('utf8', at + 4, at + 4 + length)
        .replaceAll('\0', '')
        .trim(),
    )
    at += 4 + length
  }
  const [name = '', symbol = ''] = texts
  return { name, symbol }
}
