import type { BlockRef } from '../../core/ports/chain.ts'
import type { Expiry } from '../../swap/domain/expiry.ts'
import type { TransactionObservation } from '../../swap/domain/swap.ts'
import type { SentTransaction, SwapAction } from '../../swap/ports/swap-chain.ts'
import { readCreated } from './instructions.ts'
import { fieldsOf, listOf, type SolanaNode, type SolanaNodes, slotOf, toCount, unavailable } from './nodes.ts'
import { blockAt } from './prepare.ts'
import { readAction } from './read-action.ts'
import { isReadable, paidTo, type Receipt, readAgreedReceipt, receivedBy } from './receipts.ts'
import { readFee } from './swap-instructions.ts'

type Context = Readonly<{ nodes: SolanaNodes; network: string; finalityBlocks: number }>
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
    await requireHistory(context.nodes, expiry.at - 2 * VALID_BLOCKS)
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
  return { received: feeTo === recipient ? gained - fee : gained, fee }
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
async function readFinals(nodes: SolanaNodes): Promise<readonly Readonly<{ height: number; slot: number }>[]> {
  const replies = await nodes.askEvery('getEpochInfo', [{ commitment: 'finalized' }])
  return replies
    .map(fieldsOf)
    .map((one) => ({ height: toCount(one['blockHeight']), slot: toCount(one['absoluteSlot']) }))
}

/**
 * Requires the blocks since a height: a node that has pruned a transaction answers as one that never had it. A swap is in a block after
 * that of its hash, which is up to 150 blocks older than the height from which its expiry was counted.
 */
async function requireHistory({ every, network }: SolanaNodes, since: number): Promise<void> {
  await every(async (node) => {
    const first = toCount(await node.ask('getFirstAvailableBlock', []))
    // A slot is at least the height of its block.
    if (first <= since) return
    const options = { transactionDetails: 'none', rewards: false, maxSupportedTransactionVersion: 0 }
    const height = toCount(fieldsOf(await node.ask('getBlock', [first, options]))['blockHeight'])
    if (height > Math.max(since, 0))
      throw unavailable(
        network,
        `a node has no blocks below slot ${first}, and a swap may be in one: raise its retention`,
      )
  })
}

/** Blocks after the one of a hash in which a transaction that names it is valid. */
const VALID_BLOCKS = 150

/** Whether a node takes a transaction with this recent block into its next block. */
export async function isBlockhashValid(node: SolanaNode, blockhash: string): Promise<boolean> {
  const { value } = fieldsOf(await node.ask('isBlockhashValid', [blockhash, { commitment: 'processed' }]))
  if (typeof value !== 'boolean') throw new TypeError('a node replied no validity of a block hash')
  return value
}

const readHeight = async (node: SolanaNode): Promise<number> =>
  toCount(await node.ask('getBlockHeight', [{ commitment: 'processed' }]))

/** Two minutes. A node that is further behind, or claims a height so much greater, would set the end of a swap alone. */
const HEIGHTS_APART_MAX = 2 * VALID_BLOCKS

/** The greatest of the heights that nodes answered. Throws if they are too far apart. */
function greatestOf(network: string, heights: readonly number[]): number {
  const [least, greatest] = [Math.min(...heights), Math.max(...heights)]
  if (greatest - least > HEIGHTS_APART_MAX)
    throw unavailable(network, `the heights of the nodes are too far apart: ${least} and ${greatest}`)
  return greatest
}

/**
 * The last height that can include a transaction with this recent block. No call tells the height of a block hash, so a valid one
 * counts from now: the proof of an expiry comes later, and never too early. A node that does not answer prevents nothing.
 */
export async function readHeightExpiry(nodes: SolanaNodes, blockhash: string): Promise<Expiry> {
  const states = await nodes.answers(async (node) => {
    const isValid = await isBlockhashValid(node, blockhash)
    // Read after the validity, from the same node, so that the height is at least that of the hash.
    return { isValid, height: await readHeight(node) }
  })
  const height = greatestOf(
    nodes.network,
    states.map((state) => state.height),
  )
  return { by: 'height', at: states.some(({ isValid }) => isValid) ? height + VALID_BLOCKS : height }
}

/** The greatest height of the nodes that answer. */
export const readGreatestHeight = async (nodes: SolanaNodes): Promise<number> =>
  greatestOf(nodes.network, await nodes.answers(readHeight))

/** Least final slot of all nodes. Slots number the blocks everywhere but in an expiry. */
export async function readFinalSlot({ nodes, network }: Context): Promise<number> {
  const slots = (await nodes.askEvery('getSlot', [{ commitment: 'finalized' }])).map(toCount)
  const least = Math.min(...slots)
  if (!Number.isFinite(least)) throw unavailable(network, 'no node replied a slot')
  return least
}
