import { type Asset, type AssetId, nativeId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import { staysInWallet } from '../../core/domain/payout-purpose.ts'
import type { FeeRate } from '../../core/ports/chain.ts'
import type { Log } from '../../lib/log.ts'
import type { Chain, UnsignedTransaction } from '../ports/chain.ts'
import { AlreadyReleasedError, OutflowLimitError, type SignedTransaction, type Signer } from '../ports/signer.ts'
import type { Utxo } from '../ports/spend.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { StoreTx } from '../ports/store/store.ts'
import type { CheckDeps } from './check-payouts.ts'
import { checkFee, ExcessiveFeeError } from './fee-guard.ts'
import { holdForSignerLimit, postponeForFee, postponeForFunds, refusePayout } from './hold-payouts.ts'
import { toPayment, toStoredPayout, wrapBuildError } from './payment.ts'
import { type Prebuilt, takePrebuilt } from './prebuild.ts'

export type BuildDeps = Readonly<{ assetById(id: AssetId): Asset; signer: Signer; log: Log }>

/** Payouts for one transaction, oldest first, with what was read to build it. */
export type Batch = Readonly<{
  payouts: readonly Payout[]
  fee: FeeRate
  gasLimit: bigint | null
  /** Native units of a deposit address that pays for its own sweep; null for other wallets. */
  gasUnits: bigint | null
  nonce: number
  wallet: string
  /** The transaction of exactly these payouts, where building is slow; null elsewhere. */
  prebuilt: Prebuilt | null
}>

type BuiltBatch = Readonly<{
  unsigned: UnsignedTransaction
  signed: SignedTransaction
  payouts: readonly Payout[]
}>

/**
 * Builds and signs a transaction for the batch. Halves the number of payouts until the wallet covers them; after any other
 * refusal it tries the oldest payout alone, and holds it if it is refused again. Null = nothing is signed now.
 */
export async function buildBatch(
  deps: BuildDeps & CheckDeps,
  tx: StoreTx,
  chain: Chain,
  batch: Batch,
  utxos: readonly Utxo[],
): Promise<BuiltBatch | null> {
  const [oldest] = batch.payouts
  if (!oldest || (batch.gasLimit === null && !coverAny(utxos, batch.payouts))) {
    await postponeForFunds(deps, tx, chain, batch.payouts)
    return null
  }
  const changeIndex = batch.gasLimit === null ? await tx.transactions.nextChangeIndex() : null
  let count = batch.payouts.length
  while (count > 0) {
    try {
      const payouts = batch.payouts.slice(0, count)
      const built = await buildAndSign(deps, tx, chain, { ...batch, payouts }, { utxos, changeIndex: changeIndex ?? 0 })
      if (changeIndex !== null)
        await tx.transactions.registerChange(chain.network.id, changeIndex, chain.addresses.change(changeIndex))
      return built
    } catch (error) {
      // Whether another transaction may pay is asked outside of this database transaction.
      if (error instanceof AlreadyReleasedError) throw error
      if (!(error instanceof AppError) || error.retryable) throw error
      if (error instanceof ExcessiveFeeError) {
        // The next round signs the others.
        await postponeForFee(deps, tx, chain, error.payouts)
        return null
      }
      if (error.code === 'INSUFFICIENT_LIQUIDITY') count = Math.floor(count / 2)
      else if (count > 1) count = 1
      else {
        if (error instanceof OutflowLimitError) await holdForSignerLimit(tx, oldest, error)
        else await refusePayout(deps, tx, oldest, error)
        return null
      }
    }
  }
  // Only the oldest: younger payouts may be smaller.
  await postponeForFunds(deps, tx, chain, [oldest])
  return null
}

async function buildAndSign(
  deps: BuildDeps & CheckDeps,
  tx: StoreTx,
  chain: Chain,
  batch: Batch,
  { utxos, changeIndex }: Readonly<{ utxos: readonly Utxo[]; changeIndex: number }>,
): Promise<BuiltBatch> {
  const { payouts, fee, nonce, gasLimit } = batch
  const [oldest] = payouts
  if (!oldest) throw new AppError('INTERNAL', 'a batch has no payouts')
  const unsigned = await wrapBuildError(() => {
    if (batch.prebuilt !== null) return takePrebuilt(batch.prebuilt, payouts)
    return chain.sender.build({
      payments: payouts.map((payout) => toPayment(deps, payout)),
      from: oldest.from,
      fee,
      utxos,
      changeIndex,
      nonce,
      replaces: null,
      gasLimit,
      sweepAll: oldest.purpose === 'consolidate',
    })
  })
  if (oldest.purpose === 'consolidate' && !paysInFull(unsigned, oldest))
    throw new AppError('INSUFFICIENT_LIQUIDITY', 'the small outputs are worth less than planned')
  if (!(await isCovered(tx, chain, batch, unsigned.feeUnits)))
    throw new AppError('INSUFFICIENT_LIQUIDITY', 'the wallet does not cover the transaction')
  await checkFee(deps, tx, chain, payouts, { feeUnits: unsigned.feeUnits, fee })
  const signed = await wrapBuildError(() => deps.signer.sign(unsigned.intent, payouts.map(toStoredPayout)))
  return { unsigned, signed, payouts }
}

const paysInFull = ({ intent }: UnsignedTransaction, { units }: Payout): boolean =>
  intent.family === 'bitcoin' && intent.pays.every((pay) => pay.units === units)

function coverAny(utxos: readonly Utxo[], payouts: readonly Payout[]): boolean {
  const availableUnits = utxos.reduce((total, { units }) => total + units, 0n)
  return payouts.some(({ units }) => units < availableUnits)
}

/**
 * Whether the ledger account of the wallet covers the batch. An account family also needs the fees of this transaction and of
 * all signed, unmined ones: nodes reject a transaction that its wallet cannot pay for, and it would block later nonces.
 */
async function isCovered(
  tx: StoreTx,
  { network }: Chain,
  { payouts, gasLimit, gasUnits, wallet }: Batch,
  feeUnits: bigint,
): Promise<boolean> {
  const account = payouts[0]?.purpose === 'sweep' ? 'asset:deposits' : 'asset:wallet'
  const needed = new Map<AssetId, bigint>()
  for (const { assetId, units } of payouts.filter((payout) => !staysInWallet(payout)))
    needed.set(assetId, (needed.get(assetId) ?? 0n) + units)
  const native = nativeId(network)
  if (gasUnits !== null && gasUnits < (needed.get(native) ?? 0n) + feeUnits) return false
  if (gasLimit !== null && gasUnits === null) {
    const unpaidUnits = await tx.transactions.unpaidFees(network.id, wallet)
    needed.set(native, (needed.get(native) ?? 0n) + feeUnits + unpaidUnits)
  }
  for (const [assetId, units] of needed) if ((await tx.ledger.balance(account, assetId)) < units) return false
  return true
}
