/* Runs the commands of a programmable transaction, one after the other. */
import type { bcs } from '@mysten/sui/bcs'
import { type Argument, borrow, borrowMutable, type Slot, type Slots, takeValue } from './argument-slots.ts'
import { canonicalType } from './canonical-type.ts'
import { argumentError, ExecutionFailure } from './execution-failure.ts'
import { FunctionAbort, functionKey, type MoveContext, type MoveFunctions } from './move-function.ts'
import {
  coinValue,
  type MoveValue,
  readAddress,
  readBalance,
  readU64,
  setBalance,
  u64Max,
  vectorValue,
} from './move-value.ts'
import { coinTypeArgument } from './sui-object.ts'

type Command = typeof bcs.Command.$inferType
type MoveCallCommand = Extract<Command, { $kind: 'MoveCall' }>['MoveCall']

/** BCS of what a command returned, and of what it changed through references. */
export type CommandOutput = Readonly<{
  returned: readonly Uint8Array[]
  mutated: readonly Readonly<{ argument: Argument; contents: Uint8Array }>[]
}>

/** Adds the index of the command to a failure. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly failure: ExecutionFailure['failure']
  readonly command: number

  constructor(failure: ExecutionFailure['failure'], command: number) {
    super(failure.kind)
    this.failure = failure
    this.command = command
  }
}

type Run = Readonly<{ slots: Slots; context: MoveContext; functions: MoveFunctions }>
type Done = Readonly<{ returned: readonly MoveValue[]; mutated: readonly (readonly [Argument, MoveValue])[] }>

function requireCoin(value: MoveValue, position: number): string {
  const coinType = value.type === null ? null : coinTypeArgument(value.type)
  if (coinType === null) throw argumentError(position, 'TypeMismatch')
  return coinType
}

function splitCoins({ slots, context }: Run, source: Argument, amounts: readonly Argument[]): Done {
  const coin = borrowMutable(slots, source, 0, null)
  const coinType = requireCoin(coin, 0)
  const parts = amounts.map((amount, i) => readU64(takeValue(slots, amount, i + 1, { type: 'u64' })))
  const returned = parts.map((part) => {
    const rest = readBalance(coin) - part
    if (rest < 0n) throw new ExecutionFailure({ kind: 'InsufficientCoinBalance' })
    setBalance(coin, rest)
    return coinValue(coinType, context.createId(), part)
  })
  return { returned, mutated: [[source, coin]] }
}

function mergeCoins({ slots }: Run, destination: Argument, sources: readonly Argument[]): Done {
  const target = borrowMutable(slots, destination, 0, null)
  requireCoin(target, 0)
  for (const [i, source] of sources.entries()) {
    const merged = takeValue(slots, source, i + 1, { type: target.type })
    if (merged === target) throw argumentError(i + 1, 'InvalidValueUsage')
    const sum = readBalance(target) + readBalance(merged)
    if (sum > u64Max) throw new ExecutionFailure({ kind: 'CoinBalanceOverflow' })
    setBalance(target, sum)
  }
  return { returned: [], mutated: [[destination, target]] }
}

function transferObjects({ slots, context }: Run, objects: readonly Argument[], address: Argument): Done {
  const values = objects.map((object, i) => takeValue(slots, object, i, { type: null, isTransfer: true }))
  const recipient = readAddress(takeValue(slots, address, objects.length, { type: 'address' }))
  for (const value of values) {
    if (!value.abilities.has('key') || !value.abilities.has('store'))
      throw new ExecutionFailure({ kind: 'InvalidTransferObject' })
    context.setOwner(value, { kind: 'address', address: recipient })
  }
  return { returned: [], mutated: [] }
}

function makeVector({ slots }: Run, type: string | null, elements: readonly Argument[]): Done {
  const elementType = type === null ? null : canonicalType(type)
  const values: MoveValue[] = []
  for (const [i, element] of elements.entries()) {
    const value = takeValue(slots, element, i, { type: elementType ?? values[0]?.type ?? null })
    if (elementType === null && !value.abilities.has('key'))
      throw argumentError(i, 'InvalidMakeMoveVecNonObjectArgument')
    values.push(value)
  }
  const vectorOf = elementType ?? values[0]?.type
  if (vectorOf === undefined || vectorOf === null) throw new ExecutionFailure({ kind: 'ArityMismatch' })
  return { returned: [vectorValue(vectorOf, values)], mutated: [] }
}

/** The first copy of `$0`, `$1`… that is replaced cannot introduce another: type arguments have no dollar sign. */
const fillType = (type: string, typeArguments: readonly string[]): string =>
  canonicalType(type.replaceAll(/\$(\d)/g, (_, index: string) => typeArguments.at(index.charCodeAt(0) - 48) ?? ''))

function callFunction({ slots, context, functions }: Run, call: MoveCallCommand): Done {
  const entry = functions.get(functionKey(call.package, call.module, call.function))
  if (entry === undefined) throw new ExecutionFailure({ kind: 'FunctionNotFound' })
  if (call.typeArguments.length !== entry.typeParameters) throw new ExecutionFailure({ kind: 'TypeArityMismatch' })
  if (call.arguments.length !== entry.parameters.length) throw new ExecutionFailure({ kind: 'ArityMismatch' })
  const typeArguments = call.typeArguments.map((type) => canonicalType(type))
  const mutated: (readonly [Argument, MoveValue])[] = []
  const values = entry.parameters.map((parameter, i) => {
    const argument = call.arguments[i] as Argument
    const type = fillType(parameter.type, typeArguments)
    if (parameter.use === 'value') return takeValue(slots, argument, i, { type })
    if (parameter.use === 'reference') return borrow(slots, argument, i, type)
    const value = borrowMutable(slots, argument, i, type)
    if (mutated.some(([, other]) => other === value)) throw argumentError(i, 'InvalidValueUsage')
    mutated.push([argument, value])
    return value
  })
  if (values.some((value, i) => entry.parameters[i]?.use !== 'mutable' && mutated.some(([, other]) => other === value)))
    throw argumentError(0, 'InvalidValueUsage')
  try {
    return { returned: entry.run({ typeArguments, arguments: values, context }), mutated }
  } catch (error) {
    if (!(error instanceof FunctionAbort)) throw error
    const location = { package: call.package, module: error.module ?? call.module, function: call.function }
    throw error.code === 'arithmetic'
      ? new ExecutionFailure({ kind: 'MovePrimitiveRuntimeError', location })
      : new ExecutionFailure({ kind: 'MoveAbort', location, code: error.code })
  }
}

function runCommand(run: Run, command: Command): Done {
  switch (command.$kind) {
    case 'SplitCoins':
      return splitCoins(run, command.SplitCoins.coin, command.SplitCoins.amounts)
    case 'MergeCoins':
      return mergeCoins(run, command.MergeCoins.destination, command.MergeCoins.sources)
    case 'TransferObjects':
      return transferObjects(run, command.TransferObjects.objects, command.TransferObjects.address)
    case 'MakeMoveVec':
      return makeVector(run, command.MakeMoveVec.type, command.MakeMoveVec.elements)
    case 'MoveCall':
      return callFunction(run, command.MoveCall)
    case 'Publish':
    case 'Upgrade':
      throw new Error(`${command.$kind} is refused before execution`)
  }
}

/** Every result that cannot be dropped must have been used. */
function requireUsed(results: readonly (readonly Slot[])[]): void {
  for (const [result, slots] of results.entries())
    for (const [subresult, { value }] of slots.entries())
      if (value !== null && !value.abilities.has('drop'))
        throw new ExecutionFailure({ kind: 'UnusedValueWithoutDrop', result, subresult })
}

/** Throws a CommandFailure or an ExecutionFailure; the values are then worthless. */
export function runCommands(
  commands: readonly Command[],
  given: Omit<Slots, 'results'>,
  { context, functions }: Omit<Run, 'slots'>,
): CommandOutput[] {
  const results: Slot[][] = []
  const run: Run = { slots: { ...given, results }, context, functions }
  const outputs = commands.map((command, i) => {
    try {
      const { returned, mutated } = runCommand(run, command)
      results.push(returned.map((value) => ({ origin: 'result', value })))
      return {
        returned: returned.map(({ contents }) => Uint8Array.from(contents)),
        mutated: mutated.map(([argument, { contents }]) => ({ argument, contents: Uint8Array.from(contents) })),
      }
    } catch (error) {
      if (error instanceof ExecutionFailure) throw new CommandFailure(error.failure, i)
      throw error
    }
  })
  requireUsed(results)
  return outputs
}
