/* The calls of a swap in a Cetus CLMM pool. Crossed ticks keep their fee growth, which no swap reads. */
import { bcs } from '@mysten/sui/bcs'
import { type CetusResult, swapCetus } from '@swapyard/lib/pools/sui/cetus.ts'
import {
  cetusConfigSchema,
  cetusPoolSchema,
  readCetusTick,
  tickTableOf,
  toCetusState,
} from '@swapyard/lib/pools/sui/cetus-objects.ts'
import type { Q64Swap } from '@swapyard/lib/pools/sui/concentrated-q64.ts'
import { toI32 } from '@swapyard/lib/pools/sui/signed-integers.ts'
import { canonicalType } from './canonical-type.ts'
import {
  argumentAt,
  FunctionAbort,
  type MoveContext,
  type MoveFunction,
  type MoveFunctions,
  type Parameter,
  packageFunctions,
  reference,
  toFunctionAbort,
  value,
} from './move-function.ts'
import { assetValue, balanceValue, type MoveValue, readU64, u64Value } from './move-value.ts'
import { readId } from './sui-object.ts'

/** Abort codes of the module `pool`. */
const amountIncorrect = 0n
const isPausedCode = 13n
const receiptNotMatch = 14n
/** Abort code of the module `balance`: the pool holds too little. */
const notEnough = 2n

const units = 800n
const none = `0x${'0'.repeat(64)}`
const receiptSchema = bcs.struct('FlashSwapReceipt', {
  ...{ pool: bcs.Address, a2b: bcs.bool(), partner: bcs.Address, payAmount: bcs.u64(), partnerFee: bcs.u64() },
})
const eventSchema = bcs.struct('SwapEvent', {
  ...{ a2b: bcs.bool(), pool: bcs.Address, partner: bcs.Address, amountIn: bcs.u64(), amountOut: bcs.u64() },
  ...{ partnerFee: bcs.u64(), fee: bcs.u64(), vaultA: bcs.u64(), vaultB: bcs.u64() },
  ...{ sqrtPriceBefore: bcs.u128(), sqrtPriceAfter: bcs.u128(), steps: bcs.u64() },
})

const amountOf = (balance: MoveValue | undefined): bigint => (balance === undefined ? 0n : readU64(balance))

const readSwap = (values: readonly MoveValue[]): Q64Swap => ({
  a2b: bcs.bool().parse(argumentAt(values, 2).contents),
  isExactIn: bcs.bool().parse(argumentAt(values, 3).contents),
  amount: readU64(argumentAt(values, 4)),
  sqrtPriceLimit: BigInt(bcs.u128().parse(argumentAt(values, 5).contents)),
})

type Pool = typeof cetusPoolSchema.$inferType
type Swapped = Extract<CetusResult, { abort: null }>

function swapPool(pool: Pool, swap: Q64Swap, config: Uint8Array, context: MoveContext): Swapped {
  if (pool.isPaused) throw new FunctionAbort(isPausedCode)
  const ticks = context.fields.list(tickTableOf(pool)).map(({ contents }) => readCetusTick(contents))
  const { protocolFeeRate } = cetusConfigSchema.parse(config)
  const result = swapCetus(toCetusState(pool, ticks, BigInt(protocolFeeRate)), swap)
  if (result.abort === null) return result
  throw toFunctionAbort(result.abort)
}

/** The pool after the output has left it. */
function afterSwap(pool: Pool, a2b: boolean, { received, next }: Swapped): Pool {
  const coinA = BigInt(pool.coinA) - (a2b ? 0n : received)
  const coinB = BigInt(pool.coinB) - (a2b ? received : 0n)
  if (coinA < 0n || coinB < 0n) throw new FunctionAbort(notEnough, 'balance')
  return {
    ...pool,
    ...{ coinA: coinA.toString(), coinB: coinB.toString(), tick: toI32(next.tick) },
    ...{ liquidity: next.liquidity.toString(), sqrtPrice: next.sqrtPrice.toString() },
    ...{ feeGrowthA: next.feeGrowth[0].toString(), feeGrowthB: next.feeGrowth[1].toString() },
    ...{ protocolFeeA: next.protocolFees[0].toString(), protocolFeeB: next.protocolFees[1].toString() },
  }
}

function emitSwap(address: string, context: MoveContext, [before, after]: readonly [Pool, Pool], swapped: Swapped) {
  const a2b = before.coinA === after.coinA
  const contents = eventSchema.serialize({
    ...{ a2b, pool: before.id, partner: none, amountIn: swapped.paid, amountOut: swapped.received, partnerFee: 0 },
    ...{ fee: swapped.fee, vaultA: after.coinA, vaultB: after.coinB },
    ...{ sqrtPriceBefore: before.sqrtPrice, sqrtPriceAfter: after.sqrtPrice, steps: swapped.steps },
  })
  context.emit({ type: canonicalType(`${address}::pool::SwapEvent`), contents: contents.toBytes() })
}

/** `flash_swap` pays first; its receipt has no `drop`, so the same transaction must repay. */
export function createCetusFunctions(address: string): MoveFunctions {
  const config = reference(`${address}::config::GlobalConfig`)
  const pool: Parameter = { use: 'mutable', type: `${address}::pool::Pool<$0, $1>` }
  const receipt = `${address}::pool::FlashSwapReceipt<$0, $1>`
  const inputs = ['bool', 'bool', 'u64', 'u128'].map(value)
  const balances = ['0x2::balance::Balance<$0>', '0x2::balance::Balance<$1>'].map(value)

  const flashSwap: MoveFunction['run'] = ({ arguments: values, typeArguments: [typeA = '', typeB = ''], context }) => {
    const target = argumentAt(values, 1)
    const swap = readSwap(values)
    const before = cetusPoolSchema.parse(target.contents)
    const swapped = swapPool(before, swap, argumentAt(values, 0).contents, context)
    const after = afterSwap(before, swap.a2b, swapped)
    target.contents = cetusPoolSchema.serialize(after).toBytes()
    emitSwap(address, context, [before, after], swapped)
    const debt = { pool: before.id, a2b: swap.a2b, partner: none, payAmount: swapped.paid, partnerFee: 0 }
    return [
      balanceValue(typeA, swap.a2b ? 0n : swapped.received),
      balanceValue(typeB, swap.a2b ? swapped.received : 0n),
      assetValue(
        canonicalType(`${address}::pool::FlashSwapReceipt<${typeA}, ${typeB}>`),
        receiptSchema.serialize(debt).toBytes(),
      ),
    ]
  }

  const repay: MoveFunction['run'] = ({ arguments: values }) => {
    const target = argumentAt(values, 1)
    const debt = receiptSchema.parse(argumentAt(values, 4).contents)
    if (debt.pool !== readId(target.contents)) throw new FunctionAbort(receiptNotMatch)
    const paid = [amountOf(values[2]), amountOf(values[3])] as const
    const owed = debt.a2b ? [BigInt(debt.payAmount), 0n] : [0n, BigInt(debt.payAmount)]
    if (paid.some((amount, i) => amount !== owed[i])) throw new FunctionAbort(amountIncorrect)
    const held = cetusPoolSchema.parse(target.contents)
    const [coinA, coinB] = [BigInt(held.coinA) + paid[0], BigInt(held.coinB) + paid[1]].map(String)
    target.contents = cetusPoolSchema.serialize({ ...held, coinA, coinB } as Pool).toBytes()
    return []
  }

  const define = (parameters: readonly Parameter[], run: MoveFunction['run']): MoveFunction => ({
    ...{ typeParameters: 2, units, parameters, run },
  })
  return packageFunctions(address, {
    'pool::flash_swap': define([config, pool, ...inputs, reference('0x2::clock::Clock')], flashSwap),
    'pool::swap_pay_amount': define([reference(receipt)], ({ arguments: values }) => [
      u64Value(BigInt(receiptSchema.parse(argumentAt(values, 0).contents).payAmount)),
    ]),
    'pool::repay_flash_swap': define([config, pool, ...balances, value(receipt)], repay),
  })
}
