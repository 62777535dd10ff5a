import { isHex, malformed, readEntry, readHash, readInteger } from '../shared/replies.ts'

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
  /** An input allows the sender to replace the transaction while it is unconfirmed (BIP 125). */
  isReplaceable: boolean
  /** `tokenCategory`: the output also carries a CashToken (Bitcoin Cash, CHIP-2022-02). */
  outputs: readonly { vout: number; units: bigint; script: string; tokenCategory: string | null }[]
  /** The block that includes the transaction, according to the node; null if unconfirmed. */
  blockHash: string | null
}>

/** Parent hash of the first block. */
const NO_HASH = '0'.repeat(64)
const DECIMALS = 8
/** BIP 125: an input with a sequence number below 0xffffffff - 1 signals replacement. */
const REPLACEABLE_SEQUENCE_MAX = 0xfffffffd

function readList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed('list')
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
  let isReplaceable = false
  for (const item of readList(entry['vin'])) {
    const input = readEntry(item)
    if (input['coinbase'] !== undefined) coinbase = true
    // Litecoin also lists inputs of its extension blocks (MWEB), which spend no outpoint.
    else if (input['ismweb'] !== true) {
      spends.push(`${readHash(input['txid'])}:${readInteger(input['vout'])}`)
      const { sequence } = input
      isReplaceable ||= typeof sequence !== 'number' || sequence <= REPLACEABLE_SEQUENCE_MAX
    }
  }
  const outputs: NodeTransaction['outputs'][number][] = []
  for (const item of readList(entry['vout'])) {
    const output = readEntry(item)
    if (output['ismweb'] === true) continue
    const script = readEntry(output['scriptPubKey'])['hex']
    if (!isHex(script)) throw malformed('script')
    const token = output['tokenData']
    const tokenCategory = token === undefined || token === null ? null : readHash(readEntry(token)['category'])
    outputs.push({ vout: readInteger(output['n']), units: readAmount(output['value']), script, tokenCategory })
  }
  const blockHash = entry['blockhash']
  return {
    txid: readHash(entry['txid']),
    coinbase,
    spends,
    isReplaceable,
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

/** Fee, size and unconfirmed parents of a transaction in the mempool; `evictedUnits` also counts all that depend on it. */
export type MempoolEntry = Readonly<{
  /** When it entered the mempool, by the node's clock; null = not stated. */
  seenAt: Date | null
  feeUnits: bigint
  evictedUnits: bigint
  virtualBytes: bigint
  parents: readonly string[]
}>

/** A node that gives a transaction a lower priority may count less than nothing. */
function readEvicted(coins: unknown, units: unknown): bigint {
  if (coins !== undefined) return String(coins).startsWith('-') ? 0n : readAmount(coins)
  return BigInt(Math.max(readInteger(units ?? 0, Number.MIN_SAFE_INTEGER), 0))
}

/** Older nodes call the size `size`, state the fee as `fee`, and the fee with all that depend on it in base units. */
export function readMempoolEntry(value: unknown): MempoolEntry {
  const entry = readEntry(value)
  const { fees, fee, vsize, size, descendantfees, time } = entry
  const { base, descendant } = fees === undefined ? { base: fee } : readEntry(fees)
  return {
    seenAt: time === undefined ? null : new Date(readInteger(time) * 1_000),
    feeUnits: readAmount(base),
    evictedUnits: readEvicted(descendant, descendantfees),
    virtualBytes: BigInt(readInteger(vsize ?? size)),
    parents: readHashes(entry['depends']),
  }
}
