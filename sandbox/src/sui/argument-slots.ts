/* Where the arguments of commands come from: gas coin, inputs and results, and the rules by which each may be used. */
import type { bcs } from '@mysten/sui/bcs'
import { argumentError } from './execution-failure.ts'
import { copyValue, type MoveValue, plainValue } from './move-value.ts'
import { isPureOfType, schemaOfPure } from './pure-input.ts'

export type Argument = typeof bcs.Argument.$inferType

/** `origin` decides what a command may do with the value. `value` is null once it was moved. */
export type Slot = {
  readonly origin: 'gas' | 'owned' | 'immutable' | 'shared' | 'shared-read-only' | 'plain' | 'result'
  value: MoveValue | null
}

export type Slots = Readonly<{
  /** Null if an address balance pays for the gas. */
  gas: Slot | null
  inputs: readonly Slot[]
  /** Of the commands that have run. */
  results: readonly (readonly Slot[])[]
}>

function locateResult({ results }: Slots, [result, subresult]: readonly [number, number], position: number): Slot {
  const command = results[result]
  if (command === undefined) throw argumentError(position, 'IndexOutOfBounds', result)
  const slot = command[subresult]
  if (slot === undefined) throw argumentError(position, 'SecondaryIndexOutOfBounds', result, subresult)
  return slot
}

function locate(slots: Slots, argument: Argument, position: number): Slot {
  switch (argument.$kind) {
    case 'GasCoin':
      if (slots.gas === null) throw argumentError(position, 'InvalidGasCoinUsage')
      return slots.gas
    case 'Input': {
      const slot = slots.inputs[argument.Input]
      if (slot === undefined) throw argumentError(position, 'IndexOutOfBounds', argument.Input)
      return slot
    }
    case 'Result': {
      const count = slots.results[argument.Result]?.length
      if (count !== undefined && count !== 1) throw argumentError(position, 'InvalidResultArity', argument.Result)
      return locateResult(slots, [argument.Result, 0], position)
    }
    case 'NestedResult':
      return locateResult(slots, argument.NestedResult, position)
  }
}

function read(slots: Slots, argument: Argument, position: number): Readonly<{ slot: Slot; value: MoveValue }> {
  const slot = locate(slots, argument, position)
  if (slot.value === null) throw argumentError(position, 'InvalidValueUsage')
  return { slot, value: slot.value }
}

/** Compares the type, and gives a pure input its type. */
function withType(value: MoveValue, type: string | null, position: number): MoveValue {
  if (type === null || value.type === type) return value
  if (value.type !== null) throw argumentError(position, 'TypeMismatch')
  const schema = schemaOfPure(type)
  if (schema === null) throw argumentError(position, 'InvalidUsageOfPureArg')
  if (!isPureOfType(schema, value.contents)) throw argumentError(position, 'InvalidBCSBytes')
  return plainValue(type, value.contents)
}

/** Moves or copies the value out of its slot. Only a transfer takes the gas coin. */
export function takeValue(
  slots: Slots,
  argument: Argument,
  position: number,
  { type, isTransfer = false }: Readonly<{ type: string | null; isTransfer?: boolean }>,
): MoveValue {
  const { slot, value } = read(slots, argument, position)
  const typed = withType(value, type, position)
  if (typed.abilities.has('copy')) return copyValue(typed)
  if (slot.origin === 'gas' && !isTransfer) throw argumentError(position, 'InvalidGasCoinUsage')
  if (slot.origin === 'immutable' || slot.origin === 'shared-read-only')
    throw argumentError(position, 'InvalidObjectByValue')
  if (slot.origin === 'shared') throw argumentError(position, 'SharedObjectOperationNotAllowed')
  slot.value = null
  return typed
}

export function borrow(slots: Slots, argument: Argument, position: number, type: string | null): MoveValue {
  const { value } = read(slots, argument, position)
  return withType(value, type, position)
}

/** The borrowed value is changed in place. */
export function borrowMutable(slots: Slots, argument: Argument, position: number, type: string | null): MoveValue {
  const { slot, value } = read(slots, argument, position)
  if (slot.origin === 'immutable' || slot.origin === 'shared-read-only')
    throw argumentError(position, 'InvalidObjectByMutRef')
  const typed = withType(value, type, position)
  slot.value = typed
  return typed
}
