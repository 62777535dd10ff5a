import { type Asset, type AssetId, nativeId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import { networkFeeEntry, sentEntry, invalidatedEntry } from '../../core/domain/ledger/entries.ts'
import { checkpoint } from '../../core/services/checkpoint.ts'
import { present } from '../../lib/assert.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain, Observation } from '../ports/chain.ts'
import type { Signer } from '../ports/signer.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import type { Attempt, OutgoingTransaction } from '../ports/store/transactions.ts'
import type { ServiceSettings } from '../settings.ts'
import { findGone, type Gone, tellGone, without } from './missing-inputs.ts'
import { alarmsUnderWay, exchangeJobs } from './payment.ts'
import { attendPending } from './rebroadcast-stalled.ts'
import { replaceTransaction } from './replace-transaction.ts'
import { bury, type Death, noteBack, noteVanished } from './reversed-payouts.ts'

export type AdvanceDeps = Readonly<{
  store: Store
  chains: ReadonlyMap<string, Chain>
  assetById(id: AssetId): Asset
  signer: Signer
  settings: ServiceSettings
  log: Log
  /** For metrics. */
  onPaid?(network: string, purpose: Payout['purpose'], event: 'signed' | 'confirmed'): void
}>

/** Blocks after which a transaction that nobody mines is offered more. */
const STUCK_BLOCKS = 20
const RECHECK_MS_MAX = 15_000

type Seen = Readonly<{ attempt: Attempt; observation: Observation }>

/**
 * Follows one signed transaction until it is final: offers the same bytes for as long as no node has them, raises the fee
 * where nobody mines it, and gives the payouts back only where every node proves that it is dead (I-13).
 */
export function createAdvanceTransaction(deps: AdvanceDeps) {
  return async function advanceTransaction(id: string): Promise<void> {
    const transaction = await deps.store.transactions.load(id)
    if (!transaction || transaction.state === 'final' || transaction.state === 'expired') return
    const chain = present(deps.chains.get(transaction.network), `the chain of ${transaction.network}`)
    const newest = present(transaction.attempts.at(-1), 'an attempt')
    if (!newest.sent) return offer(deps, chain, transaction, newest)
    const seen = await observe(deps, chain, transaction)
    checkpoint('transaction.observed')
    const included = seen.find(({ observation }) => observation.kind === 'included')
    if (included) return follow(deps, chain, transaction, included)
    const dead = seen.length > 0 && seen.every(({ observation }) => observation.kind === 'invalidated')
    if (dead && transaction.state === 'confirmed')
      return mourn(deps, chain, transaction, { proof: { proof: proofOf(seen) }, failedFor: null })
    if (dead) return expire(deps, transaction, seen)
    if (transaction.state === 'confirmed') await noteVanished(deps, transaction)
    const pending = seen.flatMap(({ attempt, observation }) => (observation.kind === 'pending' ? [attempt] : []))
    const gone = pending.length > 0 ? null : await findGone(deps, chain, transaction, newest)
    if (gone) return rescue(deps, chain, transaction, newest, gone)
    if (isStuck(deps, chain, transaction, newest, pending.length > 0)) return raiseFee(deps, chain, transaction, newest)
    if (pending.length === 0) return offer(deps, chain, transaction, newest)
    await attendPending(deps, chain, transaction, pending)
    return checkAgain(deps, transaction, chain, null)
  }
}

async function observe(
  { store }: AdvanceDeps,
  chain: Chain,
  { network, conflictKey, conflictingTxHash: rival, attempts }: OutgoingTransaction,
): Promise<readonly Seen[]> {
  const seen: Seen[] = []
  for (const attempt of attempts) {
    const { txHash, raw, intent } = attempt
    const spent = intent.family === 'bitcoin' ? intent.inputs.map(({ outpoint }) => outpoint) : []
    const origins = spent.length === 0 ? [] : await store.recovery.findAncestorSpends(network, spent)
    seen.push({ attempt, observation: await chain.sender.observe({ txHash, conflictKey, raw, ancestorSpends: origins, conflictingTxHash: rival }) })
  }
  return seen
}

/** The stored bytes, to every node. Whatever they answer, only a look at the chain says what became of it (I-15). */
async function offer(
  deps: AdvanceDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  attempt: Attempt,
): Promise<void> {
  if (!(await mayLeave(deps, transaction, attempt))) return checkAgain(deps, transaction, chain, null)
  checkpoint('transaction.before-broadcast')
  const result = await chain.sender.broadcast(attempt.raw)
  checkpoint('transaction.broadcast')
  const { id, network } = transaction
  deps.log.info({ network, transactionId: id, txHash: attempt.txHash, result: result.kind }, 'transaction broadcast')
  if (result.kind === 'rejected') {
    deps.log.warn({ network, transactionId: id, txHash: attempt.txHash, reason: result.reason }, 'broadcast rejected')
    await deps.store.alarms.raise(`broadcast:${id}`, 'nodes refuse a signed transaction', {
      txHash: attempt.txHash,
      reason: result.reason,
    })
  } else {
    await deps.store.alarms.clear(`broadcast:${id}`)
  }
  await checkAgain(deps, transaction, chain, attempt.id)
}

/** The signer's own memory has the last word: a database that came back from yesterday does not pay again. */
async function mayLeave(
  deps: AdvanceDeps,
  { id, network, wallet, from, conflictKey }: OutgoingTransaction,
  { intent, txHash, raw, feeUnits }: Attempt,
): Promise<boolean> {
  try {
    await deps.signer.release({ network, txHash, raw, intent, feeUnits, conflictKey, wallet, from })
    return true
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    deps.log.error({ network, transactionId: id, txHash, err: error }, 'signer does not release a transaction')
    await deps.store.alarms.raise(`release:${id}`, 'the signer has released these payouts before', {
      network,
      txHash,
    })
    return false
  }
}

async function checkAgain(
  deps: AdvanceDeps,
  transaction: OutgoingTransaction,
  chain: Chain,
  sentAttemptId: string | null,
): Promise<void> {
  const waitMs = Math.min(Math.max(chain.network.blockTimeMs * 2, 1_000), RECHECK_MS_MAX)
  await deps.store.transactions.settle(transaction.id, {
    kind: 'check',
    at: new Date(transaction.now.getTime() + waitMs),
    sentAttemptId,
  })
}

/** It is in a block: counted once it is deep enough on every node, and followed until it is final. */
async function follow(
  deps: AdvanceDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  { attempt, observation }: Seen,
): Promise<void> {
  if (observation.kind !== 'included') return
  const head = await chain.reader.head()
  const depth = head.height - observation.block.height + 1
  const { confirmations, finalityBlocks, blockTimeMs } = chain.network
  if (depth < confirmations || !(await chain.reader.agrees(observation.block)))
    return checkAgain(deps, transaction, chain, attempt.id)
  if (!observation.ok) {
    if (depth < finalityBlocks) return checkAgain(deps, transaction, chain, attempt.id)
    return transaction.state === 'confirmed'
      ? mourn(deps, chain, transaction, {
          proof: { reverted: observation.block.hash, height: observation.block.height },
          failedFor: observation.feeUnits ?? 0n,
        })
      : fail(deps, chain, transaction, observation)
  }
  if (transaction.state === 'confirmed') {
    await noteBack(deps, transaction, attempt.txHash)
    if (depth < finalityBlocks) return checkAgain(deps, transaction, chain, attempt.id)
    return deps.store.transactions.settle(transaction.id, { kind: 'final' })
  }
  checkpoint('transaction.confirming')
  await deps.store.transaction(async (tx) => {
    await tx.reversedPayouts.lockExchanges(transaction.id, 'shown')
    const current = await tx.transactions.load(transaction.id)
    if (current?.state !== 'live') return
    const payouts = await tx.payouts.listByTransaction(transaction.id)
    await tx.transactions.settle(transaction.id, {
      kind: 'confirmed',
      attemptId: attempt.id,
      checkAt: new Date(current.now.getTime() + blockTimeMs * finalityBlocks),
    })
    await tx.payouts.confirm(transaction.id)
    if (payouts.some(({ isReversed: lost }) => lost)) await tx.reversedPayouts.restore(transaction.id, attempt.txHash)
    for (const payout of payouts)
      await tx.ledger.post(sentEntry({ ...payout, payoutId: payout.id, transactionId: transaction.id }))
    await postFee(tx, chain, transaction, payouts, observation.feeUnits ?? attempt.feeUnits)
    await tx.alarms.clear(...alarmsUnderWay(transaction.id))
    await tx.wake(exchangeJobs(payouts))
    for (const { purpose } of payouts) deps.onPaid?.(transaction.network, purpose, 'confirmed')
  })
  checkpoint('transaction.confirmed')
  deps.log.info(
    { network: transaction.network, transactionId: transaction.id, txHash: attempt.txHash, depth },
    'transaction confirmed',
  )
}

/** What the network took. A sweep's cost is what did not arrive of what lay on the deposit address. */
async function postFee(
  tx: StoreTx,
  chain: Chain,
  transaction: OutgoingTransaction,
  payouts: readonly Payout[],
  feeUnits: bigint,
): Promise<void> {
  const native = nativeId(chain.network)
  const [first] = payouts
  if (transaction.from.branch !== 'deposit' || first === undefined)
    return void (await tx.ledger.post(networkFeeEntry(transaction.id, 'wallet', native, feeUnits)))
  // A token's sweep is paid from gas that was spent when it was supplied.
  if (first.assetId !== native) return
  const cost = (await tx.wallets.sweptUnits(first.id)) - first.units
  await tx.ledger.post(networkFeeEntry(transaction.id, 'deposits', native, cost))
}

/** Mined and reverted, finally: the nonce is spent, nothing was paid. A person looks before it is paid another way. */
async function fail(
  deps: AdvanceDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  observation: Extract<Observation, { kind: 'included' }>,
): Promise<void> {
  const native = nativeId(chain.network)
  await giveBack(
    deps,
    transaction,
    { reverted: observation.block.hash, height: observation.block.height },
    'REVERTED',
    async (tx) => {
      // A deposit address paid with the gas that it was supplied with, which is spent already.
      if (transaction.from.branch !== 'deposit')
        await tx.ledger.post(networkFeeEntry(transaction.id, 'wallet', native, observation.feeUnits ?? 0n))
    },
  )
}

/** It had its confirmations and can never have them again: deeper than anything this network was trusted with. */
async function mourn(deps: AdvanceDeps, chain: Chain, transaction: OutgoingTransaction, death: Death): Promise<void> {
  await bury(deps, chain, transaction, death)
  // Where the books cannot take it back yet.
  await checkAgain(deps, transaction, chain, null)
}

const proofOf = (seen: readonly Seen[]) =>
  seen.map(({ attempt, observation }) => ({
    txHash: attempt.txHash,
    ...(observation.kind === 'invalidated' ? observation.proof : {}),
  }))

const expire = (deps: AdvanceDeps, transaction: OutgoingTransaction, seen: readonly Seen[]): Promise<void> =>
  giveBack(deps, transaction, { proof: proofOf(seen) }, null, async () => undefined)

/** A further leg's refund is what its order took; a first one's gives back what came in, and its order was taken back. */
const isOfAnOrder = ({ purpose, leg }: Payout): boolean => purpose === 'payout' || (purpose === 'refund' && leg !== 0)

async function giveBack(
  deps: AdvanceDeps,
  transaction: OutgoingTransaction,
  proof: Record<string, unknown>,
  attention: string | null,
  also: (tx: StoreTx) => Promise<unknown>,
): Promise<void> {
  await deps.store.transaction(async (tx) => {
    const current = await tx.transactions.load(transaction.id)
    // What was proven was proven of the attempts that were looked at.
    if (current?.state !== 'live' || current.attempts.length !== transaction.attempts.length) return
    const payouts = await tx.payouts.listByTransaction(transaction.id)
    // The signer before the commit: it only then signs these payouts anew, and a repeat of this is harmless. Under the
    // lock: whoever comes late must not make it forget the transaction that has taken this one's place.
    await deps.signer.expire(
      payouts.map(({ id }) => id),
      proof,
    )
    await tx.transactions.settle(transaction.id, { kind: 'expired', proof })
    await tx.payouts.requeue(transaction.id, attention)
    await tx.outflow.release(payouts.map(({ id }) => id))
    for (const payout of payouts) {
      await tx.ledger.post(invalidatedEntry({ ...payout, payoutId: payout.id, transactionId: transaction.id }))
      // The coins are back in the wallet, and promised as they were before.
      if (payout.orderId !== null && payout.exchangeId !== null && isOfAnOrder(payout))
        await tx.inventory.reserve(payout.orderId, payout.assetId, payout.units, payout.exchangeId, null)
      // No execution shows it to a person.
      if (attention !== null && (payout.exchangeId === null || payout.isReversed))
        await tx.alarms.raise(`payout:${payout.id}`, 'a payout of the house failed on its chain', {
          code: attention,
          purpose: payout.purpose,
          transactionId: transaction.id,
        })
    }
    await also(tx)
    await tx.alarms.raise(`dead:${transaction.id}`, 'a signed transaction is dead', {
      network: transaction.network,
      attention,
    })
    await tx.wake([{ kind: 'dispatch', id: transaction.network }, ...exchangeJobs(payouts)])
  })
  deps.log.warn({ network: transaction.network, transactionId: transaction.id, attention }, 'transaction is dead')
}

function isStuck(
  deps: AdvanceDeps,
  { network }: Chain,
  { now, state }: OutgoingTransaction,
  newest: Attempt,
  pending: boolean,
): boolean {
  if (state !== 'live' || network.bitcoin?.replaceable === false) return false
  if (network.replaces === 'unseen' && pending) return false
  return (
    now.getTime() - newest.createdAt.getTime() > Math.max(deps.settings.stuckMs, network.blockTimeMs * STUCK_BLOCKS)
  )
}

/** The same conflict key with a higher fee: at most one of the two can ever confirm (I-12). */
async function raiseFee(
  deps: AdvanceDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  newest: Attempt,
): Promise<void> {
  const code = await replaceTransaction(deps, chain, transaction, newest, newest.intent)
  if (code !== null) await giveUpRaising(deps, chain, transaction, code)
}

/** Coins that it spends left the chain: without them, where another of its coins holds the two apart. */
async function rescue(
  deps: AdvanceDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  newest: Attempt,
  gone: Gone,
): Promise<void> {
  for (const raw of transaction.fundingTransactions) await chain.sender.broadcast(raw)
  const intent = without(newest.intent, gone)
  const code = intent === null ? gone.kind : await replaceTransaction(deps, chain, transaction, newest, intent)
  if (code === null) return
  await tellGone(deps, transaction, gone, code)
  await offer(deps, chain, transaction, newest)
}

/** The same bytes go on being offered; a person is told. */
async function giveUpRaising(
  deps: AdvanceDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  code: string,
): Promise<void> {
  await deps.store.alarms.raise(`stuck:${transaction.id}`, 'a transaction waits and its fee cannot be raised', {
    code,
  })
  await offer(deps, chain, transaction, present(transaction.attempts.at(-1), 'an attempt'))
}
