import { normalizeSuiAddress } from '@mysten/sui/utils'
import type { MoveAbortCode } from '@swapyard/lib/pools/sui/move-abort.ts'
import type { DynamicFields } from './field-store.ts'
import type { MoveValue } from './move-value.ts'
import type { ObjectDraft } from './sui-object.ts'

/** What a native function may ask of the transaction it runs in. */
export type MoveContext = Readonly<{
  sender: string
  epoch: bigint
  timestampMs: number
  createId(): string
  /** MIST per computation unit. */
  gasPrice: bigint
  fields: DynamicFields
  emit(event: Readonly<{ type: string; contents: Uint8Array }>): void
  /** Sends, shares or freezes an object. */
  setOwner(object: MoveValue, owner: ObjectDraft['owner']): void
  /** Adds to the address balance of an owner (positive) or takes from it (negative). */
  changeAddressBalance(owner: string, coinType: string, amount: bigint): void
}>

/**
 * `use`: a value is consumed, a reference is read, a mutable reference may change the value's contents. In `type`, `$0`, `$1`… are
 * the type arguments.
 */
export type Parameter = Readonly<{ use: 'value' | 'reference' | 'mutable'; type: string }>

export const value = (type: string): Parameter => ({ use: 'value', type })
export const reference = (type: string): Parameter => ({ use: 'reference', type })
export const mutable = (type: string): Parameter => ({ use: 'mutable', type })

export type MoveCall = Readonly<{
  typeArguments: readonly string[]
  arguments: readonly MoveValue[]
  context: MoveContext
}>

/** An argument, whose number the interpreter has checked. */
export function argumentAt(values: readonly MoveValue[], index: number): MoveValue {
  const found = values[index]
  if (found === undefined) throw new Error(`Argument ${index} is missing`)
  return found
}

/** A Move function in TypeScript. It throws an ExecutionFailure or a FunctionAbort to fail. */
export type MoveFunction = Readonly<{
  typeParameters: number
  /** Without a last `&mut TxContext`. */
  parameters: readonly Parameter[]
  /** Computation units, stated by its author. */
  units: bigint
  run(call: MoveCall): readonly MoveValue[]
}>

/** The Move code aborts with this code; `arithmetic` is the VM's own error. */
export class FunctionAbort extends Error {
  override readonly name = 'FunctionAbort'
  readonly code: bigint | 'arithmetic'
  /** The module that aborts, if not the called one. */
  readonly module: string | undefined

  constructor(code: bigint | 'arithmetic', module?: string) {
    super(`Move function aborts with ${code}`)
    this.code = code
    this.module = module
  }
}

/** The abort that the maths of a pool reports. */
export const toFunctionAbort = ({ module, code }: MoveAbortCode): FunctionAbort =>
  new FunctionAbort(code === 'arithmetic' ? code : BigInt(code), module)

/** Functions by `package::module::function`. */
export type MoveFunctions = ReadonlyMap<string, MoveFunction>

export const functionKey = (address: string, module: string, name: string): string =>
  `${normalizeSuiAddress(address)}::${module}::${name}`

/** Functions of one package, by `module::function`. */
export const packageFunctions = (address: string, functions: Readonly<Record<string, MoveFunction>>): MoveFunctions =>
  new Map(Object.entries(functions).map(([name, entry]) => [`${normalizeSuiAddress(address)}::${name}`, entry]))
