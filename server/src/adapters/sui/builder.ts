/* Inputs and commands of a programmable transaction. */
import { bcs } from '@mysten/sui/bcs'
import { assert } from '../../lib/assert.ts'

export type Argument = typeof bcs.Argument.$inferInput
export type Command = typeof bcs.Command.$inferInput
export type CallArg = typeof bcs.CallArg.$inferInput

/** Initial versions of shared objects by id. */
export type SharedVersions = (id: string) => bigint

/** Collects inputs, each once, and commands. The user's coins come last, so that their number moves no other input. */
export function createBuilder(sharedVersions: SharedVersions) {
  const inputs: CallArg[] = []
  const places = new Map<string, number>()
  const commands: Command[] = []
  const place = (key: string, input: CallArg): Argument => {
    const known = places.get(key)
    const at = known ?? inputs.length
    if (known === undefined) {
      places.set(key, at)
      inputs.push(input)
    }
    return { Input: at }
  }
  const add = (command: Command): number => commands.push(command) - 1
  const input = (bytes: Uint8Array): Argument => {
    inputs.push({ Pure: { bytes } })
    return { Input: inputs.length - 1 }
  }
  return {
    ...{ inputs, commands, add, input },
    pure: (type: 'bool' | 'u64' | 'u128' | 'address', bytes: Uint8Array) =>
      place(`${type} ${bytes}`, { Pure: { bytes } }),
    shared: (objectId: string, mutable: boolean) =>
      place(objectId, {
        Object: { SharedObject: { objectId, initialSharedVersion: sharedVersions(objectId), mutable } },
      }),
    call(target: string, typeArguments: readonly string[], values: readonly Argument[]): Argument {
      const [address = '', module = '', name = ''] = target.split('::')
      const call = {
        package: address,
        module,
        function: name,
        typeArguments: [...typeArguments],
        arguments: [...values],
      }
      return { Result: add({ MoveCall: call }) }
    },
  }
}
export type Builder = ReturnType<typeof createBuilder>

export const u64 = (value: bigint): Uint8Array => bcs.u64().serialize(value).toBytes()
export const nested = (result: Argument, index: number): Argument => {
  assert('Result' in result && typeof result.Result === 'number', 'a result of a command')
  return { NestedResult: [result.Result, index] }
}
