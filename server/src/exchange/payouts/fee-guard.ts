import type { AssetId } from '../../core/domain/asset.ts'
import { nativeId } from '../../core/domain/asset.ts'
import { AppError } from '../../core/domain/errors.ts'
import { conversionId, refundFeeId } from '../../core/domain/ledger/entries.ts'
import { isUtxoFamily } from '../../core/domain/network.ts'
import { staysInWallet } from '../../core/domain/payout-purpose.ts'
import { getPrice, usdValue } from '../../core/domain/price.ts'
import type { FeeRate } from '../../core/ports/chain.ts'
import { largest } from '../../lib/bigint.ts'
import type { Chain } from '../ports/chain.ts'
import type { Payout } from '../ports/store/payouts.ts'
import type { StoreTx } from '../ports/store/store.ts'
import type { ServiceSettings } from '../settings.ts'
import type { CheckDeps } from './check-payouts.ts'
import { toPayment } from './payment.ts'

type FeeGuardDeps = Pick<CheckDeps, 'assetById' | 'priceKeyOf' | 'books' | 'settings'>

/** The network fee of these payouts is out of proportion to what they pay and to what their customers were charged. */
export class ExcessiveFeeError extends AppError {
  readonly payouts: readonly Payout[]

  constructor(payouts: readonly Payout[]) {
    super('SIMULATION_FAILED', 'the network fee is out of proportion to the payment')
    this.payouts = payouts
  }
}

/** Paid to a customer, and not released by the operator. */
const isGuarded = ({ purpose, approved }: Payout): boolean =>
  !approved && (purpose === 'payout' || purpose === 'refund')

/** At this rate a fee is an amount of gas. */
const GAS_RATE: FeeRate = { rate: 1n, tip: 0n }

/**
 * Throws SIMULATION_FAILED if the recipient's contract needs more than a multiple of the usual gas, whatever the payment is worth:
 * the customer is charged for a usual one, and a refund earns nothing (M21). Waiting would not help. What the network itself
 * makes expensive is no fault of the recipient: an estimate of Arbitrum holds the cost of layer 1, so a payment of the same amount
 * to our own wallet counts where it needs more than usual. Asks the node for that payment only if the first estimate is high.
 */
export async function checkGas(
  { settings, assetById }: Pick<FeeGuardDeps, 'settings' | 'assetById'>,
  { sender, addresses }: Chain,
  payout: Payout,
  gasLimit: bigint | null,
): Promise<void> {
  if (gasLimit === null || !isGuarded(payout)) return
  const multiple = BigInt(settings.guards.payoutFeeMultiple)
  const usualGas = sender.payoutFee(assetById(payout.assetId), GAS_RATE)
  if (gasLimit <= usualGas * multiple) return
  const toOurselves = { ...toPayment({ assetById }, payout), address: addresses.hot(), memo: null }
  const ownGas = await sender.gasLimit(toOurselves, payout.from).catch((error: unknown) => {
    // A token may refuse a transfer to its sender.
    if (error instanceof AppError && error.code === 'SIMULATION_FAILED') return null
    throw error
  })
  const plainGas = largest(ownGas ?? 0n, usualGas)
  if (gasLimit <= plainGas * multiple) return
  throw new AppError(
    'SIMULATION_FAILED',
    `the recipient uses ${gasLimit} gas, more than ${multiple} times the ${plainGas} of a usual payment`,
  )
}

/**
 * Throws unless the fee of each payout is at most a share of what it pays, or at most a multiple of what its customer was
 * charged for it: in a batch a large payout must not carry small ones that cost more than they earn (M21). On chains with
 * inputs the usual fee of one payout counts: more inputs are our own wallet's, and waiting would not lessen them. Without a
 * price of the native coin only the caps of the network hold.
 */
export async function checkFee(
  deps: FeeGuardDeps,
  tx: StoreTx,
  chain: Chain,
  payouts: readonly Payout[],
  { feeUnits: builtUnits, fee }: Readonly<{ feeUnits: bigint; fee: FeeRate }>,
): Promise<void> {
  if (isOwnFeeExcessive(deps.settings, payouts, builtUnits)) throw new ExcessiveFeeError(payouts)
  const guarded = payouts.filter(isGuarded)
  const native = nativeId(chain.network)
  if (!deps.books.current().prices.usd.has(deps.priceKeyOf(native))) return
  const { payoutFeePercent, payoutFeeMultiple } = deps.settings.guards
  const multiple = BigInt(payoutFeeMultiple)
  const excessive: Payout[] = []
  // One after another: a connection runs one query at a time.
  for (const payout of guarded) {
    const { assetId, units } = payout
    const feeUnits = isUtxoFamily(chain.network) ? chain.sender.payoutFee(deps.assetById(assetId), fee) : builtUnits
    const feeUsd = usdOf(deps, native, feeUnits)
    if (feeUsd * 100n <= usdOf(deps, assetId, units) * BigInt(payoutFeePercent)) continue
    if (feeUsd <= (await chargedUsd(deps, tx, payout)) * multiple) continue
    excessive.push(payout)
  }
  if (excessive.length > 0) throw new ExcessiveFeeError(excessive)
}

/** A transaction that only splits or consolidates costs at most a small share of what it moves, also when its fee is raised. */
export function isOwnFeeExcessive(
  { outputs }: Pick<ServiceSettings, 'outputs'>,
  payouts: readonly Payout[],
  feeUnits: bigint,
): boolean {
  const movedUnits = sum(payouts.map(({ units }) => units))
  return payouts.length > 0 && payouts.every(staysInWallet) && feeUnits * 10_000n > movedUnits * BigInt(outputs.feeBps)
}

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n)

function usdOf({ assetById, priceKeyOf, books }: FeeGuardDeps, assetId: AssetId, units: bigint): bigint {
  return usdValue(units, assetById(assetId), getPrice(books.current().prices, priceKeyOf(assetId)).ask, 'up')
}

/** By the conversion or the refund that the payout belongs to: other deposits of its exchange pay for their own payouts. */
async function chargedUsd(deps: FeeGuardDeps, tx: StoreTx, { id, orderId, assetId }: Payout): Promise<bigint> {
  const entryIds = [refundFeeId(id), ...(orderId === null ? [] : [conversionId(orderId)])]
  return usdOf(deps, assetId, await tx.ledger.chargedFees(entryIds, assetId))
}
