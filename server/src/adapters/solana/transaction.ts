import { createPublicKey, verify } from 'node:crypto'
import { base58 } from '@scure/base'

/* Transactions of version 0 and the older form, as bytes: signatures, then the message that they sign. */

/** PACKET_DATA_SIZE of the validator. */
export const TRANSACTION_BYTES_MAX = 1_232
/** MAX_TX_ACCOUNT_LOCKS of the validator: accounts of a transaction, also those of its lookups. */
export const TRANSACTION_ACCOUNTS_MAX = 64

export type AccountMeta = Readonly<{ address: string; isSigner: boolean; isWritable: boolean }>
export type Instruction = Readonly<{ program: string; accounts: readonly AccountMeta[]; data: Uint8Array }>

const SIGNATURE_BYTES = 64
const KEY_BYTES = 32
const VERSION_0 = 0x80

/** Lengths have seven bits in each byte, the lowest first. */
function encodeLength(length: number): Buffer {
  return length < 128 ? Buffer.from([length]) : Buffer.from([(length & 127) | 128, length >> 7])
}

/** Accounts that a transaction names by their places in a lookup table. */
export type Lookup = Readonly<{ table: string; writable: readonly number[]; readonly: readonly number[] }>
export type LookupTable = Readonly<{ address: string; addresses: readonly string[] }>
/** The accounts of all lookups, in the order of the transaction. */
export type LoadedAddresses = Readonly<Record<'writable' | 'readonly', readonly string[]>>

const noTables: readonly LookupTable[] = []

/** The unsigned transaction of one signer, who pays its fee. Accounts of `tables` are named by their places. */
export function encodeUnsigned(
  payer: string,
  blockhash: string,
  instructions: readonly Instruction[],
  tables = noTables,
): Buffer {
  const all = collectMetas(payer, instructions)
  const programs = new Set(instructions.map(({ program }) => program))
  const found = findLookups(
    [...all.values()].filter((meta) => !meta.isSigner && !programs.has(meta.address)),
    tables,
  )
  const loaded = new Set([...found.writable, ...found.readonly])
  const rankOf = ({ isSigner, isWritable }: AccountMeta) => (isSigner ? 0 : 2) + (isWritable ? 0 : 1)
  // The payer is first: it is writable, signs, and was added first. Sorting is stable.
  const sorted = [...all.values()].filter(({ address }) => !loaded.has(address)).sort((a, b) => rankOf(a) - rankOf(b))
  const keys = [...sorted.map(({ address }) => address), ...loaded]
  const indexes = new Map(keys.map((address, index) => [address, index]))
  const signers = sorted.filter(({ isSigner }) => isSigner)
  const count = (some: readonly AccountMeta[]) => some.filter(({ isWritable }) => !isWritable).length
  const header = [signers.length, count(signers), count(sorted.slice(signers.length))]
  return Buffer.concat([
    encodeLength(signers.length),
    Buffer.alloc(SIGNATURE_BYTES * signers.length),
    Buffer.from([VERSION_0, ...header]),
    encodeLength(sorted.length),
    ...sorted.map(({ address }) => base58.decode(address)),
    base58.decode(blockhash),
    encodeLength(instructions.length),
    ...instructions.map((one) => encodeInstruction(one, indexes)),
    encodeLength(found.lookups.length),
    ...found.lookups.map(encodeLookup),
  ])
}

/** The accounts that a transaction of this payer names. */
export const countAccounts = (payer: string, instructions: readonly Instruction[]): number =>
  collectMetas(payer, instructions).size

/** Every account with the most that an instruction needs of it. */
function collectMetas(payer: string, instructions: readonly Instruction[]): ReadonlyMap<string, AccountMeta> {
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
  return metas
}

/** A lookup costs more bytes than one address. */
const LOOKUP_MIN = 2

function findLookups(metas: readonly AccountMeta[], tables: readonly LookupTable[]) {
  const open = new Map(metas.map((meta) => [meta.address, meta.isWritable]))
  const lookups: Lookup[] = []
  const loaded: Record<'writable' | 'readonly', string[]> = { writable: [], readonly: [] }
  for (const { address: table, addresses } of tables) {
    const places = new Map(addresses.map((address, place) => [address, place]))
    const inTable = [...open.keys()].filter((address) => places.has(address))
    if (inTable.length < LOOKUP_MIN) continue
    const writable = inTable.filter((address) => open.get(address) === true)
    const readonly = inTable.filter((address) => open.get(address) === false)
    const placesOf = (some: readonly string[]) => some.map((address) => places.get(address) ?? 0)
    lookups.push({ table, writable: placesOf(writable), readonly: placesOf(readonly) })
    loaded.writable.push(...writable)
    loaded.readonly.push(...readonly)
    for (const address of inTable) open.delete(address)
  }
  return { lookups, ...loaded }
}

const encodeInstruction = ({ program, accounts, data }: Instruction, indexes: ReadonlyMap<string, number>): Buffer =>
  Buffer.concat([
    Buffer.from([indexes.get(program) ?? 0]),
    encodeLength(accounts.length),
    Buffer.from(accounts.map(({ address }) => indexes.get(address) ?? 0)),
    encodeLength(data.length),
    data,
  ])

const encodeLookup = ({ table, writable, readonly }: Lookup): Buffer =>
  Buffer.concat([
    base58.decode(table),
    ...[writable, readonly].map((places) => Buffer.concat([encodeLength(places.length), Buffer.from(places)])),
  ])

export type DecodedTransaction = Readonly<{
  /** The first signature names the transaction. */
  hash: string
  signers: readonly string[]
  /** The accounts that its bytes name, and those of its lookups if they are loaded. */
  keys: readonly string[]
  blockhash: string
  instructions: readonly Instruction[]
  lookups: readonly Lookup[]
  hasValidSignatures: boolean
}>

/** Reads bytes from the first to the last. Throws where they end too early. */
function createCursor(bytes: Buffer) {
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
  return {
    ...{ take, byte, length },
    rest: () => bytes.subarray(at),
    key: () => base58.encode(take(KEY_BYTES)),
    listOf: <T>(item: () => T): T[] => Array.from({ length: length() }, item),
  }
}

const nothingLoaded: LoadedAddresses = { writable: [], readonly: [] }

/** Throws on bytes that are not one whole transaction. `loaded`: the accounts of its lookups. */
export function decodeTransaction(bytes: Buffer, loaded = nothingLoaded): DecodedTransaction {
  const { take, byte, length, rest, key, listOf } = createCursor(bytes)
  const signatures = listOf(() => take(SIGNATURE_BYTES))
  const message = rest()
  const isVersioned = (message[0] ?? 0) >= VERSION_0
  if (isVersioned && byte() !== VERSION_0) throw new Error('the version is not 0')
  const [signed, readonlySigned, readonlyUnsigned] = [byte(), byte(), byte()] as const
  const own = listOf(key)
  const keys = [...own, ...loaded.writable, ...loaded.readonly]
  const blockhash = key()
  const isWritable = (index: number): boolean =>
    index < signed
      ? index < signed - readonlySigned
      : index < own.length - readonlyUnsigned || (index >= own.length && index < own.length + loaded.writable.length)
  const metaAt = (index: number): AccountMeta => ({
    address: keys[index] ?? '',
    isSigner: index < signed,
    isWritable: isWritable(index),
  })
  const instructions = listOf(() => ({
    program: keys[byte()] ?? '',
    accounts: [...take(length())].map(metaAt),
    data: new Uint8Array(take(length())),
  }))
  const places = () => [...take(length())]
  const lookups = isVersioned ? listOf(() => ({ table: key(), writable: places(), readonly: places() })) : []
  const [first] = signatures
  if (rest().length > 0 || first === undefined || signatures.length !== signed || own.length < signed)
    throw new Error('the bytes are not one transaction')
  const signers = own.slice(0, signed)
  return {
    ...{ hash: base58.encode(first), signers, keys, blockhash, instructions, lookups },
    hasValidSignatures: signers.every((one, index) => isSignedBy(message, one, signatures[index] as Buffer)),
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
