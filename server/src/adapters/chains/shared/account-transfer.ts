import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { FeeRate } from '../../../core/ports/chain.ts'
import type { SpendRequest, UnsignedTransaction } from '../../../exchange/ports/chain.ts'
import type { SignIntent } from '../../../exchange/ports/signer.ts'
import type { KeyPath, Payment } from '../../../exchange/ports/spend.ts'
import { assert, present } from '../../../lib/assert.ts'
import { largest } from '../../../lib/bigint.ts'

export type EvmIntent = Extract<SignIntent, { family: 'evm' }>

/** A replacement raises both fee fields to this percentage. geth requires 110 % (`--txpool.pricebump`), no client more than 113 %. */
const BUMP_PERCENT = 113n

/** Builds a transaction with one payment. Pure: the request contains nonce, gas limit and fees. */
export function buildTransfer(
  network: Network,
  { addressAt }: Readonly<{ addressAt(path: KeyPath): string }>,
  request: SpendRequest,
): UnsignedTransaction {
  const { payments, from, nonce, utxos } = request
  const [payment] = payments
  assert(payment !== undefined && payments.length === 1, 'an evm transaction has one payment')
  assert(network.evm, 'an evm network has its parameters')
  assert(utxos.length === 0, 'an evm transaction spends no UTXOs')
  assert(payment.asset.network === network.id, 'the payment is on this network')
  assert(nonce !== null && Number.isSafeInteger(nonce) && nonce >= 0, 'a nonce was allocated')
  const old = replacedIntent(request)
  const gasLimit = largest(present(request.gasLimit ?? old?.gasLimit, 'a gas limit'), old?.gasLimit ?? 0n)
  const price = priceOf(request.fee, network.evm.dynamicFees, old)
  const feeUnits = gasLimit * price.maxFeePerGas + (request.fee.l1Fee ?? 0n)
  const intent: EvmIntent = {
    family: 'evm',
    network: network.id,
    chainId: network.evm.chainId,
    from,
    nonce,
    pay: request.sweepAll ? subtractFee(payment, feeUnits) : payment,
    gasLimit,
    ...price,
    ...(request.cancels === true ? { cancels: true as const } : {}),
  }
  const conflictKey = `${addressAt(from)}:${nonce}`
  return { intent, conflictKey, resources: [conflictKey], feeUnits, change: null }
}

export function parseConflictKey(key: string): { address: string; nonce: number } {
  const match = /^(0x[0-9a-fA-F]{40}):(0|[1-9][0-9]{0,15})$/.exec(key)
  assert(match?.[1] && match[2], 'a conflict key is address:nonce')
  return { address: match[1], nonce: Number(match[2]) }
}

/** The replaced intent. It has the same sender, nonce and payment, so at most one of the two transactions pays the payout. */
function replacedIntent({ replaces, from, nonce, payments, sweepAll, cancels }: SpendRequest): EvmIntent | null {
  assert(cancels !== true || replaces !== null, 'a cancel replaces a transaction')
  if (replaces === null) return null
  const { intent } = replaces
  const [payment] = payments
  assert(intent.family === 'evm', 'an evm intent replaces an evm intent')
  assert(intent.nonce === nonce, 'a replacement uses the same nonce')
  assert(intent.cancels !== true || cancels === true, 'a cancel is replaced by a cancel only')
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

type Price = Pick<EvmIntent, 'maxFeePerGas' | 'maxPriorityFeePerGas'>

/**
 * Without EIP-1559 both fields hold the gas price, and the signer uses the legacy form. A replacement raises both fields by
 * 13 % and at least 1 wei, or to the current fee rate if that is higher.
 */
function priceOf(fee: FeeRate, isDynamic: boolean, old: EvmIntent | null): Price {
  assert(fee.rate > 0n && fee.tip >= 0n, 'a fee rate is positive')
  const rate = largest(fee.rate, fee.tip)
  const maxFeePerGas = raiseFee(old?.maxFeePerGas, rate)
  if (!isDynamic) return { maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas }
  const tip = raiseFee(old?.maxPriorityFeePerGas, fee.tip)
  return { maxFeePerGas: largest(maxFeePerGas, tip), maxPriorityFeePerGas: tip }
}

function raiseFee(old: bigint | undefined, current: bigint): bigint {
  return old === undefined ? current : largest((old * BUMP_PERCENT + 99n) / 100n, old + 1n, current)
}

/** Reduces a native sweep by the maximum fee. A token sweep pays its fee from the native balance. */
function subtractFee(pay: Payment, feeUnits: bigint): Payment {
  if (pay.asset.contract !== null) return pay
  if (pay.units <= feeUnits) {
    throw new AppError('INSUFFICIENT_LIQUIDITY', `the balance does not cover the network fee of its own transfer`)
  }
  return { ...pay, units: pay.units - feeUnits }
}
