import { createPublicKey, verify } from 'node:crypto'
import { base58 } from '@scure/base'

/* Transactions of version 0 and the older form, as bytes: signatures, then the message that they sign. */

/** PACKET_DATA_SIZE of the validator. */
export const TRANSACTION_BYTES_MAX = 1_232

export type AccountMeta = Readonly<{ address: string; isSigner: boolean; isWritable: boolean }>
export type Instruction = Readonly<{ program: string; accounts: readonly AccountMeta[]; data: Uint8Array }>

const SIGNATURE_BYTES = 64
const KEY_BYTES = 32
const VERSION_0 = 0x80

/** Lengths have seven bits in each byte, the lowest first. */
function encodeLength(length: number): Buffer {
  return length < 128 ? Buffer.from([length]) : Buffer.from([(length & 127) | 128, length >> 7])
}

/** The unsigned transaction of one signer, who pays its fee. */
export function encodeUnsigned(payer: string, blockhash: string, instructions: readonly Instruction[]): Buffer {
  const metas = new Map<string, AccountMeta>([[payer, { address: payer, isSigner: true, isWritable: true }]])
  const add = (meta: AccountMeta) => {
    const before = metas.get(meta.address)
    metas.set(meta.address, {
      address: meta.address,
      isSigner: meta.isSigner || before?.isSigner === true,
      isWritable: meta.isWritable || before?.isWritable === true,
    })
  }
  for (const { program, accounts } of instructions) {
    for (const meta of accounts) add(meta)
    add({ address: program, isSigner: false, isWritable: false })
  }
  const rankOf = ({ isSigner, isWritable }: AccountMeta) => (isSigner ? 0 : 2) + (isWritable ? 0 : 1)
  // The payer is first: it is writable, signs, and was added first. Sorting is stable.
  const sorted = [...metas.values()].sort((a, b) => rankOf(a) - rankOf(b))
  const indexes = new Map(sorted.map(({ address }, index) => [address, index]))
  const signers = sorted.filter(({ isSigner }) => isSigner)
  const count = (some: readonly AccountMeta[]) => some.filter(({ isWritable }) => !isWritable).length
  const header = [signers.length, count(signers), count(sorted.slice(signers.length))]
  const encoded = instructions.map(({ program, accounts, data }) =>
    Buffer.concat([
      Buffer.from([indexes.get(program) ?? 0]),
      encodeLength(accounts.length),
      Buffer.from(accounts.map(({ address }) => indexes.get(address) ?? 0)),
      encodeLength(data.length),
      data,
    ]),
  )
  return Buffer.concat([
    encodeLength(signers.length),
    Buffer.alloc(SIGNATURE_BYTES * signers.length),
    Buffer.from([VERSION_0, ...header]),
    encodeLength(sorted.length),
    ...sorted.map(({ address }) => base58.decode(address)),
    base58.decode(blockhash),
    encodeLength(instructions.length),
    ...encoded,
    encodeLength(0),
  ])
}

export type DecodedTransaction = Readonly<{
  /** The first signature names the transaction. */
  hash: string
  signers: readonly string[]
  /** The accounts that its bytes name. */
  keys: readonly string[]
  blockhash: string
  instructions: readonly Instruction[]
  /** Whether some of its accounts are in lookup tables, so that its bytes alone do not name them. */
  usesLookupTables: boolean
  hasValidSignatures: boolean
}>

/** Throws on bytes that are not one whole transaction. */
export function decodeTransaction(bytes: Buffer): DecodedTransaction {
  let at = 0
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error('the transaction is cut off')
    at += length
    return bytes.subarray(at - length, at)
  }
  const byte = (): number => take(1)[0] as number
  const length = (): number => {
    const first = byte()
    if (first < 128) return first
    const second = byte()
    if (second === 0 || second > 127) throw new Error('a length has no canonical form')
    return (first & 127) | (second << 7)
  }
  const listOf = <T>(item: () => T): T[] => Array.from({ length: length() }, item)
  const signatures = listOf(() => take(SIGNATURE_BYTES))
  const message = bytes.subarray(at)
  const isVersioned = (message[0] ?? 0) >= VERSION_0
  if (isVersioned && byte() !== VERSION_0) throw new Error('the version is not 0')
  const [signed, readonlySigned, readonlyUnsigned] = [byte(), byte(), byte()] as const
  const keys = listOf(() => base58.encode(take(KEY_BYTES)))
  const blockhash = base58.encode(take(KEY_BYTES))
  const metaAt = (index: number): AccountMeta => ({
    address: keys[index] ?? '',
    isSigner: index < signed,
    isWritable: index < signed ? index < signed - readonlySigned : index < keys.length - readonlyUnsigned,
  })
  const compiled = listOf(() => ({
    program: keys[byte()] ?? '',
    accounts: [...take(length())].map(metaAt),
    data: new Uint8Array(take(length())),
  }))
  let lookups = 0
  if (isVersioned) {
    lookups = length()
    for (let n = 0; n < lookups; n++) {
      take(KEY_BYTES)
      take(length())
      take(length())
    }
  }
  const [first] = signatures
  if (at !== bytes.length || first === undefined || signatures.length !== signed || keys.length < signed)
    throw new Error('the bytes are not one transaction')
  const signers = keys.slice(0, signed)
  return {
    hash: base58.encode(first),
    signers,
    keys,
    blockhash,
    instructions: compiled,
    usesLookupTables: lookups > 0,
    hasValidSignatures: signers.every((key, index) => isSignedBy(message, key, signatures[index] as Buffer)),
  }
}

function isSignedBy(message: Buffer, address: string, signature: Buffer): boolean {
  const x = Buffer.from(base58.decode(address)).toString('base64url')
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    return verify(null, message, key, signature)
  } catch {
    // Not a key.
    return false
  }
}
