import type { Asset } from '../../../core/domain/asset.ts'
import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { FeeRate } from '../../../core/ports/chain.ts'
import type { SpendRequest, Unsigned } from '../../../exchange/ports/chain.ts'
import type { SignIntent } from '../../../exchange/ports/signer.ts'
import { assert, present } from '../../../lib/assert.ts'
import { largest } from '../../../lib/bigint.ts'
import type { MemoryAddresses } from './address.ts'
import { TRANSFER_GAS } from './state.ts'

type Intent = Extract<SignIntent, { family: 'evm' }>

/** Over the tenth more that the pool asks of a replacement. */
const BUMP_PERCENT = 113n

export function gasOf(asset: Asset): bigint {
  return asset.contract === null ? TRANSFER_GAS.coin : TRANSFER_GAS.token
}

export function payoutFee(asset: Asset, fee: FeeRate): bigint {
  return gasOf(asset) * fee.rate
}

/** One pay per transaction, as in every family with accounts. Pure. */
export function buildTransfer(network: Network, addresses: MemoryAddresses, request: SpendRequest): Unsigned {
  const { pays, from, nonce, fee, sweepAll } = request
  const [pay] = pays
  assert(pay !== undefined && pays.length === 1 && request.coins.length === 0, 'an account has no coins, and one pay')
  assert(pay.asset.network === network.id, 'the pay is of this network')
  assert(nonce !== null && Number.isSafeInteger(nonce) && nonce >= 0, 'a nonce was allocated')
  assert(fee.rate > 0n && fee.tip >= 0n && fee.tip <= fee.rate, 'a fee rate is positive, and the tip a part of it')
  const old = replaced(request)
  const gasLimit = largest(present(request.gasLimit ?? old?.gasLimit, 'a gas limit'), old?.gasLimit ?? 0n)
  const maxFeePerGas = raised(old?.maxFeePerGas ?? null, fee.rate)
  const maxPriorityFeePerGas = raised(old?.maxPriorityFeePerGas ?? null, fee.tip)
  const feeUnits = gasLimit * maxFeePerGas
  const isNativeSweep = sweepAll && pay.asset.contract === null
  if (isNativeSweep && pay.units <= feeUnits) {
    throw new AppError('INSUFFICIENT_LIQUIDITY', 'the balance does not cover the network fee of its own transfer')
  }
  const intent: Intent = {
    family: 'evm',
    network: network.id,
    chainId: present(network.evm, 'parameters of an account network').chainId,
    from,
    nonce,
    pay: isNativeSweep ? { ...pay, units: pay.units - feeUnits } : pay,
    gasLimit,
    maxFeePerGas,
    maxPriorityFeePerGas,
  }
  const conflictKey = `${addresses.own(from)}:${nonce}`
  return { intent, conflictKey, resources: [conflictKey], feeUnits, change: null }
}

/** The same sender, nonce and pay: whichever of the two confirms, the payout is paid once. */
function replaced({ replaces, from, nonce, pays, sweepAll }: SpendRequest): Intent | null {
  if (replaces === null) return null
  const { intent } = replaces
  const [pay] = pays
  assert(intent.family === 'evm' && intent.nonce === nonce, 'a replacement takes the same nonce')
  assert(intent.from.branch === from.branch && intent.from.index === from.index, 'a replacement has the same sender')
  assert(
    intent.pay.payoutId === pay?.payoutId && intent.pay.address === pay.address && intent.pay.asset.id === pay.asset.id,
    'a replacement pays the same payout',
  )
  assert(intent.pay.units === pay.units || sweepAll, 'a replacement pays the same units')
  return intent
}

function raised(old: bigint | null, current: bigint): bigint {
  return old === null ? current : largest((old * BUMP_PERCENT + 99n) / 100n, old + 1n, current)
}
