/* The calls of a swap in a Cetus CLMM pool. The caller gives the pool's mathematics and the layout of its object. */
import { bcs } from '@mysten/sui/bcs'
import { canonicalType } from './canonical-type.ts'
import {
  FunctionAbort,
  type MoveFunction,
  type MoveFunctions,
  type Parameter,
  packageFunctions,
} from './move-function.ts'
import { assetValue, balanceValue, type MoveValue, readU64, u64Value } from './move-value.ts'
import { readId } from './sui-object.ts'

export type CetusSwap = Readonly<{
  a2b: boolean
  /** Whether `amount` is the input with the fee; otherwise the output. */
  isExactIn: boolean
  /** Base units. */
  amount: bigint
  /** Q64.64. */
  sqrtPriceLimit: bigint
}>

/** Base units, and the pool's object after the swap; or the abort. */
export type CetusSwapResult =
  | Readonly<{ paid: bigint; received: bigint; contents: Uint8Array }>
  | Readonly<{ abort: Readonly<{ module: string; code: bigint | 'arithmetic' }> }>

export type SwapCetusPool = (poolContents: Uint8Array, swap: CetusSwap) => CetusSwapResult

/** Abort codes of the module `pool`. */
const amountIncorrect = 0n
const receiptNotMatch = 14n

const units = 800n
const receiptSchema = bcs.struct('FlashSwapReceipt', { pool: bcs.Address, a2b: bcs.bool(), payAmount: bcs.u64() })

const value = (type: string): Parameter => ({ use: 'value', type })
const reference = (type: string): Parameter => ({ use: 'reference', type })

const amountOf = (balance: MoveValue | undefined): bigint => (balance === undefined ? 0n : readU64(balance))

/** Index of an argument that the interpreter has checked. */
function argumentAt(values: readonly MoveValue[], index: number): MoveValue {
  const found = values[index]
  if (found === undefined) throw new Error(`Argument ${index} is missing`)
  return found
}

const readSwap = (values: readonly MoveValue[]): CetusSwap => ({
  a2b: bcs.bool().parse(argumentAt(values, 2).contents),
  isExactIn: bcs.bool().parse(argumentAt(values, 3).contents),
  amount: readU64(argumentAt(values, 4)),
  sqrtPriceLimit: BigInt(bcs.u128().parse(argumentAt(values, 5).contents)),
})

/** `flash_swap` pays first; its receipt has no `drop`, so the same transaction must repay. */
export function createCetusFunctions(address: string, swapPool: SwapCetusPool): MoveFunctions {
  const config = reference(`${address}::config::GlobalConfig`)
  const pool: Parameter = { use: 'mutable', type: `${address}::pool::Pool<$0, $1>` }
  const receipt = `${address}::pool::FlashSwapReceipt<$0, $1>`
  const inputs = ['bool', 'bool', 'u64', 'u128'].map(value)
  const balances = ['0x2::balance::Balance<$0>', '0x2::balance::Balance<$1>'].map(value)

  const flashSwap: MoveFunction['run'] = ({ arguments: values, typeArguments: [typeA = '', typeB = ''] }) => {
    const target = argumentAt(values, 1)
    const swap = readSwap(values)
    const result = swapPool(target.contents, swap)
    if ('abort' in result) throw new FunctionAbort(result.abort.code, result.abort.module)
    target.contents = Uint8Array.from(result.contents)
    const { paid, received } = result
    const debt = { pool: readId(target.contents), a2b: swap.a2b, payAmount: paid }
    return [
      balanceValue(typeA, swap.a2b ? 0n : received),
      balanceValue(typeB, swap.a2b ? received : 0n),
      assetValue(
        canonicalType(`${address}::pool::FlashSwapReceipt<${typeA}, ${typeB}>`),
        receiptSchema.serialize(debt).toBytes(),
      ),
    ]
  }

  const repay: MoveFunction['run'] = ({ arguments: values }) => {
    const debt = receiptSchema.parse(argumentAt(values, 4).contents)
    if (debt.pool !== readId(argumentAt(values, 1).contents)) throw new FunctionAbort(receiptNotMatch)
    const paid = [amountOf(values[2]), amountOf(values[3])]
    const owed = debt.a2b ? [BigInt(debt.payAmount), 0n] : [0n, BigInt(debt.payAmount)]
    if (paid.some((amount, i) => amount !== owed[i])) throw new FunctionAbort(amountIncorrect)
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
