import { type Asset, type AssetId, nativeId } from '../../core/domain/asset.ts'
import { AppError, type ErrorCode } from '../../core/domain/errors.ts'
import { isUtxoFamily } from '../../core/domain/network.ts'
import { type FeeRate, sweepRate } from '../../core/ports/chain.ts'
import { assert } from '../../lib/assert.ts'
import { largest } from '../../lib/bigint.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain, UnsignedTransaction } from '../ports/chain.ts'
import { AlreadyReleasedError, isCancel, type Signer, type SignIntent } from '../ports/signer.ts'
import type { Utxo } from '../ports/spend.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { Store, StoreTx } from '../ports/store/store.ts'
import type { Attempt, OutgoingTransaction } from '../ports/store/transactions.ts'
import { type ServiceSettings, stuckAfterMs } from '../settings.ts'
import { isOwnFeeExcessive } from './fee-guard.ts'
import { learnInvalidation } from './learn-invalidation.ts'
import { exchangeJobs, pauseScopes, toPayment, toStoredPayout, wrapBuildError } from './payment.ts'
import { listSpendable } from './select-batch.ts'
import { supplyGas } from './supply-gas.ts'
import { sweepFee } from './sweep-fee.ts'

type ReplaceDeps = Readonly<{
  store: Store
  signer: Signer
  assetById(id: AssetId): Asset
  settings: ServiceSettings
  log: Log
}>

/** A transaction that offers more than this many times the current fee rate is not waiting because of its fee. */
const FEE_RISE_MAX = 4n

/** Why a transaction was not signed again although nothing failed. docs/guides/operate.md explains each at `stuck:…`. */
export const replaceRefusals = ['FEE_HIGH_ENOUGH', 'CHANGE_SPENT', 'DEPOSIT_NOT_COUNTED', 'NOT_WORTH_ITS_FEE'] as const
export type NotReplaced = (typeof replaceRefusals)[number] | ErrorCode

/**
 * Signs another attempt that spends what `intent` spends (the intent of the newest attempt, or a part of it), pays the same
 * and offers a higher fee. It spends the conflict key of all earlier attempts, so at most one of them can confirm (I-12).
 * `signed` also if another worker was faster; else the code of the reason.
 */
export async function replaceTransaction(
  deps: ReplaceDeps,
  chain: Chain,
  transaction: OutgoingTransaction,
  newest: Attempt,
  intent: SignIntent,
): Promise<'signed' | NotReplaced> {
  const fee = await chain.reader.feeRate()
  // An earlier nonce or a node is in the way; a higher fee would not help.
  if (intent.family === 'evm' && intent.maxFeePerGas > fee.rate * FEE_RISE_MAX) return 'FEE_HIGH_ENOUGH'
  try {
    const native = deps.assetById(nativeId(chain.network))
    const gasUnits =
      transaction.from.branch === 'deposit' && intent.family === 'evm'
        ? await chain.reader.balance(transaction.wallet, native)
        : null
    const affordable = gasUnits === null ? fee : await fitSweep(deps, chain, transaction, { intent, fee, gasUnits })
    if (affordable === null) return 'INSUFFICIENT_LIQUIDITY'
    const hashes = transaction.attempts.map(({ txHash }) => txHash)
    const evictedUnits = (await chain.reader.evictedFees?.(hashes)) ?? 0n
    const replacement: Replacement = { newest, intent, fee: affordable, gasUnits, evictedUnits }
    const prebuilt = chain.sender.buildsSlowly
      ? await buildReplacement(deps, chain, transaction, replacement, {
          payouts: await deps.store.payouts.listByTransaction(transaction.id),
          utxos: [],
          changeIndex: 0,
        })
      : null
    return await deps.store.transaction((tx) => signReplacement(deps, tx, chain, transaction, replacement, prebuilt))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error instanceof AlreadyReleasedError && (await learnInvalidation(deps, chain, error)))
      return replaceTransaction(deps, chain, transaction, newest, intent)
    // Signing would pay twice: a bug, or manipulation. The alarm stays for the operator.
    if (error instanceof AlreadyReleasedError)
      await deps.store.alarms.raise(`release:${error.payoutId}`, 'the signer released this payout before', {
        network: transaction.network,
        transactionId: transaction.id,
        txHash: newest.txHash,
        payoutId: error.payoutId,
      })
    return error.code
  }
}

/**
 * The fee rate of another attempt of a sweep: what its deposit address can pay, as at the first one. It has to pay the next
 * block, and more than the attempt before. An address that cannot gets gas, and null is returned until it has come.
 */
async function fitSweep(
  { store }: ReplaceDeps,
  chain: Chain,
  { wallet }: OutgoingTransaction,
  { intent, fee, gasUnits }: Readonly<{ intent: SignIntent; fee: FeeRate; gasUnits: bigint }>,
): Promise<FeeRate | null> {
  if (intent.family !== 'evm') return fee
  const { gasLimit, maxFeePerGas, pay } = intent
  const l1Fee = fee.l1Fee ?? 0n
  const freeUnits = gasUnits - (pay.asset.contract === null ? pay.units : 0n)
  // All clients accept this raise.
  const raised = (maxFeePerGas * 114n) / 100n + 1n
  const fitting = sweepFee(fee, freeUnits, gasLimit)
  if (fitting !== null && freeUnits >= gasLimit * raised + l1Fee) return fitting
  await supplyGas(store, chain, wallet, gasLimit * largest(raised, sweepRate(fee)) + l1Fee - freeUnits)
  return null
}

/** `gasUnits`: native balance of a deposit address, which pays for its own sweep; null for other wallets. */
type Replacement = Readonly<{
  newest: Attempt
  intent: SignIntent
  fee: FeeRate
  gasUnits: bigint | null
  /** What the newest attempt and all that depend on it pay: somebody may have spent an output of ours with a child (M26). */
  evictedUnits: bigint
  cancels?: boolean
}>

async function signReplacement(
  deps: ReplaceDeps,
  tx: StoreTx,
  chain: Chain,
  transaction: OutgoingTransaction,
  replacement: Replacement,
  prebuilt: UnsignedTransaction | null,
): Promise<'signed' | NotReplaced> {
  const { newest, intent } = replacement
  const current = await tx.transactions.load(transaction.id)
  if (current?.state !== 'live' || current.attempts.at(-1)?.id !== newest.id) return 'signed'
  const payouts = await tx.payouts.listByTransaction(transaction.id)
  const doOthersWait = canBlockOthers(transaction, replacement, payouts)
  const pauses = await tx.pauses.active(payouts.flatMap(pauseScopes))
  if (pauses.some((scope) => !(doOthersWait && isPartnerOrAssetScope(scope))))
    throw new AppError('NETWORK_PAUSED', 'nothing is signed in a paused scope')
  const isBacked = await tx.payouts.haveCreditedDeposits(transaction.id)
  const cancels = isCancel(intent) || (!isBacked && (await isToBeCancelled(deps, tx, chain, transaction, replacement)))
  const isBatchReplacement = doOthersWait && payouts.length > 1
  if (!isBacked && !cancels && !isBatchReplacement) return 'DEPOSIT_NOT_COUNTED'
  // Its change would never exist, and the payments that spend it could not confirm.
  const change = intent === newest.intent ? changeOutpoint(newest) : null
  if (change !== null && !(await tx.transactions.reserveOwnOutput(transaction.id, change))) return 'CHANGE_SPENT'
  const utxos = chain.network.bitcoin ? await listSpendable(tx.transactions, chain) : []
  const changeIndex = await changeIndexFor(tx, chain, intent)
  const unsigned =
    prebuilt ??
    (await buildReplacement(deps, chain, transaction, { ...replacement, cancels }, { payouts, utxos, changeIndex }))
  const nativeUnits = payouts.reduce((sum, one) => sum + (one.assetId === nativeId(chain.network) ? one.units : 0n), 0n)
  if (replacement.gasUnits !== null && replacement.gasUnits < nativeUnits + unsigned.feeUnits)
    return 'INSUFFICIENT_LIQUIDITY'
  if (isOwnFeeExcessive(deps.settings, payouts, unsigned.feeUnits)) return 'NOT_WORTH_ITS_FEE'
  assert(unsigned.conflictKey === transaction.conflictKey, 'a replacement spends the conflict key of all attempts')
  const signed = await wrapBuildError(() => deps.signer.sign(unsigned.intent, payouts.map(toStoredPayout)))
  await tx.transactions.addAttempt(transaction.id, {
    ...signed,
    intent: unsigned.intent,
    feeUnits: unsigned.feeUnits,
    outpoints: isUtxoFamily(chain.network) ? unsigned.resources : [],
  })
  await tx.wake([{ kind: 'transaction', id: transaction.id }, ...exchangeJobs(payouts)])
  deps.log.info(
    { network: transaction.network, transactionId: transaction.id, replaces: newest.txHash, txHash: signed.txHash },
    cancels ? 'transaction cancelled: zero to ourselves with its nonce' : 'transaction replaced',
  )
  return 'signed'
}

/**
 * Others wait until this transaction is mined: later nonces of the hot wallet, or the rest of a batch. Its replacement pays
 * the same from the same and adds no risk, so no pause of single payouts may block them, and no lost deposit a batch (M13).
 */
function canBlockOthers(
  { from }: OutgoingTransaction,
  { newest, intent }: Replacement,
  payouts: readonly Payout[],
): boolean {
  const hasLaterNonces = intent.family === 'evm' && from.branch === 'hot'
  return intent === newest.intent && (hasLaterNonces || payouts.length > 1)
}

/**
 * Whether the nonce is used up without its payout (I-38): the deposit left the chain, so a higher fee would pay for nothing,
 * and a later nonce has waited for as long as a transaction may. A later attempt of a cancelled transaction is a cancel, too.
 */
async function isToBeCancelled(
  { settings }: ReplaceDeps,
  tx: StoreTx,
  { network }: Chain,
  { id, from }: OutgoingTransaction,
  { intent }: Replacement,
): Promise<boolean> {
  return (
    intent.family === 'evm' &&
    from.branch === 'hot' &&
    (await tx.transactions.hasNonceWaited(id, stuckAfterMs(network, settings.stuckMs)))
  )
}

/** Change is the output behind the payments. */
const changeOutpoint = ({ intent, txHash }: Attempt): string | null =>
  intent.family === 'bitcoin' && intent.change !== null ? `${txHash}:${intent.pays.length}` : null

/** A pause of one partner or one asset. The others stop every signature of a network, also a replacement. */
const isPartnerOrAssetScope = (scope: string): boolean => scope.startsWith('partner:') || scope.startsWith('asset:')

function buildReplacement(
  deps: ReplaceDeps,
  chain: Chain,
  { from }: OutgoingTransaction,
  { newest, intent, fee, evictedUnits, cancels }: Replacement,
  {
    payouts,
    utxos,
    changeIndex,
  }: Readonly<{
    payouts: readonly Payout[]
    utxos: readonly Utxo[]
    changeIndex: number
  }>,
): Promise<UnsignedTransaction> {
  return wrapBuildError(() =>
    chain.sender.build({
      payments: payouts.map((payout) => toPayment(deps, payout)),
      from,
      fee,
      utxos,
      sweepAll: false,
      ...(cancels === true ? { cancels } : {}),
      changeIndex,
      nonce: intent.family === 'evm' ? intent.nonce : null,
      gasLimit: intent.family === 'evm' ? intent.gasLimit : null,
      replaces: { intent, feeUnits: newest.feeUnits, evictedUnits },
    }),
  )
}

/** A replacement keeps the change address. If there was no change, it gets a new one, so that it can have change. */
async function changeIndexFor(tx: StoreTx, chain: Chain, intent: SignIntent): Promise<number> {
  if (intent.family !== 'bitcoin') return 0
  if (intent.change !== null) return intent.change.path.index
  const index = await tx.transactions.nextChangeIndex()
  await tx.transactions.registerChange(chain.network.id, index, chain.addresses.change(index))
  return index
}
