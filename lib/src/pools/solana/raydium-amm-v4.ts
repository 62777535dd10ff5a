import { divideUp, U64_MAX } from '../../bigint.ts'
import { addAt } from '../token-pair.ts'
import { computeOutput, PANIC } from './constant-product.ts'

/** One pool of Raydium AMM v4 without funds in an order book. Amounts are base units; token 0 is the coin, token 1 the pc. */
export type RaydiumAmmV4Pool = Readonly<{
  /** 6 swaps; 7 swaps from the open time on and becomes 6. This module refuses every other status. */
  status: bigint
  /** Unix seconds. */
  openTime: bigint
  feeNumerator: bigint
  feeDenominator: bigint
  /** Balances of the vaults, which include the profit to take. */
  vaults: readonly [bigint, bigint]
  needTakePnl: readonly [bigint, bigint]
}>

/** `limit` is the least output of an exact input, and the greatest input of an exact output. Time is in Unix seconds. */
export type RaydiumAmmV4Swap = Readonly<{
  isExactInput: boolean
  inputIndex: 0 | 1
  amount: bigint
  limit: bigint
  unixTime: bigint
  /** Balance of the trader's source account; null = not limited. */
  balance: bigint | null
}>

/** `paid` and `received` are base units. */
export type RaydiumAmmV4Result =
  | Readonly<{ error: number | string }>
  | Readonly<{ error: null; paid: bigint; received: bigint; fee: bigint; next: RaydiumAmmV4Pool }>

const INVALID_STATUS = 22
const INVALID_INPUT = 29
const EXCEEDED_SLIPPAGE = 30
const SUBTRACTION_OVERFLOW = 32
const INSUFFICIENT_FUNDS = 40

/** Decodes an AmmInfo account of 752 bytes. The vault balances are in other accounts. */
export function decodeRaydiumAmmV4Pool(data: Buffer, vaults: RaydiumAmmV4Pool['vaults']): RaydiumAmmV4Pool {
  const u64 = (offset: number) => data.readBigUInt64LE(offset)
  return {
    status: u64(0),
    openTime: u64(224),
    feeNumerator: u64(176),
    feeDenominator: u64(184),
    vaults,
    needTakePnl: [u64(192), u64(200)],
  }
}

/**
 * The swaps of Raydium AMM v4 (instructions 9, 11, 16 and 17; main-net program of May 2026). Inputs and fees are rounded up,
 * outputs down. Errors: 22 the status does not swap, 29 an amount is 0, 30 limit exceeded, 32 the profit to take exceeds a vault,
 * 40 the trader has too little; a text for a panic.
 */
export function swapRaydiumAmmV4(pool: RaydiumAmmV4Pool, swap: RaydiumAmmV4Swap): RaydiumAmmV4Result {
  const isOpen = pool.status === 6n || (pool.status === 7n && swap.unixTime >= pool.openTime)
  if (!isOpen) return { error: INVALID_STATUS }
  const outputIndex = swap.inputIndex === 0 ? 1 : 0
  const reserveIn = pool.vaults[swap.inputIndex] - pool.needTakePnl[swap.inputIndex]
  const reserveOut = pool.vaults[outputIndex] - pool.needTakePnl[outputIndex]
  if (reserveIn < 0n || reserveOut < 0n) return { error: SUBTRACTION_OVERFLOW }
  const amounts = swap.isExactInput
    ? findOutput(pool, swap, reserveIn, reserveOut)
    : findInput(pool, swap, reserveIn, reserveOut)
  if ('error' in amounts) return amounts
  const { paid, received, fee } = amounts
  const vaults = addAt(addAt(pool.vaults, swap.inputIndex, paid), outputIndex, -received)
  const next = { ...pool, status: 6n, vaults }
  return { error: null, paid, received, fee, next }
}

type Amounts = Readonly<{ error: number | string }> | Readonly<{ paid: bigint; received: bigint; fee: bigint }>

function findOutput(pool: RaydiumAmmV4Pool, swap: RaydiumAmmV4Swap, reserveIn: bigint, reserveOut: bigint): Amounts {
  if (swap.balance !== null && swap.balance < swap.amount) return { error: INSUFFICIENT_FUNDS }
  const fee = divideUp(swap.amount * pool.feeNumerator, pool.feeDenominator)
  const received = computeOutput(reserveIn, reserveOut, swap.amount - fee)
  if (received === null) return { error: PANIC }
  if (received < swap.limit) return { error: EXCEEDED_SLIPPAGE }
  if (received === 0n || swap.amount === 0n) return { error: INVALID_INPUT }
  return { paid: swap.amount, received, fee }
}

function findInput(pool: RaydiumAmmV4Pool, swap: RaydiumAmmV4Swap, reserveIn: bigint, reserveOut: bigint): Amounts {
  const rest = pool.feeDenominator - pool.feeNumerator
  if (swap.amount >= reserveOut || rest <= 0n) return { error: PANIC }
  const swapped = divideUp(reserveIn * swap.amount, reserveOut - swap.amount)
  const paid = divideUp(swapped * pool.feeDenominator, rest)
  if (paid > U64_MAX) return { error: PANIC }
  if (paid > swap.limit) return { error: EXCEEDED_SLIPPAGE }
  if (paid === 0n || swap.amount === 0n) return { error: INVALID_INPUT }
  if (swap.balance !== null && swap.balance < paid) return { error: INSUFFICIENT_FUNDS }
  return { paid, received: swap.amount, fee: paid - swapped }
}
