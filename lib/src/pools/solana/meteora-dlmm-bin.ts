/* A swap within one bin of Meteora DLMM: all its liquidity trades at one price. */
import { divideUp, U128_MAX } from '../../bigint.ts'
import { addAt } from '../token-pair.ts'
import type { DlmmBin } from './meteora-dlmm-accounts.ts'
import { addFee, FEE_PRECISION, powerOf } from './meteora-maths.ts'

const ONE = 1n << 64n
const BASIS_POINTS = 10_000n
/** Of the fees of limit orders, in basis points: the orders' owners' part. */
const ORDER_FEE_SHARE = 5_000n
/** Of the protocol's part of a fee, in basis points. */
const HOST_FEE_SHARE = 2_000n

export type DlmmBinSwap = Readonly<{
  bin: DlmmBin
  swapForY: boolean
  hasLimitOrders: boolean
  isFeeInInput: boolean
  /** Parts of 10^9. */
  feeRate: bigint
  /** Basis points of the fee. */
  protocolShare: bigint
}>

/** Base units. The three parts of a bin are filled in this order: market makers, processed orders, open orders. */
export type DlmmFill = Readonly<{
  /** With a fee in the input. */
  amountIn: bigint
  /** Net of a fee in the output. */
  amountOut: bigint
  fees: DlmmFees
  next: DlmmBin
}>

/** Base units of the token in which the fee is taken. `host` is a part of `protocol`, if the swap has a host. */
export type DlmmFees = Readonly<{ makers: bigint; orders: bigint; protocol: bigint; host: bigint }>

/** Price of a bin in Q64.64, (1 + binStep ÷ 10⁴)^id, with the program's rounding: powers of the inverse, each rounded down. */
export function dlmmPrice(id: number, binStep: number): bigint {
  if (id === 0) return ONE
  const inverse = U128_MAX / (ONE + (BigInt(binStep) << 64n) / BASIS_POINTS)
  const power = powerOf(inverse, BigInt(Math.abs(id)))
  return id > 0 ? U128_MAX / power : power
}

/** Output at the bin's price, rounded down. */
export const dlmmOutput = (amountIn: bigint, price: bigint, swapForY: boolean): bigint =>
  swapForY ? (amountIn * price) >> 64n : (amountIn << 64n) / price

/** Input at the bin's price, rounded up. */
const inputOf = (amountOut: bigint, price: bigint, swapForY: boolean): bigint =>
  swapForY ? divideUp(amountOut << 64n, price) : (amountOut * price + ONE - 1n) >> 64n

/** The greatest output of the bin, before a fee in the output. */
export function dlmmBinCapacity({
  bin,
  swapForY,
  hasLimitOrders,
}: Pick<DlmmBinSwap, 'bin' | 'swapForY' | 'hasLimitOrders'>): bigint {
  return capacities(bin, swapForY, hasLimitOrders).reduce((sum, units) => sum + units, 0n)
}

/** Base units of the output: of the market makers, processed and open orders. */
function capacities(bin: DlmmBin, swapForY: boolean, hasLimitOrders: boolean): readonly [bigint, bigint, bigint] {
  const makers = bin.amounts[swapForY ? 1 : 0]
  // Orders that sell X do not serve a swap for Y.
  return hasLimitOrders && bin.isAskSide !== swapForY ? [makers, bin.processedRest, bin.openOrders] : [makers, 0n, 0n]
}

/** Takes `amount` of input, with a fee in the input, or what the bin can take. Fees are rounded up, the output down. */
export function fillDlmmBin(swap: DlmmBinSwap, amount: bigint): DlmmFill {
  const { feeRate, isFeeInInput } = swap
  const feeOf = (units: bigint) => divideUp(units * feeRate, FEE_PRECISION)
  const netInput = isFeeInInput ? amount - feeOf(amount) : amount
  const { parts, rest } = fillParts(swap, netInput)
  const used = netInput - rest
  const grossOutput = parts.reduce((sum, { amountOut }) => sum + amountOut, 0n)
  const amountIn = rest === 0n ? amount : isFeeInInput ? addFee(used, feeRate) : used
  const fee = isFeeInInput ? amountIn - used : feeOf(grossOutput)
  const fees = splitFee(swap, fee, parts[0].amountIn, used)
  return {
    amountIn,
    amountOut: isFeeInInput ? grossOutput : grossOutput - fee,
    fees,
    next: updateBin(swap, parts, fees),
  }
}

/** The input, with a fee in the input, for an output of the bin before a fee in the output. Rounded up. */
export function dlmmInputFor({ bin, swapForY, isFeeInInput, feeRate }: DlmmBinSwap, grossOutput: bigint): bigint {
  const input = inputOf(grossOutput, bin.price, swapForY)
  return isFeeInInput ? addFee(input, feeRate) : input
}

type Part = Readonly<{ amountIn: bigint; amountOut: bigint }>
type Parts = readonly [Part, Part, Part]

function fillParts(
  { bin, swapForY, hasLimitOrders }: DlmmBinSwap,
  netInput: bigint,
): Readonly<{ parts: Parts; rest: bigint }> {
  let rest = netInput
  const fill = (capacity: bigint): Part => {
    const whole = inputOf(capacity, bin.price, swapForY)
    const part =
      rest >= whole
        ? { amountIn: whole, amountOut: capacity }
        : { amountIn: rest, amountOut: dlmmOutput(rest, bin.price, swapForY) }
    rest -= part.amountIn
    return part
  }
  const [makers, processed, open] = capacities(bin, swapForY, hasLimitOrders)
  const parts = [fill(makers), fill(processed), fill(open)] as const
  return { parts, rest }
}

/** The market makers' part of the fee is rounded up, shares are rounded down. Without an input the fee stays in the reserve. */
function splitFee({ protocolShare }: DlmmBinSwap, fee: bigint, makersIn: bigint, totalIn: bigint): DlmmFees {
  if (totalIn === 0n) return { makers: 0n, orders: 0n, protocol: 0n, host: 0n }
  const shareOf = (units: bigint, basisPoints: bigint) => (units * basisPoints) / BASIS_POINTS
  const fromMakers = divideUp(fee * makersIn, totalIn)
  const fromOrders = fee - fromMakers
  const orders = shareOf(fromOrders, ORDER_FEE_SHARE)
  const protocol = shareOf(fromMakers, protocolShare)
  // The protocol gets all that the orders' owners do not get, the host a share of the pair's share only.
  const host = shareOf(protocol, HOST_FEE_SHARE) + shareOf(shareOf(fromOrders, protocolShare), HOST_FEE_SHARE)
  return { makers: fromMakers - protocol, orders, protocol: protocol + fromOrders - orders, host }
}

function updateBin(
  { bin, swapForY, isFeeInInput }: DlmmBinSwap,
  [makers, processed, open]: Parts,
  fees: DlmmFees,
): DlmmBin {
  const [input, output] = swapForY ? ([0, 1] as const) : ([1, 0] as const)
  const supply = bin.liquiditySupply >> 64n
  const growth = supply === 0n ? 0n : (fees.makers << 64n) / supply
  const [growthX, growthY] = addAt(bin.feeGrowth, isFeeInInput ? input : output, growth)
  const reached =
    open.amountOut === 0n
      ? { processedRest: bin.processedRest - processed.amountOut }
      : {
          openOrders: 0n,
          processingOrders: bin.openOrders,
          processedRest: bin.openOrders - open.amountOut,
          orderAge: bin.orderAge + 1,
        }
  return {
    ...bin,
    amounts: addAt(addAt(bin.amounts, input, makers.amountIn), output, -makers.amountOut),
    fulfilledOrders: addAt(bin.fulfilledOrders, output, processed.amountOut + open.amountOut),
    orderFees: addAt(bin.orderFees, swapForY ? 1 : 0, fees.orders),
    // The program adds modulo 2^128.
    feeGrowth: [growthX & U128_MAX, growthY & U128_MAX],
    ...reached,
  }
}
