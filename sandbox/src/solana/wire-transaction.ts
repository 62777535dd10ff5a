import {
  type Address,
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  getAddressDecoder,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type MaybeEncodedAccount,
  type Transaction,
} from '@solana/kit'

/** PACKET_DATA_SIZE of the validator: the IPv6 minimum MTU less its headers. */
export const transactionBytesMax = 1232

type Message = Exclude<CompiledTransactionMessage & CompiledTransactionMessageWithLifetime, { version: 1 }>

export type WireTransaction = Readonly<{
  transaction: Transaction
  message: Message
  bytes: Uint8Array
  signature: string
  signatures: readonly string[]
}>

const base58 = getBase58Decoder()
const noSignature = new Uint8Array(64)

/** Throws on bytes that are not one whole transaction, legacy or version 0. */
export function decodeWireTransaction(bytes: Uint8Array): WireTransaction {
  const [transaction, end] = getTransactionDecoder().read(bytes, 0)
  if (end !== bytes.length) throw new Error('trailing bytes')
  const message = decodeMessage(new Uint8Array(transaction.messageBytes))
  const signatures = Object.values(transaction.signatures).map((one) => base58.decode(one ?? noSignature))
  const [signature] = signatures
  if (signature === undefined) throw new Error('no signature')
  return { transaction, message, bytes, signature, signatures }
}

export function decodeMessage(bytes: Uint8Array): Message {
  const [message, end] = getCompiledTransactionMessageDecoder().read(bytes, 0)
  if (end !== bytes.length) throw new Error('trailing bytes')
  if (message.version === 1) throw new Error('unsupported version')
  const count = message.staticAccounts.length
  if (message.header.numSignerAccounts === 0 || count < message.header.numSignerAccounts) throw new Error('no signer')
  return message as Message
}

export type LoadedAddresses = Readonly<{ writable: readonly Address[]; readonly: readonly Address[] }>

/** Addresses of a lookup table begin after its 56 bytes of metadata. */
const tableHeaderBytes = 56

/** Unknown tables and indices load nothing; the runtime refuses the transaction. */
export function loadAddresses(
  message: Message,
  readAccount: (address: Address) => MaybeEncodedAccount,
): LoadedAddresses {
  const writable: Address[] = []
  const readonly: Address[] = []
  const lookups = message.version === 0 ? (message.addressTableLookups ?? []) : []
  for (const lookup of lookups) {
    const table = readAccount(lookup.lookupTableAddress)
    if (!table.exists) continue
    const load = (indices: readonly number[], into: Address[]) => {
      for (const index of indices) {
        const offset = tableHeaderBytes + 32 * index
        if (offset + 32 <= table.data.length) into.push(getAddressDecoder().decode(table.data, offset))
      }
    }
    load(lookup.writableIndexes, writable)
    load(lookup.readonlyIndexes, readonly)
  }
  return { writable, readonly }
}

const computeBudget = 'ComputeBudget111111111111111111111111111111'
const builtins: ReadonlySet<string> = new Set([
  computeBudget,
  '11111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
])
const lamportsPerSignature = 5000n
const unitsMax = 1_400_000n

export type Fee = Readonly<{ base: bigint; priority: bigint; unitPrice: bigint }>

/** The units that a transaction requests, or the default of its instructions. */
export function computeUnitLimit(message: Message): bigint {
  let defaultUnits = 0n
  for (const { programAddressIndex, data } of message.instructions) {
    const program = message.staticAccounts[programAddressIndex] ?? ''
    defaultUnits += builtins.has(program) ? 3_000n : 200_000n
    if (program === computeBudget && data?.[0] === 2 && data.length >= 5)
      return smallestUnits(BigInt(new DataView(data.buffer, data.byteOffset, data.byteLength).getUint32(1, true)))
  }
  return smallestUnits(defaultUnits)
}

const smallestUnits = (units: bigint): bigint => (units < unitsMax ? units : unitsMax)

/** The base fee of each signature, and the requested units at the requested price, rounded up. */
export function computeFee(message: Message): Fee {
  let unitPrice = 0n
  for (const { programAddressIndex, data } of message.instructions)
    if (message.staticAccounts[programAddressIndex] === computeBudget && data?.[0] === 3 && data.length >= 9)
      unitPrice = new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(1, true)
  const base = lamportsPerSignature * BigInt(message.header.numSignerAccounts)
  return { base, priority: (computeUnitLimit(message) * unitPrice + 999_999n) / 1_000_000n, unitPrice }
}

export function isWritable({ header, staticAccounts }: Message, index: number): boolean {
  if (index < header.numSignerAccounts) return index < header.numSignerAccounts - header.numReadonlySignerAccounts
  return index < staticAccounts.length - header.numReadonlyNonSignerAccounts
}
