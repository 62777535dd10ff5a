import type { Asset } from '../../../core/domain/asset.ts'
import { AppError } from '../../../core/domain/errors.ts'
import type { Network } from '../../../core/domain/network.ts'
import type { FeeRate } from '../../../core/ports/chain.ts'
import type { SpendRequest, UnsignedTransaction } from '../../../exchange/ports/chain.ts'
import type { SignIntent } from '../../../exchange/ports/signer.ts'
import type { Payment } from '../../../exchange/ports/spend.ts'
import { assert, present } from '../../../lib/assert.ts'
import { largest } from '../../../lib/bigint.ts'
import type { EvmAddresses } from './address.ts'

export type EvmIntent = Extract<SignIntent, { family: 'evm' }>

/** Typical gas of a payout, with a fifth of margin: 21 000 is the protocol's for a plain transfer, 65 000 a token's. */
const TYPICAL_GAS = { coin: 25_200n, token: 78_000n }

/** Nodes want 10 % more for a replacement (geth `--txpool.pricebump`); 13 % is over the threshold of every client. */
const BUMP_PERCENT = 113n

export function typicalFee(asset: Asset, fee: FeeRate): bigint {
  return (asset.contract === null ? TYPICAL_GAS.coin : TYPICAL_GAS.token) * fee.rate + (fee.l1Fee ?? 0n)
}

/** One pay per transaction. Pure: nonce, gas and fees were read before. */
export function buildTransfer(network: Network, addresses: EvmAddresses, request: SpendRequest): UnsignedTransaction {
  const { payments: pays, from, nonce, utxos: coins } = request
  const [pay] = pays
  assert(pay !== undefined && pays.length === 1, 'an evm transaction has one pay')
  assert(network.evm, 'an evm network has its parameters')
  assert(coins.length === 0, 'an account has no coins')
  assert(pay.asset.network === network.id, 'the pay is of this network')
  assert(nonce !== null && Number.isSafeInteger(nonce) && nonce >= 0, 'a nonce was allocated')
  const old = replaced(request)
  const gasLimit = largest(present(request.gasLimit ?? old?.gasLimit, 'a gas limit'), old?.gasLimit ?? 0n)
  const price = priceOf(request.fee, network.evm.dynamicFees, old)
  const feeUnits = gasLimit * price.maxFeePerGas + (request.fee.l1Fee ?? 0n)
  const intent: EvmIntent = {
    family: 'evm',
    network: network.id,
    chainId: network.evm.chainId,
    from,
    nonce,
    pay: request.sweepAll ? allButFee(pay, feeUnits) : pay,
    gasLimit,
    ...price,
  }
  const conflictKey = `${addresses.addressAt(from)}:${nonce}`
  return { intent, conflictKey, resources: [conflictKey], feeUnits, change: null }
}

/** What is replaced has the same sender, nonce and pay: whichever confirms, the payout is paid once. */
function replaced({ replaces, from, nonce, payments: pays, sweepAll }: SpendRequest): EvmIntent | null {
  if (replaces === null) return null
  const { intent } = replaces
  const [pay] = pays
  assert(intent.family === 'evm', 'an evm intent replaces an evm intent')
  assert(intent.nonce === nonce, 'a replacement takes the same nonce')
  assert(intent.from.branch === from.branch && intent.from.index === from.index, 'a replacement has the same sender')
  assert(
    intent.pay.payoutId === pay?.payoutId && intent.pay.address === pay.address && intent.pay.asset.id === pay.asset.id,
    'a replacement pays the same payout',
  )
  assert(intent.pay.units === pay.units || sweepAll, 'a replacement pays the same units')
  return intent
}

type Price = Pick<EvmIntent, 'maxFeePerGas' | 'maxPriorityFeePerGas'>

/**
 * Without EIP-1559 there is one price: both fields hold it, and the signer takes the older form. A replacement raises
 * both by 13 % and at least 1 wei, or to what is asked for now if that is more.
 */
function priceOf(fee: FeeRate, isDynamic: boolean, old: EvmIntent | null): Price {
  assert(fee.rate > 0n && fee.tip >= 0n, 'a fee rate is positive')
  const rate = largest(fee.rate, fee.tip)
  const maxFeePerGas = old === null ? rate : bumped(old.maxFeePerGas, rate)
  if (!isDynamic) return { maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas }
  const tip = old === null ? fee.tip : bumped(old.maxPriorityFeePerGas, fee.tip)
  return { maxFeePerGas: largest(maxFeePerGas, tip), maxPriorityFeePerGas: tip }
}

function bumped(old: bigint, current: bigint): bigint {
  const least = (old * BUMP_PERCENT + 99n) / 100n
  return largest(least, old + 1n, current)
}

/** A sweep of the coin leaves nothing but what the fee may take; a token's fee is paid in the coin. */
function allButFee(pay: Payment, feeUnits: bigint): Payment {
  if (pay.asset.contract !== null) return pay
  if (pay.units <= feeUnits) {
    throw new AppError('INSUFFICIENT_LIQUIDITY', `the balance does not cover the network fee of its own transfer`)
  }
  return { ...pay, units: pay.units - feeUnits }
}
