import type { BlockRef } from '../../../core/ports/chain.ts'
import type { ScannedBlock, Transfer } from '../../../exchange/ports/chain.ts'
import { type BlockLogs, readBlockLogs, readReceipts } from './block-logs.ts'
import { type EvmNode, hex, type Note } from './node.ts'
import { checkTraced, readTraces } from './read-traces.ts'
import {
  type BlockReply,
  block as decodeBlock,
  blockHash as decodeBlockHash,
  type LogReply,
  orNull,
  type ReceiptReply,
  type TransactionReply,
} from './replies.ts'
import { unavailable } from './rpc.ts'
import { isSigned } from './signed.ts'
import { eventOf, TRANSFER_TOPIC } from './token.ts'
import type { BlockTraces } from './traces.ts'

/** A transfer with its sender side, which `readReceived` needs to compute the outflow of an address. */
export type Movement = Transfer & Readonly<{ from: string }>

export type BlockMovements = BlockRef &
  Readonly<{
    parentHash: string
    time: number
    movements: readonly Movement[]
    transactions: readonly TransactionReply[]
    /** False without traces: then only the reconciler's balance check detects native transfers from contracts. */
    isTraced: boolean
    /** Transactions whose logs no reply could hold. */
    unreadable: readonly string[]
  }>

export type ScanOptions = Readonly<{
  /** Contracts of the listed tokens, and `nativeContract`. */
  tokens: readonly string[]
  /** A token contract that moves the native currency (Celo): its transfers count as native transfers. */
  nativeContract: string | null
  /** Whether blocks also list transactions that failed before their execution, and again where they are executed (Sei). */
  listsUnexecuted: boolean
  /** False where the operator accepts that no node offers traces: then their absence is not noted. */
  expectsTraces: boolean
  note: Note
}>

/** The block at a height or with a hash, and all its transfers; null if the node does not have it. */
export async function readBlock(
  node: EvmNode,
  at: number | string,
  options: ScanOptions,
): Promise<BlockMovements | null> {
  const byHash = typeof at === 'string'
  const method = byHash ? 'eth_getBlockByHash' : 'eth_getBlockByNumber'
  const block = await node.ask(method, [byHash ? at : hex(at), true], orNull(decodeBlock))
  if (block === null) return null
  if (byHash ? block.hash !== at : block.height !== at) throw unavailable(`${node.name} answered with another block`)
  if (block.transactions.length === 0) return { ...block, movements: [], isTraced: true, unreadable: [] }

  const [blockLogs, traces] = await Promise.all([
    readBlockLogs(node, block, options.tokens, options.note),
    readTraces(node, block, options.note),
  ])
  const outcomes = await readOutcomes(node, block, blockLogs, traces, options)
  const succeeded = (txHash: string) => outcomes.get(txHash) === true
  const bySender = new Map(block.transactions.map((tx) => [tx.hash, tx]))
  return {
    ...block,
    isTraced: traces !== null && checkTraced(node, block, traces, outcomes, options.note),
    unreadable: blockLogs.unreadable,
    movements: [
      ...block.transactions.filter((tx) => succeeded(tx.hash)).flatMap(nativeMovement),
      ...(traces?.inner ?? []).filter(({ txHash }) => succeeded(txHash)).map(innerMovement),
      ...identifyTransferLogs(limitUnlisted(blockLogs.logs, options.tokens)).flatMap(([identity, entry]) => {
        return tokenMovement(identity, entry, bySender.get(entry.txHash), options.nativeContract)
      }),
    ],
  }
}

export function scannedBlock(block: BlockMovements): ScannedBlock {
  return {
    height: block.height,
    hash: block.hash,
    parentHash: block.parentHash,
    time: block.time,
    transfers: block.movements.map(({ from: _, ...transfer }) => transfer),
    transactions: block.transactions.map((tx) => ({
      txHash: tx.hash,
      sender: tx.from,
      nonce: isSigned(tx) ? tx.nonce : null,
      spends: [],
    })),
  }
}

/**
 * Whether each transaction with a native value succeeded: from block receipts, else from traces, else from single receipts. A
 * transaction without a readable receipt paid no account: what pays an account has no logs.
 */
async function readOutcomes(
  node: EvmNode,
  block: BlockReply,
  { receipts, unreadable }: BlockLogs,
  traces: BlockTraces | null,
  { listsUnexecuted }: ScanOptions,
): Promise<ReadonlyMap<string, boolean>> {
  const known = new Map([...(traces?.outcomes ?? []), ...outcomesOf(node, block, receipts ?? [])])
  const isNeeded = ({ hash, value, to }: TransactionReply) =>
    !known.has(hash) &&
    !unreadable.includes(hash) &&
    ((value > 0n && to !== null) || traces?.untraced.includes(hash) === true)
  const single = await readReceipts(node, block.transactions.filter(isNeeded))
  const elsewhere = listsUnexecuted ? await findElsewhere(node, block, single.receipts) : new Set<string>()
  const own = single.receipts.filter(({ txHash }) => !elsewhere.has(txHash))
  return new Map([
    ...known,
    ...outcomesOf(node, block, own),
    ...[...elsewhere].map((txHash) => [txHash, false] as const),
  ])
}

function outcomesOf(
  node: EvmNode,
  block: BlockReply,
  receipts: readonly ReceiptReply[],
): readonly (readonly [string, boolean])[] {
  if (receipts.some(({ blockHash }) => blockHash !== block.hash))
    throw unavailable(`${node.name} left block ${block.height} while it was read`)
  return receipts.map(({ txHash, ok }) => [txHash, ok] as const)
}

/** Transactions that another block of the node's chain executed. Throws if the node has left this block. */
async function findElsewhere(
  node: EvmNode,
  block: BlockReply,
  receipts: readonly ReceiptReply[],
): Promise<ReadonlySet<string>> {
  const others = receipts.filter(({ blockHash }) => blockHash !== block.hash)
  if (others.length === 0) return new Set()
  const hashAt = (height: number) => node.ask('eth_getBlockByNumber', [hex(height), false], orNull(decodeBlockHash))
  const hashes = await Promise.all([block, ...others].map(({ height }) => hashAt(height)))
  if ([block.hash, ...others.map(({ blockHash }) => blockHash)].some((hash, n) => hash !== hashes[n]))
    throw unavailable(`${node.name} left block ${block.height} while it was read`)
  return new Set(others.map(({ txHash }) => txHash))
}

/** Transfers of unlisted tokens per block: they are never credited, and each costs its sender about 1 900 gas. */
const UNLISTED_MAX = 10_000

export function limitUnlisted(logs: readonly LogReply[], tokens: readonly string[]): readonly LogReply[] {
  if (logs.length <= UNLISTED_MAX) return logs
  const listed = new Set(tokens)
  let unlisted = 0
  return logs.filter(({ address }) => listed.has(address) || unlisted++ < UNLISTED_MAX)
}

function nativeMovement(tx: TransactionReply): Movement[] {
  // No recipient: a contract creation. Its value goes to the new contract, which is never one of our addresses.
  if (tx.value === 0n || tx.to === null) return []
  return [
    {
      identity: tx.hash,
      txHash: tx.hash,
      address: tx.to,
      from: tx.from,
      memo: null,
      contract: null,
      units: tx.value,
      sender: isSigned(tx) ? tx.from : null,
    },
  ]
}

function innerMovement({ txHash, path, from, to, units }: BlockTraces['inner'][number]): Movement {
  const identity = `${txHash}:trace:${path}`
  return { identity, txHash, address: to, from, memo: null, contract: null, units, sender: null }
}

/**
 * Transfer logs with their identity: the contract and the index among its Transfer logs of the same transaction. The log
 * index of the block would change if a reorganisation includes the transaction at another position, and an index among the
 * logs of all contracts if a block is too large to read them.
 */
export function identifyTransferLogs(logs: readonly LogReply[]): readonly (readonly [string, LogReply])[] {
  const nextIndex = new Map<string, number>()
  const transfers = logs.filter(({ topics }) => topics[0] === TRANSFER_TOPIC).toSorted((a, b) => a.index - b.index)
  return transfers.map((entry) => {
    const key = `${entry.txHash}:${entry.address}`
    const index = nextIndex.get(key) ?? 0
    nextIndex.set(key, index + 1)
    return [`${key}:${index}`, entry] as const
  })
}

function tokenMovement(
  identity: string,
  entry: LogReply,
  tx: TransactionReply | undefined,
  nativeContract: string | null,
): Movement[] {
  const event = eventOf(entry)
  if (event === null || event.units === 0n) return []
  // The transaction's sender may receive refunds only if it owned the tokens.
  const isOwn = tx !== undefined && isSigned(tx) && tx.from === event.from
  return [
    {
      identity,
      txHash: entry.txHash,
      address: event.to,
      from: event.from,
      memo: null,
      contract: entry.address === nativeContract ? null : entry.address,
      units: event.units,
      sender: isOwn ? event.from : null,
    },
  ]
}

/** The transfers that a pending transaction would make. Uncertain; token transfers have no log index yet. */
export function pendingMovements(tx: TransactionReply, call: { to: string; units: bigint } | null): Movement[] {
  if (call === null || tx.to === null || call.units === 0n) return nativeMovement(tx)
  return [
    ...nativeMovement(tx),
    {
      identity: `${tx.hash}:pending`,
      txHash: tx.hash,
      address: call.to,
      from: tx.from,
      memo: null,
      contract: tx.to,
      units: call.units,
      sender: isSigned(tx) ? tx.from : null,
    },
  ]
}
