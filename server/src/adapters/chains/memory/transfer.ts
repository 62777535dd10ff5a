import type { Asset } from '../../../core/domain/asset.ts'
import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { FeeRate } from '../../../core/ports/chain.ts'
import type { SpendRequest, UnsignedTransaction } from '../../../exchange/ports/chain.ts'
import type { SignIntent } from '../../../exchange/ports/signer.ts'
import { assert, present } from '../../../lib/assert.ts'
import { largest } from '../../../lib/bigint.ts'
import type { MemoryAddresses } from './address.ts'
import { TRANSFER_GAS } from './state.ts'

type Intent = Extract<SignIntent, { family: 'evm' }>

/** A replacement raises both fee fields to this percentage: above the 110 % that the pool requires. */
const BUMP_PERCENT = 113n

export function gasOf(asset: Asset): bigint {
  return asset.contract === null ? TRANSFER_GAS.native : TRANSFER_GAS.token
}

export function payoutFee(asset: Asset, fee: FeeRate): bigint {
  return gasOf(asset) * fee.rate
}

/** One payment per transaction, as in every account-based family. Pure. */
export function buildTransfer(
  network: Network,
  addresses: MemoryAddresses,
  request: SpendRequest,
): UnsignedTransaction {
  const { payments, from, nonce, fee, sweepAll } = request
  const [payment] = payments
  assert(
    payment !== undefined && payments.length === 1 && request.utxos.length === 0,
    'an account-based transaction has one payment and no inputs',
  )
  assert(payment.asset.network === network.id, 'the payment is on this network')
  assert(nonce !== null && Number.isSafeInteger(nonce) && nonce >= 0, 'a nonce was allocated')
  assert(fee.rate > 0n && fee.tip >= 0n && fee.tip <= fee.rate, 'a fee rate is positive and includes the tip')
  const old = replacedIntent(request)
  const gasLimit = largest(present(request.gasLimit ?? old?.gasLimit, 'a gas limit'), old?.gasLimit ?? 0n)
  const maxFeePerGas = raiseFee(old?.maxFeePerGas ?? null, fee.rate)
  const maxPriorityFeePerGas = raiseFee(old?.maxPriorityFeePerGas ?? null, fee.tip)
  const feeUnits = gasLimit * maxFeePerGas
  const isNativeSweep = sweepAll && payment.asset.contract === null
  if (isNativeSweep && payment.units <= feeUnits) {
    throw new AppError('INSUFFICIENT_LIQUIDITY', 'the balance does not cover the network fee of its own transfer')
  }
  const intent: Intent = {
    family: 'evm',
    network: network.id,
    chainId: present(network.evm, 'parameters of an account network').chainId,
    from,
    nonce,
    pay: isNativeSweep ? { ...payment, units: payment.units - feeUnits } : payment,
    gasLimit,
    maxFeePerGas,
    maxPriorityFeePerGas,
  }
  const conflictKey = `${addresses.addressAt(from)}:${nonce}`
  return { intent, conflictKey, resources: [conflictKey], feeUnits, change: null }
}

/** The replaced intent. It has the same sender, nonce and payment, so at most one of the two transactions pays the payout. */
function replacedIntent({ replaces, from, nonce, payments, sweepAll }: SpendRequest): Intent | null {
  if (replaces === null) return null
  const { intent } = replaces
  const [payment] = payments
  assert(intent.family === 'evm' && intent.nonce === nonce, 'a replacement uses the same nonce')
  assert(intent.from.branch === from.branch && intent.from.index === from.index, 'a replacement has the same sender')
  assert(
    intent.pay.payoutId === payment?.payoutId &&
      intent.pay.address === payment.address &&
      intent.pay.asset.id === payment.asset.id,
    'a replacement pays the same payout',
  )
  assert(intent.pay.units === payment.units || sweepAll, 'a replacement pays the same units')
  return intent
}

function raiseFee(old: bigint | null, current: bigint): bigint {
  return old === null ? current : largest((old * BUMP_PERCENT + 99n) / 100n, old + 1n, current)
}
