import { divideUp, U64_MAX } from '../../bigint.ts'
import { addAt } from '../token-pair.ts'
import { computeInput, computeOutput, PANIC } from './constant-product.ts'
import { grossOf, netOf, type TransferFeeConfig } from './transfer-fee.ts'

/** A fee config of Raydium CPMM. Rates are millionths: the trade fee of the input, the others of the trade fee. */
export type RaydiumCpmmConfig = Readonly<{ tradeFeeRate: bigint; protocolFeeRate: bigint; fundFeeRate: bigint }>

/** One pool of Raydium CPMM (without a creator fee). Balances and fees are base units of token 0 and token 1. */
export type RaydiumCpmmPool = Readonly<{
  /** Bit 2 disables swaps. */
  status: number
  /** Unix seconds. */
  openTime: bigint
  recentEpoch: bigint
  /** Balances of the vaults, which include the uncollected fees. */
  vaults: readonly [bigint, bigint]
  protocolFees: readonly [bigint, bigint]
  fundFees: readonly [bigint, bigint]
  config: RaydiumCpmmConfig
  isToken2022: readonly [boolean, boolean]
  transferFees: readonly [TransferFeeConfig | null, TransferFeeConfig | null]
}>

/** `limit` is the least output of an exact input, and the greatest input of an exact output. Time is in Unix seconds. */
export type RaydiumCpmmSwap = Readonly<{
  isExactInput: boolean
  inputIndex: 0 | 1
  amount: bigint
  limit: bigint
  unixTime: bigint
  epoch: bigint
}>

/** `paid` leaves the trader and `received` reaches the trader, in base units after transfer fees. */
export type RaydiumCpmmResult =
  | Readonly<{ error: number | string }>
  | Readonly<{ error: null; paid: bigint; received: bigint; tradeFee: bigint; next: RaydiumCpmmPool }>

const PPM = 1_000_000n
const SWAP_DISABLED = 4
const NOT_APPROVED = 6000
const INVALID_INPUT = 6003
const EXCEEDED_SLIPPAGE = 6005
const ZERO_AMOUNT = 2505
const SPL_TOKEN = '06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9'

/** Decodes a PoolState account of 637 bytes. The vault balances and the transfer fees are in other accounts. */
export function decodeRaydiumCpmmPool(
  data: Buffer,
  config: RaydiumCpmmConfig,
  vaults: RaydiumCpmmPool['vaults'],
  transferFees: RaydiumCpmmPool['transferFees'],
): RaydiumCpmmPool {
  const u64 = (offset: number) => data.readBigUInt64LE(offset)
  const isToken2022 = (offset: number) => data.toString('hex', offset, offset + 32) !== SPL_TOKEN
  return {
    status: data.readUInt8(329),
    openTime: u64(373),
    recentEpoch: u64(381),
    vaults,
    protocolFees: [u64(341), u64(349)],
    fundFees: [u64(357), u64(365)],
    config,
    isToken2022: [isToken2022(232), isToken2022(264)],
    transferFees,
  }
}

/** Decodes an AmmConfig account of 236 bytes. */
export function decodeRaydiumCpmmConfig(data: Buffer): RaydiumCpmmConfig {
  const u64 = (offset: number) => data.readBigUInt64LE(offset)
  return { tradeFeeRate: u64(12), protocolFeeRate: u64(20), fundFeeRate: u64(28) }
}

/**
 * swap_base_input and swap_base_output of Raydium CPMM (the build before the creator fee of August 2025). The trade fee and inputs
 * are rounded up; outputs, the protocol fee and the fund fee are rounded down. Errors: 6000 closed or not open yet, 6003 no output
 * of a Token-2022 mint, 6005 limit exceeded, 2505 an amount is 0; a text for a panic.
 */
export function swapRaydiumCpmm(pool: RaydiumCpmmPool, swap: RaydiumCpmmSwap): RaydiumCpmmResult {
  if ((pool.status & SWAP_DISABLED) !== 0 || swap.unixTime < pool.openTime) return { error: NOT_APPROVED }
  const outputIndex = swap.inputIndex === 0 ? 1 : 0
  const reserveOf = (index: 0 | 1) => pool.vaults[index] - pool.protocolFees[index] - pool.fundFees[index]
  const reserveIn = reserveOf(swap.inputIndex)
  const reserveOut = reserveOf(outputIndex)
  if (reserveIn < 0n || reserveOut < 0n) return { error: PANIC }
  const amounts = swap.isExactInput
    ? findOutput(pool, swap, reserveIn, reserveOut)
    : findInput(pool, swap, reserveIn, reserveOut)
  if ('error' in amounts) return amounts
  const { paid, vaultIn, vaultOut } = amounts
  const outputFee = pool.transferFees[outputIndex]
  const received = netOf(vaultOut, outputFee)
  if (swap.isExactInput && received <= 0n) return { error: ZERO_AMOUNT }
  if (swap.isExactInput ? received < swap.limit : paid > swap.limit) return { error: EXCEEDED_SLIPPAGE }
  const { tradeFeeRate, protocolFeeRate, fundFeeRate } = pool.config
  const tradeFee = divideUp(vaultIn * tradeFeeRate, PPM)
  const next = {
    ...pool,
    vaults: addAt(addAt(pool.vaults, swap.inputIndex, vaultIn), outputIndex, -vaultOut),
    protocolFees: addAt(pool.protocolFees, swap.inputIndex, (tradeFee * protocolFeeRate) / PPM),
    fundFees: addAt(pool.fundFees, swap.inputIndex, (tradeFee * fundFeeRate) / PPM),
    recentEpoch: swap.epoch,
  }
  return { error: null, paid, received, tradeFee, next }
}

type Amounts = Readonly<{ error: number | string }> | Readonly<{ paid: bigint; vaultIn: bigint; vaultOut: bigint }>

function findOutput(pool: RaydiumCpmmPool, swap: RaydiumCpmmSwap, reserveIn: bigint, reserveOut: bigint): Amounts {
  const inputFee = pool.transferFees[swap.inputIndex]
  const vaultIn = netOf(swap.amount, inputFee)
  if (vaultIn <= 0n) return { error: ZERO_AMOUNT }
  const netInput = vaultIn - divideUp(vaultIn * pool.config.tradeFeeRate, PPM)
  const vaultOut = computeOutput(reserveIn, reserveOut, netInput)
  if (vaultOut === null) return { error: PANIC }
  if (vaultOut === 0n) return { error: ZERO_AMOUNT }
  return { paid: swap.amount, vaultIn, vaultOut }
}

function findInput(pool: RaydiumCpmmPool, swap: RaydiumCpmmSwap, reserveIn: bigint, reserveOut: bigint): Amounts {
  const outputIndex = swap.inputIndex === 0 ? 1 : 0
  if (swap.amount === 0n) return { error: pool.isToken2022[outputIndex] ? INVALID_INPUT : ZERO_AMOUNT }
  const outputFee = pool.transferFees[outputIndex]
  const vaultOut = grossOf(swap.amount, outputFee)
  const swapped = computeInput(reserveIn, reserveOut, vaultOut)
  if (swapped === null || vaultOut > U64_MAX) return { error: PANIC }
  if (swapped === 0n) return { error: ZERO_AMOUNT }
  const rest = PPM - pool.config.tradeFeeRate
  if (rest <= 0n) return { error: PANIC }
  const vaultIn = divideUp(swapped * PPM, rest)
  const inputFee = pool.transferFees[swap.inputIndex]
  const paid = grossOf(vaultIn, inputFee)
  if (paid > U64_MAX) return { error: PANIC }
  return { paid, vaultIn: netOf(paid, inputFee), vaultOut }
}
