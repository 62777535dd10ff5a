import { type Address, getBase58Decoder, getBase58Encoder, isAddress } from '@solana/kit'
import type { Bank, Block, Commitment } from './bank.ts'
import { invalidParams, SolanaRpcError } from './rpc-error.ts'
import { decodeWireTransaction, transactionBytesMax, type WireTransaction } from './wire-transaction.ts'

export type Options = Readonly<Record<string, unknown>>

export function readOptions(value: unknown): Options {
  if (value === undefined || value === null) return {}
  if (typeof value === 'object' && !Array.isArray(value)) return value as Options
  throw invalidParams(`Invalid params: invalid type: ${typeName(value)}, expected a map.`)
}

function typeName(value: unknown): string {
  if (typeof value === 'string') return `string ${JSON.stringify(value)}`
  if (typeof value === 'boolean') return `boolean \`${value}\``
  if (typeof value === 'number') return `${Number.isInteger(value) ? 'integer' : 'floating point'} \`${value}\``
  return Array.isArray(value) ? 'sequence' : value === null ? 'null' : 'map'
}

export function readText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined) throw invalidParams('`params` should have at least 1 argument(s)')
  throw invalidParams(`Invalid params: invalid type: ${typeName(value)}, expected a string.`)
}

export function readInteger(value: unknown, name: string): number {
  if (value === undefined) throw invalidParams('`params` should have at least 1 argument(s)')
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  if (typeof value === 'number' && Number.isInteger(value))
    throw invalidParams(`Invalid params: invalid value: integer \`${value}\`, expected ${name}.`)
  throw invalidParams(`Invalid params: invalid type: ${typeName(value)}, expected ${name}.`)
}

export function readAddress(value: unknown): Address {
  const text = readText(value)
  if (isAddress(text)) return text
  throw invalidParams(/^[1-9A-HJ-NP-Za-km-z]*$/.test(text) ? 'Invalid param: WrongSize' : 'Invalid param: Invalid')
}

/** A signature is 64 bytes in base58. */
export function readSignature(value: unknown): string {
  const text = readText(value)
  try {
    if (text.length <= 88 && getBase58Encoder().encode(text).length === 64) return text
  } catch {
    throw invalidParams('Invalid param: Invalid')
  }
  throw invalidParams('Invalid param: WrongSize')
}

export function readBlockhash(value: unknown): string {
  return readAddress(value)
}

export function readCommitment(value: unknown, byDefault: Commitment = 'finalized'): Commitment {
  if (value === undefined || value === null) return byDefault
  if (value === 'processed' || value === 'confirmed' || value === 'finalized') return value
  if (typeof value === 'string')
    throw invalidParams(
      `Invalid params: unknown variant \`${value.slice(0, 60)}\`, expected one of \`processed\`, \`confirmed\`, \`finalized\`.`,
    )
  throw invalidParams(`Invalid params: invalid type: ${typeName(value)}, expected string or map.`)
}

/** The block whose state the call reads. */
export function readBlock(bank: Bank, options: Options): Block {
  const block = bank.blockAt(readCommitment(options['commitment']))
  requireContextSlot(block, options)
  return block
}

export function requireContextSlot(block: Block, options: Options): void {
  const minimum = options['minContextSlot']
  if (minimum === undefined || minimum === null) return
  if (block.slot < readInteger(minimum, 'u64'))
    throw new SolanaRpcError(-32016, 'Minimum context slot has not been reached', { contextSlot: block.slot })
}

export function readBytes(text: string, encoding: 'base58' | 'base64', bytesMax: number): Uint8Array {
  const encodedMax = encoding === 'base64' ? 4 * Math.ceil(bytesMax / 3) : Math.ceil(bytesMax * 1.3658) + 1
  const name = encoding === 'base64' ? 'base64' : 'base58'
  if (text.length > encodedMax)
    throw invalidParams(
      `${name} encoded solana_transaction::versioned::VersionedTransaction too large: ${text.length} bytes (max: encoded/raw ${encodedMax}/${bytesMax})`,
    )
  if (encoding === 'base58') {
    try {
      return new Uint8Array(getBase58Encoder().encode(text))
    } catch {
      throw invalidParams(`invalid base58 encoding: InvalidChar`)
    }
  }
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw invalidParams('invalid base64 encoding: InvalidPadding')
  return new Uint8Array(bytes)
}

function readEncoding(options: Options): 'base58' | 'base64' {
  const encoding = options['encoding'] ?? 'base58'
  if (encoding === 'base58' || encoding === 'base64') return encoding
  throw invalidParams(`unsupported encoding: ${String(encoding).slice(0, 40)}. Supported encodings: base58, base64`)
}

export function readTransaction(value: unknown, options: Options): WireTransaction {
  const bytes = readBytes(readText(value), readEncoding(options), transactionBytesMax)
  if (bytes.length > transactionBytesMax)
    throw invalidParams(
      `decoded solana_transaction::versioned::VersionedTransaction too large: ${bytes.length} bytes (max: ${transactionBytesMax} bytes)`,
    )
  try {
    return decodeWireTransaction(bytes)
  } catch {
    throw invalidParams(
      'failed to deserialize solana_transaction::versioned::VersionedTransaction: io error: failed to fill whole buffer',
    )
  }
}

type DataSlice = Readonly<{ offset: number; length: number }>
export type AccountEncoding = 'base58' | 'base64' | 'jsonParsed'

export function readAccountEncoding(options: Options): AccountEncoding {
  const encoding = options['encoding'] ?? 'base58'
  if (encoding === 'base58' || encoding === 'base64' || encoding === 'jsonParsed') return encoding
  if (encoding === 'base64+zstd') throw invalidParams('Encoding base64+zstd is not served by the sandbox.')
  throw invalidParams(
    `Invalid params: unknown variant \`${String(encoding).slice(0, 40)}\`, expected one of \`binary\`, \`base58\`, \`base64\`, \`jsonParsed\`, \`base64+zstd\`.`,
  )
}

export function readSlice(options: Options): DataSlice | null {
  if (options['dataSlice'] === undefined || options['dataSlice'] === null) return null
  const slice = readOptions(options['dataSlice'])
  return { offset: readInteger(slice['offset'], 'usize'), length: readInteger(slice['length'], 'usize') }
}

export const toBase58 = (bytes: Uint8Array): string => getBase58Decoder().decode(bytes)
