import { toBase64 } from '@mysten/sui/utils'
import { AppError } from '../../core/domain/errors.ts'
import type { Network } from '../../core/domain/network.ts'
import { FEE_PPM } from '../../core/domain/percent.ts'
import type { BlockRef } from '../../core/ports/chain.ts'
import { largest, smallest } from '../../lib/bigint.ts'
import type { Expiry } from '../../swap/domain/expiry.ts'
import type { TransactionObservation } from '../../swap/domain/swap.ts'
import type {
  FoundFees,
  PaidFee,
  Payment,
  SentTransaction,
  SignedTransaction,
  SwapBroadcast,
} from '../../swap/ports/swap-chain.ts'
import { firstFound } from '../chains/shared/agreement.ts'
import { type Execution, type SuiNode, statusOf } from './node.ts'
import { describeExecuted, describeReadable, parseSigned, type SignedBytes } from './read-signed.ts'
import { changeOf, receivedIn } from './received.ts'

const disagree = (what: string): AppError => new AppError('NETWORK_UNAVAILABLE', `the nodes disagree about ${what}`)

/** Checkpoints that are read at the same time. */
const AT_ONCE = 16

/** All of it that a node could invent. */
function textOf({ bytes, failure, effectsDigest, gas, checkpoint, changes }: Execution): string {
  const balances = changes.map(({ address, coinType, units }) => `${address} ${coinType} ${units}`).sort()
  const cost = [gas.computation, gas.storage, gas.rebate]
  return [toBase64(bytes), failure === null, effectsDigest, cost, checkpoint, balances].join(' ')
}

/**
 * Observes a swap. Throws while a node no longer reports it in the known checkpoint and no node has another checkpoint there: a node that
 * lags is no reorganisation.
 */
export async function observe(
  nodes: readonly SuiNode[],
  hash: string,
  sent: SentTransaction | undefined,
): Promise<TransactionObservation> {
  const observed = await observeNow(nodes, hash, sent?.expiry)
  const known = sent?.block ?? null
  if (observed.kind === 'included' || known === null || (await isReorged(nodes, known))) return observed
  const lag = `not every node has ${hash} in checkpoint ${known.height} now, and none has another checkpoint there`
  throw new AppError('NETWORK_UNAVAILABLE', lag)
}

/** Whether a node has another checkpoint at the height. A node below that height proves nothing. */
async function isReorged(nodes: readonly SuiNode[], { height, hash }: BlockRef): Promise<boolean> {
  const checkpoints = await Promise.all(nodes.map((node) => node.readCheckpoint(height)))
  return checkpoints.some((one) => one !== null && one.hash !== hash)
}

/** Included only if every node has it in the same checkpoint, with the same effects. */
async function observeNow(
  nodes: readonly SuiNode[],
  hash: string,
  expiry: Expiry | undefined,
): Promise<TransactionObservation> {
  // The tips first: a transaction that is missing afterwards was in no checkpoint up to them.
  const tips = await Promise.all(nodes.map((node) => node.readTip()))
  const found = await Promise.all(nodes.map((node) => node.findTransaction(hash)))
  const [first = null] = found
  if (found.every((one) => one === null)) {
    if (expiry?.by !== 'epoch' || tips.some(({ epoch }) => epoch <= expiry.at)) return { kind: 'unseen' }
    // Read after the transaction, to notice what a node prunes meanwhile.
    await requireHistory(nodes, expiry.at - 1)
    return { kind: 'expired' }
  }
  if (first === null || found.some((one) => one === null || one.checkpoint === null)) return { kind: 'pending' }
  if (found.some((one) => one === null || textOf(one) !== textOf(first))) throw disagree(`the transaction ${hash}`)
  const height = first.checkpoint ?? 0
  const checkpoints = await Promise.all(nodes.map((node) => node.readCheckpoint(height)))
  const [block] = checkpoints
  if (!block || checkpoints.some((one) => one?.hash !== block.hash)) throw disagree(`checkpoint ${height}`)
  const ok = first.failure === null
  const described = describeReadable(first.bytes)
  const action = ok ? described?.action : null
  const paid = action?.kind === 'swap' ? receivedIn(first, { ...action, account: described?.signer ?? '' }) : null
  const head = Math.min(...tips.map((tip) => tip.height))
  return {
    ...{ kind: 'included', block: { height, hash: block.hash }, confirmations: Math.max(1, head - height + 1), ok },
    ...{ received: paid?.received ?? null, fee: paid?.fee ?? null },
  }
}

/**
 * Requires the checkpoints since the beginning of an epoch: a node that has pruned a transaction answers as one that never had it. A swap
 * is built in the epoch of its expiry or in the one before it.
 */
async function requireHistory(nodes: readonly SuiNode[], since: number): Promise<void> {
  for (const node of nodes) {
    const height = await node.readLowestHeight()
    const lowest = height === 0 ? null : await node.readCheckpoint(height)
    if (height === 0 || (lowest !== null && lowest.epoch < since)) continue
    const pruned = `${node.name} has no checkpoints below ${height} and may lack some of epoch ${since}: raise its retention`
    throw new AppError('NETWORK_UNAVAILABLE', pruned)
  }
}

/** Finds a transaction at the first node that has it. */
export const findTransaction = (nodes: readonly SuiNode[], hash: string): Promise<SignedTransaction | null> =>
  firstFound(nodes, async (node) => {
    const found = await node.findTransaction(hash)
    const described = found === null ? null : describeExecuted(found.bytes)
    if (described !== null && described.hash !== hash) throw disagree(`the bytes of ${hash}`)
    return described
  })

/** Codes of answers by which a validator refuses; after other failures the transaction may still be executed. */
const refusals: ReadonlySet<string | undefined> = new Set([
  ...['INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'NOT_FOUND', 'ABORTED', 'OUT_OF_RANGE'],
])

/** Whether a node has an owned object of the transaction no more, or in a later version: another transaction has used it. */
async function isUsedUp(node: SuiNode, { data }: SignedBytes): Promise<boolean> {
  const inputs = data.kind.ProgrammableTransaction?.inputs ?? []
  const owned = inputs.flatMap(({ Object: object }) => object?.ImmOrOwnedObject ?? [])
  const refs = [...data.gasData.payment, ...owned]
  const objects = await node.readObjects(refs.map(({ objectId }) => objectId))
  return refs.some(({ version }, index) => (objects[index]?.version ?? NO_VERSION) > BigInt(version))
}

/** Above every version. */
const NO_VERSION = 2n ** 64n

/** Sends to every node. A node executes at once; a repeat of an executed transaction is accepted. */
export async function broadcast(nodes: readonly SuiNode[], raw: string): Promise<SwapBroadcast> {
  const signed = parseSigned(raw)
  const answers = await Promise.all(
    nodes.map((node) =>
      node.execute(signed.bytes, signed.signatures).then(
        () => null,
        (error: unknown) => ({ node, error: error as Error, isRefusal: refusals.has(statusOf(error)) }),
      ),
    ),
  )
  if (answers.includes(null)) return { kind: 'accepted' }
  const failures = answers.flatMap((answer) => answer ?? [])
  const [failure] = failures
  const reason = failures.map(({ error }) => error.message).join('; ')
  if (failure === undefined || !failures.every(({ isRefusal }) => isRefusal)) return { kind: 'unknown', reason }
  const { epoch } = await failure.node.readTip()
  const last = signed.data.expiration.Epoch
  if (last !== undefined && epoch > Number(last)) return { kind: 'rejected', reason, because: 'expired' }
  // A node that is behind does not have a new coin yet.
  const used = await Promise.all(nodes.map((node) => isUsedUp(node, signed)))
  return { kind: 'rejected', reason, because: used.every(Boolean) ? 'nonce-used' : 'other' }
}

/** The newest height that is final for us. A certified checkpoint is final; the depth covers a node that lies. */
export async function readFinalHeight(nodes: readonly SuiNode[], { finalityBlocks }: Network): Promise<number> {
  const tips = await Promise.all(nodes.map((node) => node.readTip()))
  return Math.max(0, Math.min(...tips.map(({ height }) => height)) - finalityBlocks)
}

export async function readPayment(
  nodes: readonly SuiNode[],
  hash: string,
  { token, from, to }: Readonly<{ token: string; from: string; to: string }>,
): Promise<Payment | null> {
  const observed = await observe(nodes, hash, undefined)
  if (observed.kind !== 'included' || !observed.ok) return null
  const execution = await nodes[0]?.findTransaction(hash)
  if (!execution) return null
  const signer = describeReadable(execution.bytes)?.signer
  if (signer === undefined) return null
  const units = smallest(-changeOf(execution, from, token, signer), changeOf(execution, to, token, signer))
  return { units: largest(units, 0n), confirmations: observed.confirmations }
}

/** Most transactions are of others. They are not parsed: any bytes that the chain accepts must not stop the search. */
function feeIn(execution: Execution, height: number, feeTo: ReadonlySet<string>): PaidFee[] {
  if (execution.failure !== null || !execution.changes.some(({ address }) => feeTo.has(address))) return []
  const described = describeReadable(execution.bytes)
  if (described === null) return []
  const { hash, signer, action } = described
  if (action?.kind !== 'swap' || action.feeTo === null || !feeTo.has(action.feeTo)) return []
  // Anyone can send a transaction in our form, with any rate and with an output that the fee address does not get.
  if (action.feePpm > FEE_PPM.most) return []
  const { fee } = receivedIn(execution, { ...action, account: signer })
  if (fee <= 0n) return []
  const { ref, tokenOut: token } = action
  return [{ hash, logIndex: 0, height, ref, sender: signer, token, units: fee, feeTo: action.feeTo, executor: null }]
}

type Query = Readonly<{ from: number; to: number; feeTo: readonly string[] }>

/** Reads every checkpoint of the range at every node. */
export async function listPaidFees(nodes: readonly SuiNode[], { from, to, feeTo }: Query): Promise<FoundFees> {
  if (feeTo.length === 0) return { fees: [], to }
  const last = await Promise.all(nodes.map((node) => node.readCheckpoint(to)))
  if (last.some((one) => one === null || one.hash !== last[0]?.hash)) throw disagree(`checkpoint ${to}`)
  const accounts = new Set(feeTo)
  const fees: PaidFee[] = []
  for (let height = from; height <= to; height += AT_ONCE) {
    const heights = Array.from({ length: Math.min(AT_ONCE, to - height + 1) }, (_, index) => height + index)
    const lists = await Promise.all(heights.map((one) => listAgreedFees(nodes, one, accounts)))
    fees.push(...lists.flat())
  }
  return { fees, to }
}

/** The fees of a checkpoint. A node that leaves one out, or invents one, would otherwise be believed for good. */
async function listAgreedFees(nodes: readonly SuiNode[], height: number, feeTo: ReadonlySet<string>) {
  const [first = [], ...others] = await Promise.all(nodes.map((node) => listFeesAt(node, height, feeTo)))
  const text = textOfFees(first)
  if (others.some((one) => textOfFees(one) !== text)) throw disagree(`the fees in checkpoint ${height}`)
  return first
}

async function listFeesAt(node: SuiNode, height: number, feeTo: ReadonlySet<string>): Promise<readonly PaidFee[]> {
  const executions = await node.readTransactions(height)
  if (executions === null) throw new AppError('NETWORK_UNAVAILABLE', `${node.name} has no checkpoint ${height}`)
  return executions.flatMap((execution) => feeIn(execution, height, feeTo))
}

const textOfFees = (fees: readonly PaidFee[]): string =>
  fees.map(({ hash, ref, sender, token, units, feeTo }) => [hash, ref, sender, token, units, feeTo].join()).join(' ')
