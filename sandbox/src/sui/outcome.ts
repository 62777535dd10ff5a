import type { Failure } from './execution-failure.ts'
import type { GasCost } from './gas.ts'
import type { CommandOutput } from './run-commands.ts'
import type { SuiObject } from './sui-object.ts'

export type MoveEvent = Readonly<{
  package: string
  module: string
  sender: string
  type: string
  contents: Uint8Array
}>
export type ObjectChange = Readonly<{ id: string; before: SuiObject | null; after: SuiObject | null }>
/** Base units, signed. */
export type AmountChange = Readonly<{ owner: string; coinType: string; amount: bigint }>

export type Outcome = Readonly<{
  failure: Failure | null
  /** Index of the command that failed. */
  failedCommand: number | null
  epoch: bigint
  gas: GasCost
  /** Null if an address balance paid. */
  gasObjectId: string | null
  lamportVersion: bigint
  /** Ascending by id. */
  changes: readonly ObjectChange[]
  accumulatorWrites: readonly AmountChange[]
  readOnlyShared: readonly SuiObject[]
  /** Dynamic fields that were read and not changed. */
  readFields: readonly SuiObject[]
  dependencies: readonly string[]
  events: readonly MoveEvent[]
  balanceChanges: readonly AmountChange[]
  outputs: readonly CommandOutput[]
  effectsBytes: Uint8Array<ArrayBuffer>
  effectsDigest: string
  eventsBytes: Uint8Array<ArrayBuffer> | null
  eventsDigest: string | null
}>
