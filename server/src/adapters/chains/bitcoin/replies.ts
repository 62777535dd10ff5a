import { AppError } from '../../../core/domain/errors.ts'

/** A block in a node's reply. `transactions` holds full transactions or only their ids. */
export type NodeBlock<T = NodeTransaction> = Readonly<{
  hash: string
  height: number
  parentHash: string
  time: number
  transactions: readonly T[]
}>

export type NodeTransaction = Readonly<{
  txid: string
  /** Coinbase: its outputs are spendable after 100 blocks. */
  coinbase: boolean
  spends: readonly string[]
  outputs: readonly { vout: number; units: bigint; script: string }[]
  /** The block that includes the transaction, according to the node; null if unconfirmed. */
  blockHash: string | null
}>

/** Parent hash of the first block. */
const NO_HASH = '0'.repeat(64)
const DECIMALS = 8

/** For a reply of unknown form: handled like no answer, so that no decision depends on it. */
function malformed(what: string): AppError {
  return new AppError('NETWORK_UNAVAILABLE', 'a node of the network gives no usable answers', {
    cause: new Error(`malformed ${what} in a reply`),
  })
}

export function readEntry(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed('object')
  return value as Record<string, unknown>
}

function readList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed('list')
  return value
}

export function readInteger(value: unknown, min = 0): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min) throw malformed('integer')
  return value
}

const HASH = /^[0-9a-f]{64}$/
const HEX = /^(?:[0-9a-f]{2})*$/

export function readHash(value: unknown): string {
  if (typeof value !== 'string' || !HASH.test(value)) throw malformed('hash')
  return value
}

export function readHashes(value: unknown): readonly string[] {
  return readList(value).map(readHash)
}

const AMOUNT = /^(\d{1,30})(?:\.(\d{1,30}))?(?:[eE]([+-]?\d{1,2}))?$/

/** A decimal amount as Bitcoin Core writes it (8 decimals), in units. Exact: more decimals are malformed. */
export function readAmount(value: unknown): bigint {
  const match = typeof value === 'number' || typeof value === 'string' ? AMOUNT.exec(String(value)) : null
  if (!match) throw malformed('amount')
  const [, whole = '0', fraction = '', exponent = '0'] = match
  const shift = DECIMALS - fraction.length + Number.parseInt(exponent, 10)
  const digits = BigInt(whole + fraction)
  if (shift >= 0) return digits * 10n ** BigInt(shift)
  const divisor = 10n ** BigInt(-shift)
  if (digits % divisor !== 0n) throw malformed('amount')
  return digits / divisor
}

export function readTransaction(value: unknown): NodeTransaction {
  const entry = readEntry(value)
  const spends: string[] = []
  let coinbase = false
  for (const item of readList(entry['vin'])) {
    const input = readEntry(item)
    if (input['coinbase'] !== undefined) coinbase = true
    // Litecoin also lists inputs of its extension blocks (MWEB), which spend no outpoint.
    else if (input['ismweb'] !== true) spends.push(`${readHash(input['txid'])}:${readInteger(input['vout'])}`)
  }
  const outputs: NodeTransaction['outputs'][number][] = []
  for (const item of readList(entry['vout'])) {
    const output = readEntry(item)
    if (output['ismweb'] === true) continue
    const script = readEntry(output['scriptPubKey'])['hex']
    if (typeof script !== 'string' || !HEX.test(script)) throw malformed('script')
    outputs.push({ vout: readInteger(output['n']), units: readAmount(output['value']), script })
  }
  const blockHash = entry['blockhash']
  return {
    txid: readHash(entry['txid']),
    coinbase,
    spends,
    outputs,
    blockHash: blockHash === undefined || blockHash === null ? null : readHash(blockHash),
  }
}

export function readBlock<T>(value: unknown, hash: string, readOne: (value: unknown) => T): NodeBlock<T> {
  const entry = readEntry(value)
  if (entry['hash'] !== hash) throw malformed('block: unexpected hash')
  const height = readInteger(entry['height'])
  return {
    hash,
    height,
    parentHash: height === 0 ? NO_HASH : readHash(entry['previousblockhash']),
    time: readInteger(entry['time']),
    transactions: readList(entry['tx']).map(readOne),
  }
}
