import type { Asset, AssetId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import type { FeeRate } from '../../core/ports/chain.ts'
import type { Chain, UnsignedTransaction } from '../ports/chain.ts'
import { inputsOf } from '../ports/signer.ts'
import type { Utxo } from '../ports/spend.ts'
import type { Payout } from '../ports/store/payouts.ts'
import { toPayment, wrapBuildError } from './payment.ts'

type BuildDeps = Readonly<{ assetById(id: AssetId): Asset }>

/**
 * A transaction that was built before the database transaction that signs it, or why it could not be built. A wallet process
 * takes seconds, in which the locks of that transaction would stop signing on every network, and `swapyard pause` (M23).
 */
export type Prebuilt = Readonly<{ payouts: readonly Payout[]; outcome: UnsignedTransaction | AppError }>

/** Builds for as many of the payouts as the outputs cover, oldest first. Relays nothing. */
export async function prebuild(
  deps: BuildDeps,
  chain: Chain,
  payouts: readonly Payout[],
  { fee, utxos }: Readonly<{ fee: FeeRate; utxos: readonly Utxo[] }>,
): Promise<Prebuilt> {
  for (let count = payouts.length; ; ) {
    const chosen = payouts.slice(0, count)
    const outcome = await buildFor(deps, chain, chosen, { fee, utxos })
    if (!(outcome instanceof AppError) || count === 1) return { payouts: chosen, outcome }
    count = outcome.code === 'INSUFFICIENT_LIQUIDITY' ? Math.floor(count / 2) : 1
  }
}

async function buildFor(
  deps: BuildDeps,
  chain: Chain,
  payouts: readonly Payout[],
  { fee, utxos }: Readonly<{ fee: FeeRate; utxos: readonly Utxo[] }>,
): Promise<UnsignedTransaction | AppError> {
  const [oldest] = payouts
  if (!oldest) throw new AppError('INTERNAL', 'a batch has no payouts')
  try {
    return await wrapBuildError(() =>
      chain.sender.build({
        payments: payouts.map((payout) => toPayment(deps, payout)),
        from: oldest.from,
        fee,
        utxos,
        changeIndex: 0,
        nonce: null,
        replaces: null,
        gasLimit: null,
        sweepAll: false,
      }),
    )
  } catch (error) {
    if (error instanceof AppError && !error.retryable) return error
    throw error
  }
}

/** The prebuilt transaction if it pays exactly these payouts; throws why it was not built. */
export function takePrebuilt({ payouts: built, outcome }: Prebuilt, payouts: readonly Payout[]): UnsignedTransaction {
  if (outcome instanceof AppError) throw outcome
  if (built.length !== payouts.length)
    throw new AppError('INSUFFICIENT_LIQUIDITY', 'the transaction was built for other payouts')
  return outcome
}

/** Whether another worker took one of the inputs since it was built. */
export function hasLostInputs({ outcome }: Prebuilt, spendable: readonly Utxo[]): boolean {
  if (outcome instanceof AppError) return false
  const outpoints = new Set(spendable.map(({ outpoint }) => outpoint))
  return inputsOf(outcome.intent).some(({ outpoint }) => !outpoints.has(outpoint))
}
