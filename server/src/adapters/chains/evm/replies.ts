import { getAddress, type Hex } from 'viem'

/** A reply whose form does not match its method. */
export class InvalidReply extends Error {
  override readonly name = 'InvalidReply'
}

/** Decodes one reply, or throws InvalidReply. */
export type Decode<T> = (reply: unknown) => T

export type TransactionReply = Readonly<{
  hash: string
  blockHash: string | null
  type: number
  from: string
  to: string | null
  value: bigint
  /** null for a nonce above 2^53, as in deposits of some rollups. */
  nonce: number | null
  input: Hex
}>

export type BlockReply = Readonly<{
  height: number
  hash: string
  parentHash: string
  time: number
  /** Bloom filter of the contracts and topics of all logs; null where the node returns none. */
  logsBloom: Hex | null
  transactions: readonly TransactionReply[]
}>

export type LogReply = Readonly<{
  address: string
  topics: readonly Hex[]
  data: Hex
  index: number
  txHash: string
  blockHash: string
  removed: boolean
}>

export type ReceiptReply = Readonly<{
  txHash: string
  blockHash: string
  height: number
  ok: boolean
  gasUsed: bigint
  gasPrice: bigint
  /** What the OP stack charges beside gas for layer 1, in wei; 0 on other chains. */
  l1Fee: bigint
  /** What the operator of a chain of the OP stack charges, in wei; 0 on other chains. */
  operatorFee: bigint
  logs: readonly LogReply[]
}>

type Fields = Readonly<Record<string, unknown>>

export function fields(reply: unknown): Fields {
  if (typeof reply !== 'object' || reply === null || Array.isArray(reply)) throw new InvalidReply('not an object')
  return reply as Fields
}

export function list<T>(item: Decode<T>, lengthMax = 1_000_000): Decode<readonly T[]> {
  return (reply) => {
    if (!Array.isArray(reply) || reply.length > lengthMax) throw new InvalidReply('not a list, or too long')
    return reply.map(item)
  }
}

export function orNull<T>(decode: Decode<T>): Decode<T | null> {
  return (reply) => (reply === null || reply === undefined ? null : decode(reply))
}

export const quantity: Decode<bigint> = (reply) => {
  if (typeof reply !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(reply)) throw new InvalidReply('not a quantity')
  return BigInt(reply)
}

/** A height, index or time. Some nodes write JSON numbers in traces. */
export const count: Decode<number> = (reply) => {
  const value = typeof reply === 'number' ? reply : Number(quantity(reply))
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidReply('not a safe count')
  return value
}

export const hash: Decode<string> = (reply) => {
  if (typeof reply !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(reply)) throw new InvalidReply('not a hash')
  return reply.toLowerCase()
}

export const bytes: Decode<Hex> = (reply) => {
  if (typeof reply !== 'string' || reply.length % 2 !== 0 || !/^0x[0-9a-fA-F]*$/.test(reply)) {
    throw new InvalidReply('not hexadecimal bytes')
  }
  return reply.toLowerCase() as Hex
}

/** In canonical form (EIP-55). */
export const address: Decode<string> = (reply) => {
  if (typeof reply !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(reply)) throw new InvalidReply('not an address')
  return getAddress(reply.toLowerCase())
}

export const transaction: Decode<TransactionReply> = (reply) => {
  const tx = fields(reply)
  const nonce = quantity(tx['nonce'])
  return {
    hash: hash(tx['hash']),
    blockHash: orNull(hash)(tx['blockHash']),
    type: tx['type'] === undefined ? 0 : count(tx['type']),
    from: address(tx['from']),
    to: orNull(address)(tx['to']),
    value: quantity(tx['value']),
    nonce: nonce <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(nonce) : null,
    input: bytes(tx['input']),
  }
}

/** A block with full transactions. Each transaction must name the block's hash. */
export const block: Decode<BlockReply> = (reply) => {
  const header = fields(reply)
  const own = hash(header['hash'])
  const transactions = list(transaction)(header['transactions'])
  if (transactions.some((tx) => tx.blockHash !== own)) throw new InvalidReply('a transaction of another block')
  return {
    height: count(header['number']),
    hash: own,
    parentHash: hash(header['parentHash']),
    time: count(header['timestamp']),
    logsBloom: orNull(bytes)(header['logsBloom']),
    transactions,
  }
}

/** The transactions of the pending block, whose hash is missing or provisional. */
export const pendingTransactions: Decode<readonly TransactionReply[]> = (reply) =>
  list(transaction)(fields(reply)['transactions'])

export const blockHash: Decode<string> = (reply) => hash(fields(reply)['hash'])
export const blockHeight: Decode<number> = (reply) => count(fields(reply)['number'])

export const log: Decode<LogReply> = (reply) => {
  const entry = fields(reply)
  return {
    address: address(entry['address']),
    topics: list(hash, 4)(entry['topics']) as readonly Hex[],
    data: bytes(entry['data']),
    index: count(entry['logIndex']),
    txHash: hash(entry['transactionHash']),
    blockHash: hash(entry['blockHash']),
    removed: entry['removed'] === true,
  }
}

/** Isthmus counts the scalar in millionths of a wei per gas. Jovian, whose receipts have a DA footprint, in hundreds of wei. */
function operatorFee(entry: Fields): bigint {
  const read = (name: string) => orNull(quantity)(entry[name])
  const scaled = quantity(entry['gasUsed']) * (read('operatorFeeScalar') ?? 0n)
  const perGas = read('daFootprintGasScalar') === null ? scaled / 1_000_000n : scaled * 100n
  return perGas + (read('operatorFeeConstant') ?? 0n)
}

export const receipt: Decode<ReceiptReply> = (reply) => {
  const entry = fields(reply)
  const gasPrice = entry['effectiveGasPrice']
  return {
    txHash: hash(entry['transactionHash']),
    blockHash: hash(entry['blockHash']),
    height: count(entry['blockNumber']),
    ok: quantity(entry['status']) === 1n,
    gasUsed: quantity(entry['gasUsed']),
    gasPrice: gasPrice === undefined || gasPrice === null ? 0n : quantity(gasPrice),
    l1Fee: orNull(quantity)(entry['l1Fee']) ?? 0n,
    operatorFee: operatorFee(entry),
    logs: list(log)(entry['logs']),
  }
}
