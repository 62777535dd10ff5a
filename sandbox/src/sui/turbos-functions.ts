/*
 * Swaps in a Turbos CLMM pool, by the router whose interface is published. Not kept, because no swap reads it: the fee growth of crossed
 * ticks, and rewards.
 */
import { bcs } from '@mysten/sui/bcs'
import { fromI32, i32, toI32 } from '@swapyard/lib/pools/sui/signed-integers.ts'
import { swapTurbos, type TurbosResult } from '@swapyard/lib/pools/sui/turbos.ts'
import { readTurbosTick, toTurbosState, turbosPoolSchema } from '@swapyard/lib/pools/sui/turbos-objects.ts'
import { canonicalType } from './canonical-type.ts'
import {
  argumentAt,
  FunctionAbort,
  type MoveCall,
  type MoveContext,
  type MoveFunctions,
  mutable,
  packageFunctions,
  reference,
  toFunctionAbort,
  value,
} from './move-function.ts'
import { coinValue, type MoveValue, readAddress, readBalance, readU64 } from './move-value.ts'

const units = 1_000n
/** Abort codes of the module `swap_router`. */
const tooOld = 2n
const outputTooSmall = 4n
const inputTooLarge = 5n
const tooFewCoins = 7n
/** Abort code of the module `pool`. */
const poolLocked = 8n
/** Abort code of the module `balance`: the pool holds too little. */
const notEnough = 2n

const eventSchema = bcs.struct('SwapEvent', {
  ...{ pool: bcs.Address, recipient: bcs.Address, amountA: bcs.u64(), amountB: bcs.u64(), liquidity: bcs.u128() },
  ...{ tick: i32, tickBefore: i32, sqrtPrice: bcs.u128(), protocolFee: bcs.u64(), fee: bcs.u64() },
  ...{ aToB: bcs.bool(), isExactIn: bcs.bool() },
})

type Pool = typeof turbosPoolSchema.$inferType
type Swapped = Extract<TurbosResult, { abort: null }>
type Terms = Readonly<{
  a2b: boolean
  amount: bigint
  threshold: bigint
  sqrtPriceLimit: bigint
  isExactIn: boolean
  recipient: string
  deadlineMs: bigint
}>

const readTerms = (values: readonly MoveValue[], a2b: boolean): Terms => ({
  a2b,
  amount: readU64(argumentAt(values, 2)),
  threshold: readU64(argumentAt(values, 3)),
  sqrtPriceLimit: BigInt(bcs.u128().parse(argumentAt(values, 4).contents)),
  isExactIn: bcs.bool().parse(argumentAt(values, 5).contents),
  recipient: readAddress(argumentAt(values, 6)),
  deadlineMs: readU64(argumentAt(values, 7)),
})

/** The swap of a pool that is read with its ticks. */
function swapPool(pool: Pool, terms: Terms, { fields }: MoveContext): Swapped {
  if (!pool.isUnlocked) throw new FunctionAbort(poolLocked, 'pool')
  const ticks = fields.list(pool.id).filter(({ type }) => type.includes('::pool::Tick>'))
  const state = toTurbosState(
    pool,
    ticks.map(({ contents }) => readTurbosTick(contents)),
  )
  const result = swapTurbos(state, terms)
  if (result.abort === null) return result
  throw toFunctionAbort(result.abort)
}

/** The pool after it has got the input and paid the output. */
function afterSwap(pool: Pool, a2b: boolean, { paid, received, next }: Swapped): Pool {
  const coinA = BigInt(pool.coinA) + (a2b ? paid : -received)
  const coinB = BigInt(pool.coinB) + (a2b ? -received : paid)
  if (coinA < 0n || coinB < 0n) throw new FunctionAbort(notEnough, 'balance')
  return {
    ...pool,
    ...{ coinA: coinA.toString(), coinB: coinB.toString(), tick: toI32(next.tick) },
    ...{ liquidity: next.liquidity.toString(), sqrtPrice: next.sqrtPrice.toString() },
    ...{ feeGrowthA: next.feeGrowth[0].toString(), feeGrowthB: next.feeGrowth[1].toString() },
    ...{ protocolFeesA: next.protocolFees[0].toString(), protocolFeesB: next.protocolFees[1].toString() },
  }
}

function emitSwap(
  address: string,
  { emit }: MoveContext,
  [before, after]: readonly [Pool, Pool],
  { a2b, recipient, isExactIn }: Terms,
  { paid, received, fee }: Swapped,
): void {
  const protocolFees = ({ protocolFeesA, protocolFeesB }: Pool) => BigInt(a2b ? protocolFeesA : protocolFeesB)
  const contents = eventSchema.serialize({
    ...{ pool: before.id, recipient, amountA: a2b ? paid : received, amountB: a2b ? received : paid, fee },
    ...{ liquidity: after.liquidity, tick: after.tick, tickBefore: toI32(fromI32(before.tick)) },
    ...{ sqrtPrice: after.sqrtPrice, protocolFee: protocolFees(after) - protocolFees(before) },
    ...{ aToB: a2b, isExactIn },
  })
  emit({ type: canonicalType(`${address}::pool::SwapEvent`), contents: contents.toBytes() })
}

function checkTerms({ isExactIn, threshold }: Terms, { paid, received }: Swapped): void {
  if (isExactIn && received < threshold) throw new FunctionAbort(outputTooSmall)
  if (!isExactIn && paid > threshold) throw new FunctionAbort(inputTooLarge)
}

/** Returns the coin that the pool pays, and what is left of the coins. */
function swap({ arguments: values, typeArguments, context }: MoveCall, address: string, a2b: boolean): MoveValue[] {
  const [target, coins] = values as readonly [MoveValue, MoveValue]
  const [typeA = '', typeB = ''] = typeArguments
  const terms = readTerms(values, a2b)
  if (BigInt(context.timestampMs) > terms.deadlineMs) throw new FunctionAbort(tooOld)
  const held = (coins.elements ?? []).reduce((sum, coin) => sum + readBalance(coin), 0n)
  if (terms.isExactIn && held < terms.amount) throw new FunctionAbort(tooFewCoins)
  const before = turbosPoolSchema.parse(target.contents)
  const swapped = swapPool(before, terms, context)
  checkTerms(terms, swapped)
  if (held < swapped.paid) throw new FunctionAbort(tooFewCoins)
  const after = afterSwap(before, a2b, swapped)
  target.contents = turbosPoolSchema.serialize(after).toBytes()
  emitSwap(address, context, [before, after], terms, swapped)
  const coin = (type: string, amount: bigint) => coinValue(type, context.createId(), amount)
  const [typeIn, typeOut] = a2b ? [typeA, typeB] : [typeB, typeA]
  return [coin(typeOut, swapped.received), coin(typeIn, held - swapped.paid)]
}

export function createTurbosFunctions(address: string): MoveFunctions {
  const define = (coinIn: '$0' | '$1') => ({
    ...{ typeParameters: 3, units },
    parameters: [
      mutable(`${address}::pool::Pool<$0, $1, $2>`),
      value(`vector<0x2::coin::Coin<${coinIn}>>`),
      ...['u64', 'u64', 'u128', 'bool', 'address', 'u64'].map(value),
      reference('0x2::clock::Clock'),
      reference(`${address}::pool::Versioned`),
    ],
    run: (call: MoveCall) => swap(call, address, coinIn === '$0'),
  })
  return packageFunctions(address, {
    'swap_router::swap_a_b_with_return_': define('$0'),
    'swap_router::swap_b_a_with_return_': define('$1'),
  })
}
