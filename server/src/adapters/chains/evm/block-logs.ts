import { AppError } from '../../../core/domain/errors.ts'
import { mayContain } from './bloom.ts'
import type { EvmNode, Note } from './node.ts'
import {
  type BlockReply,
  type LogReply,
  list,
  log,
  type ReceiptReply,
  receipt,
  type TransactionReply,
} from './replies.ts'
import { failureOf, isTimeout, refusalOf, unavailable } from './rpc.ts'
import { TRANSFER_TOPIC } from './token.ts'

export type BlockLogs = Readonly<{
  /** All Transfer logs of the block; of listed tokens alone where the node could not return the others. */
  logs: readonly LogReply[]
  /** Receipts of all transactions except `unreadable`; null if they were not read. */
  receipts: readonly ReceiptReply[] | null
  /** Transactions whose receipt is too large for one reply. Their logs are missing. */
  unreadable: readonly string[]
}>

/**
 * The Transfer logs of a block, compared with its receipts where the node returns those of a whole block, else with its bloom
 * filter. Where they disagree, the receipts of the single transactions decide (T6). Anyone can fill a block with more logs than fit one reply, or than a provider returns (M5): then the receipts' logs, those of listed tokens
 * alone, and at last the receipts of single transactions are read. A reply that repeatedly did not come in time counts as
 * too large. Throws if the node does not answer otherwise: every way to read ends with a reply that holds all logs of
 * listed tokens.
 */
export async function readBlockLogs(
  node: EvmNode,
  block: BlockReply,
  tokens: readonly string[],
  note: Note,
): Promise<BlockLogs> {
  const { blockReceipts } = await node.capabilities()
  const readLogs = (kind: string, addresses: Readonly<{ address?: readonly string[] }>) => {
    const filter = { blockHash: block.hash, topics: [TRANSFER_TOPIC], ...addresses }
    return attempt(node, kind, node.ask('eth_getLogs', [filter], list(log)))
  }
  // An empty list would select the logs of every contract.
  const readListed = () => (tokens.length === 0 ? [] : readLogs('listed logs', { address: tokens }))
  const [logs, receipts] = await Promise.all([
    readLogs('logs', {}),
    blockReceipts ? attempt(node, 'receipts', node.ask('eth_getBlockReceipts', [block.hash], list(receipt))) : null,
  ])
  if (receipts !== null && !(receipts instanceof AppError)) {
    if (logs instanceof AppError) return { logs: logsOf(receipts), receipts, unreadable: [] }
    return compareWithReceipts(node, block, { logs, receipts }, note)
  }
  if (logs instanceof AppError && !isTooLarge(logs)) throw receipts ?? logs
  // A node that has not indexed the block answers with an empty list.
  const isEmpty = !(logs instanceof AppError) && logs.length === 0 && mayContain(block.logsBloom, TRANSFER_TOPIC)
  // A refusal or a timeout may pass: it does not spare logs that were read the comparison, with single receipts.
  const isFinal = receipts === null || failureOf(receipts)?.isTooLarge === true
  if (isFinal || (logs instanceof AppError && isTooLarge(receipts))) {
    const listed = logs instanceof AppError ? await readListed() : logs
    if (!(listed instanceof AppError) && !isEmpty) {
      checkBlock(node, block, listed)
      if (isTimeout(logs))
        note({
          kind: 'logs-missing',
          node: node.name,
          detail: `block ${block.height} ${block.hash}, logs of unlisted tokens`,
        })
      return { logs: listed, receipts: null, unreadable: [] }
    }
  }
  const single = await readReceipts(node, block.transactions)
  const found = logsOf(single.receipts)
  if (isEmpty && found.length > 0) noteDisagreement(node, block, note)
  return { ...single, logs: found }
}

/** Nodes serve logs from an index of their own, so compare their number with the receipts of the block. */
async function compareWithReceipts(
  node: EvmNode,
  block: BlockReply,
  { logs, receipts }: Readonly<{ logs: readonly LogReply[]; receipts: readonly ReceiptReply[] }>,
  note: Note,
): Promise<BlockLogs> {
  checkBlock(node, block, logs)
  const counts = new Map<string, number>()
  for (const { txHash } of logs) counts.set(txHash, (counts.get(txHash) ?? 0) + 1)
  const disputed = new Set(
    receipts.filter((one) => logsOf([one]).length !== (counts.get(one.txHash) ?? 0)).map(({ txHash }) => txHash),
  )
  if (disputed.size === 0) return { logs, receipts, unreadable: [] }
  noteDisagreement(node, block, note)
  const single = await readReceipts(
    node,
    [...disputed].map((hash) => ({ hash })),
  )
  const isUndisputed = ({ txHash }: { txHash: string }) => !disputed.has(txHash)
  return {
    logs: [...logs.filter(isUndisputed), ...logsOf(single.receipts)],
    receipts: [...receipts.filter(isUndisputed), ...single.receipts],
    unreadable: single.unreadable,
  }
}

function noteDisagreement(node: EvmNode, block: BlockReply, note: Note): void {
  note({ kind: 'logs-disagree', node: node.name, detail: `block ${block.height} ${block.hash}` })
}

const logsOf = (receipts: readonly ReceiptReply[]): readonly LogReply[] =>
  receipts.flatMap(({ logs }) => logs.filter(({ topics }) => topics[0] === TRANSFER_TOPIC))

/** Transactions per batch: the replies of a batch share one limit. */
const SLICE = 50

/** The receipts of single transactions, one batch after the other. */
export async function readReceipts(
  node: EvmNode,
  transactions: readonly Pick<TransactionReply, 'hash'>[],
): Promise<{ receipts: readonly ReceiptReply[]; unreadable: readonly string[] }> {
  const receipts: ReceiptReply[] = []
  const unreadable: string[] = []
  for (let n = 0; n < transactions.length; n += SLICE) {
    const slice = transactions.slice(n, n + SLICE)
    const calls = slice.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
    const batch = await attempt(node, 'receipt batch', node.askMany(calls, receipt))
    if (batch instanceof AppError && !isTooLarge(batch)) throw batch
    for (const [index, { hash }] of slice.entries()) {
      const one =
        batch instanceof AppError
          ? await attempt(node, 'receipt', node.ask('eth_getTransactionReceipt', [hash], receipt))
          : (batch[index] ?? null)
      if (one instanceof AppError && failureOf(one)?.isTooLarge !== true) throw one
      if (one instanceof AppError) unreadable.push(hash)
      else if (one?.txHash === hash) receipts.push(one)
      else throw unavailable(`${node.name} mixes up receipts`)
    }
  }
  return { receipts, unreadable }
}

/** A failed read as a value. */
const attempt = <T>(node: EvmNode, kind: string, reply: Promise<T>): Promise<T | AppError> =>
  reply.catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error
    if (isTimeout(error) && node.countTimeout(kind) >= TIMEOUTS_MAX) tooSlow.add(error)
    return error
  })

/**
 * Timeouts of one kind within ten minutes after which the kind is read in another way. Attackers can repeat a block that is
 * slow to return, so the first one costs three attempts and the next ones a single one.
 */
const TIMEOUTS_MAX = 3
/** Failures after which another way to read is tried. */
const tooSlow = new WeakSet<AppError>()

/** Larger than our limit, repeatedly too slow, or refused: providers refuse more than a number of results. */
const isTooLarge = (error: AppError): boolean =>
  failureOf(error)?.isTooLarge === true || refusalOf(error) !== null || tooSlow.has(error)

function checkBlock(node: EvmNode, block: BlockReply, logs: readonly LogReply[]): void {
  if (logs.some(({ blockHash }) => blockHash !== block.hash))
    throw unavailable(`${node.name} answered with logs of another block`)
}
