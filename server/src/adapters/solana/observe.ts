import type { BlockRef, NodeNote } from '../../core/ports/chain.ts'
import type { Expiry } from '../../swap/domain/expiry.ts'
import type { TransactionObservation } from '../../swap/domain/swap.ts'
import type { SentTransaction, SwapAction } from '../../swap/ports/swap-chain.ts'
import { readCreated } from './instructions.ts'
import { fieldsOf, listOf, type SolanaNode, type SolanaNodes, slotOf, toCount, unavailable } from './nodes.ts'
import { blockAt } from './prepare.ts'
import { readAction } from './read-action.ts'
import { isReadable, paidTo, type Receipt, readAgreedReceipt, receivedBy } from './receipts.ts'
import { type FinalBlock, requireHistory } from './require-history.ts'
import { readFee } from './swap-instructions.ts'

type Context = Readonly<{ nodes: SolanaNodes; network: string; finalityBlocks: number; note(note: NodeNote): void }>
type Reports = Pick<Context, 'nodes' | 'note'>
type Status = 'processed' | 'confirmed' | 'finalized'

/** A validator includes a transaction in one block more than it says: the age of a hash is counted from the block before. */
const HEIGHT_MARGIN = 1

/**
 * `status`: the least commitment that the nodes know of a transaction; null if none of them knows it, `processed` if not all do. `slots`:
 * those of their answers, in the order of the nodes.
 */
async function readStatus(
  { nodes }: Context,
  hash: string,
): Promise<Readonly<{ status: Status | null; slots: readonly number[] }>> {
  const replies = await nodes.askEvery('getSignatureStatuses', [[hash], { searchTransactionHistory: true }])
  const statuses = replies.map((reply) => fieldsOf(listOf(fieldsOf(reply)['value'])[0])['confirmationStatus'])
  const slots = replies.map(slotOf)
  if (statuses.every((status) => status === undefined)) return { status: null, slots }
  if (statuses.every((status) => status === 'finalized')) return { status: 'finalized', slots }
  const isConfirmed = statuses.every((status) => status === 'finalized' || status === 'confirmed')
  return { status: isConfirmed ? 'confirmed' : 'processed', slots }
}

/** Depth counts only at the commitment `finalized`: before, nothing is final at any depth. */
export const confirmationsAt = async (context: Context, hash: string): Promise<number> =>
  (await readStatus(context, hash)).status === 'finalized' ? context.finalityBlocks : 0

/** Throws while not all nodes have a swap that was in a block, unless a fork has dropped it: a node that lags changes nothing. */
export async function observe(
  context: Context,
  hash: string,
  sent: SentTransaction | undefined,
): Promise<TransactionObservation> {
  const known = sent?.block ?? null
  // Read before the status: what is in no final block at this height can be in none after it.
  const finals = await readFinals(context.nodes)
  const { status, slots } = await readStatus(context, hash)
  if (status === null) {
    // The state of every node after the known slot lacks it.
    if (known !== null && Math.min(...slots) <= known.height) throw lagError(context, hash, known)
    const { expiry } = sent ?? {}
    // A node that answers from an older state than it showed before, such as one of several behind an address, proves nothing.
    const isPast = expiry?.by === 'height' && finals.every(({ height }) => height > expiry.at + HEIGHT_MARGIN)
    if (!isPast || slots.some((slot, index) => slot < (finals[index]?.slot ?? slot))) return { kind: 'unseen' }
    // A swap is in a block after that of its hash, which is up to 150 blocks older than the height from which its expiry was counted.
    const heights = { since: expiry.at - 2 * VALID_BLOCKS, until: expiry.at + HEIGHT_MARGIN }
    await requireHistory(context.nodes, heights, finals)
    return { kind: 'expired' }
  }
  const receipt = status === 'processed' ? null : await readAgreedReceipt(context.nodes, hash)
  if (!isReadable(receipt)) {
    if (known === null) return { kind: 'pending' }
    throw lagError(context, hash, known)
  }
  return {
    ...{ kind: 'included', block: blockAt(receipt.slot), ok: receipt.ok },
    confirmations: status === 'finalized' ? context.finalityBlocks : 0,
    ...amountsOf(receipt),
  }
}

const lagError = ({ network }: Context, hash: string, { height }: BlockRef) =>
  unavailable(
    network,
    `not every node has ${hash} of slot ${height} now, and not every node is past that slot without it`,
  )

/** What the recipient got, and the fee; null for other transactions and failed ones. */
function amountsOf(receipt: Receipt): Readonly<{ received: bigint | null; fee: bigint | null }> {
  const action = actionOf(receipt)
  if (action === null || !receipt.ok) return { received: null, fee: null }
  const { recipient, tokenOut, feeTo } = action
  const fee = feeIn(receipt, action)
  const created = receipt.transaction.instructions.flatMap((one) => readCreated(one) ?? [])
  const own = new Set(created.filter(({ owner }) => owner === recipient).map(({ account }) => account))
  const gained = receivedBy(receipt, recipient, tokenOut, [...own])
  const received = feeTo === recipient ? gained - fee : gained
  // A payment that arrived since the build loosens the bounds of an aggregator's instruction, which may then also take of the output.
  return { received: received > 0n ? received : 0n, fee }
}

/** The fee of a swap. Where its recipient swapped, balances do not separate it from the output: there it is what the transaction states. */
export function feeIn(receipt: Receipt, { recipient, feePpm, feeTo, tokenOut }: SwapAction): bigint {
  if (feeTo === null) return 0n
  if (feeTo !== recipient) return paidTo(receipt, feeTo, tokenOut)
  return readFee(receipt.transaction.instructions, feePpm, tokenOut).feeUnits
}

export function actionOf({ transaction }: Receipt) {
  return readAction(transaction.signers[0] ?? '', transaction.instructions)
}

/** The last final block of each node, by height and by slot. */
async function readFinals(nodes: SolanaNodes): Promise<readonly FinalBlock[]> {
  const replies = await nodes.askEvery('getEpochInfo', [{ commitment: 'finalized' }])
  return replies
    .map(fieldsOf)
    .map((one) => ({ height: toCount(one['blockHeight']), slot: toCount(one['absoluteSlot']) }))
}

/** Blocks after the one of a hash in which a transaction that names it is valid. */
const VALID_BLOCKS = 150

/** Whether a node takes a transaction with this recent block into its next block. */
export async function isBlockhashValid(node: SolanaNode, blockhash: string): Promise<boolean> {
  const { value } = fieldsOf(await node.ask('isBlockhashValid', [blockhash, { commitment: 'processed' }]))
  if (typeof value !== 'boolean') throw new TypeError('a node replied no validity of a block hash')
  return value
}

/** A height or a slot, with the node that says it. */
type Reading = Readonly<{ node: string; at: number }>

const readHeight = async (node: SolanaNode): Promise<Reading> => ({
  node: node.name,
  at: toCount(await node.ask('getBlockHeight', [{ commitment: 'processed' }])),
})

/** Two minutes. A node that is further behind, or claims a height so much greater, would set the end of a swap alone. */
const HEIGHTS_APART_MAX = 2 * VALID_BLOCKS

/** Why the nodes are too far apart, with a note for the operator; null if they are not. */
function findApart(note: Context['note'], of: 'height' | 'slot', readings: readonly Reading[]): string | null {
  const [first, ...others] = [...readings].sort((a, b) => a.at - b.at)
  const last = others.at(-1)
  if (first === undefined || last === undefined || last.at - first.at <= HEIGHTS_APART_MAX) return null
  const detail = `${of} ${first.at}, and ${last.at} at ${last.node}`
  note({ kind: 'nodes-apart', node: first.node, detail })
  return `${first.node}: ${detail}`
}

/** The greatest of the heights that nodes answered. Throws if they are too far apart. */
function greatestOf({ nodes, note }: Reports, readings: readonly Reading[]): number {
  const apart = findApart(note, 'height', readings)
  if (apart !== null) throw unavailable(nodes.network, `the heights of the nodes are too far apart: ${apart}`)
  return Math.max(...readings.map(({ at }) => at))
}

/**
 * The last height that can include a transaction with this recent block. No call tells the height of a block hash, so a valid one
 * counts from now: the proof of an expiry comes later, and never too early. A node that does not answer prevents nothing.
 */
export async function readHeightExpiry(reports: Reports, blockhash: string): Promise<Expiry> {
  const states = await reports.nodes.answers(async (node) => {
    const isValid = await isBlockhashValid(node, blockhash)
    // Read after the validity, from the same node, so that the height is at least that of the hash.
    return { isValid, height: await readHeight(node) }
  })
  const height = greatestOf(
    reports,
    states.map((state) => state.height),
  )
  return { by: 'height', at: states.some(({ isValid }) => isValid) ? height + VALID_BLOCKS : height }
}

/** The greatest height of the nodes that answer. */
export const readGreatestHeight = async (reports: Reports): Promise<number> =>
  greatestOf(reports, await reports.nodes.answers(readHeight))

/**
 * Least final slot of all nodes. Slots number the blocks everywhere but in an expiry. Workers read it all the time, so that nodes which
 * are too far apart are noted also while no swap is sent.
 */
export async function readFinalSlot({ nodes, network, note }: Context): Promise<number> {
  const readings = await nodes.every(async (node) => ({
    node: node.name,
    at: toCount(await node.ask('getSlot', [{ commitment: 'finalized' }])),
  }))
  findApart(note, 'slot', readings)
  const least = Math.min(...readings.map(({ at }) => at))
  if (!Number.isFinite(least)) throw unavailable(network, 'no node replied a slot')
  return least
}
