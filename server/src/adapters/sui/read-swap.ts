/* Reads a swap out of a programmable transaction, and computes the hash of what it does. */
import { createHash } from 'node:crypto'
import { bcs } from '@mysten/sui/bcs'
import { fromBase64, toHex } from '@mysten/sui/utils'
import type { SwapAction, SwapOrder } from '../../swap/ports/swap-chain.ts'
import { parseCoinType } from './address-format.ts'
import { composeSwap, functions, inputPlaces, type Programmable } from './compose-swap.ts'
import { isSwapFunction } from './pool-calls.ts'

export type SuiTransaction = typeof bcs.TransactionDataV1.$inferType
type Parsed = typeof bcs.ProgrammableTransaction.$inferType
type CallArg = Parsed['inputs'][number]
type Command = Parsed['commands'][number]

const NO_REF = `0x${'0'.repeat(64)}`
const isOwned = (input: CallArg | undefined): boolean => input?.Object?.ImmOrOwnedObject !== undefined

/** Moves the results of later commands to where they are without the command at `removed`. */
function withoutCommand(commands: readonly Command[], removed: number): unknown[] {
  const shift = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shift)
    if (typeof value !== 'object' || value === null) return value
    const { Result: result, NestedResult: part } = value as { Result?: number; NestedResult?: [number, number] }
    if (typeof result === 'number') return { ...value, Result: result > removed ? result - 1 : result }
    if (part !== undefined) return { ...value, NestedResult: [part[0] > removed ? part[0] - 1 : part[0], part[1]] }
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shift(member)]))
  }
  return commands.filter((_, index) => index !== removed).map(shift)
}

/** Place of the command that merges the user's coins, after that of the reference. */
const MERGE = 1

/** Whether the command merges all of the user's coins into the first, and nothing else. */
function isMergeOfCoins(command: Command | undefined, first: number, count: number): boolean {
  if (command?.MergeCoins === undefined) return false
  const { destination, sources } = command.MergeCoins
  const places = [destination, ...sources].map((argument) => argument.Input ?? -1)
  return places.length === count && places.every((place, index) => place === first + index)
}

/**
 * SHA-256 of everything that a swap does, except its reference, and which of the user's coins it uses: those are chosen late, and their
 * number decides whether they are merged first. Null for a transaction in another form.
 */
export function hashOf({ inputs, commands }: Parsed): string | null {
  const firstOwned = inputs.findIndex(isOwned)
  const first = firstOwned === -1 ? inputs.length : firstOwned
  const coins = inputs.length - first
  if (!inputs.slice(first).every(isOwned)) return null
  const isMerged = isMergeOfCoins(commands[MERGE], first, coins)
  if (coins > 1 !== isMerged) return null
  const fixed = inputs.slice(0, first).map((input, place) => {
    if (place === inputPlaces.ref) return 'ref'
    const shared = input.Object?.SharedObject
    // The version in which an object was first shared is a fact of the chain.
    return shared === undefined ? input : ['shared', shared.objectId, shared.mutable]
  })
  const text = JSON.stringify([fixed, isMerged ? withoutCommand(commands, MERGE) : commands])
  return `0x${createHash('sha256').update(text).digest('hex')}`
}

const anyCoin = { objectId: NO_REF, version: '0', digest: '1'.repeat(32) }

const reparse = (programmable: Programmable): Parsed =>
  bcs.ProgrammableTransaction.parse(bcs.ProgrammableTransaction.serialize(programmable).toBytes())

/** The hash of the transaction that an order becomes. */
export function hashOrder(order: Omit<SwapOrder, 'ref'>): string {
  const hash = hashOf(reparse(composeSwap({ ...order, ref: NO_REF }, [anyCoin], () => 0n)))
  if (hash === null) throw new Error('an order has another form than its transaction')
  return hash
}

const targetOf = (command: Command): string => {
  const call = command.MoveCall
  const short = (address: string) => `0x${address.slice(2).replace(/^0+/, '')}`
  return call === undefined ? '' : `${short(call.package)}::${call.module}::${call.function}`
}

function readTerms({ inputs, commands }: Parsed) {
  const bytesAt = (place: number) => fromBase64(inputs[place]?.Pure?.bytes ?? '')
  const u64At = (place: number) => BigInt(bcs.u64().parse(bytesAt(place)))
  const addressAt = (place: number) => bcs.Address.parse(bytesAt(place))
  const splits = commands.filter((command) => targetOf(command) === functions.split)
  const [tokenIn, tokenOut] = [splits[0], splits.at(-1)].map((one) =>
    parseCoinType(one?.MoveCall?.typeArguments[0] ?? ''),
  )
  const hasFee = commands.some((command) => targetOf(command) === functions.rational)
  if (!tokenIn || !tokenOut) return null
  return {
    ...{ tokenIn, tokenOut, ref: `0x${toHex(bytesAt(inputPlaces.ref))}`, recipient: addressAt(inputPlaces.recipient) },
    ...{ amountIn: u64At(inputPlaces.amountIn), minReceived: u64At(inputPlaces.minReceived) },
    feePpm: hasFee ? Number(u64At(inputPlaces.feePpm)) : 0,
    feeTo: hasFee ? addressAt(inputPlaces.feeTo) : null,
  }
}

/** Null if the transaction is no swap in the form that we build. The caller compares it with what the reference binds. */
export function readSwapAction({ kind, expiration }: SuiTransaction): SwapAction | null {
  const programmable = kind.ProgrammableTransaction
  if (programmable === undefined) return null
  const callHash = hashOf(programmable)
  if (callHash === null) return null
  try {
    const terms = readTerms(programmable)
    if (terms === null) return null
    const { inputs, commands } = programmable
    const calls = commands.flatMap(({ MoveCall: call }) => call ?? [])
    const swaps = calls.filter((call) => isSwapFunction(call.module, call.function))
    return {
      ...{ kind: 'swap', executor: null, callHash, ...terms },
      expiry: expiration.Epoch === undefined ? null : { by: 'epoch', at: Number(expiration.Epoch) },
      pools: inputs.flatMap(({ Object: object }) =>
        object?.SharedObject?.mutable === true ? [object.SharedObject.objectId] : [],
      ),
      routeTokens: swaps.flatMap(({ typeArguments }) =>
        typeArguments.slice(0, 2).flatMap((type) => parseCoinType(type) ?? []),
      ),
    }
  } catch {
    // Inputs of other types than those of a swap.
    return null
  }
}

/** Packages that the transaction calls, and accounts that it pays. */
export function readTargets({ kind }: SuiTransaction): readonly string[] {
  const { inputs = [], commands = [] } = kind.ProgrammableTransaction ?? {}
  const targets = commands.flatMap((command): string[] => {
    if (command.MoveCall !== undefined) return [command.MoveCall.package]
    const place = command.TransferObjects?.address.Input
    const bytes = place === undefined ? undefined : inputs[place]?.Pure?.bytes
    return bytes === undefined ? [] : [`0x${toHex(fromBase64(bytes))}`]
  })
  const isSystem = (target: string) => /^0x0{60}/.test(target)
  return [...new Set(targets)].filter((target) => !isSystem(target))
}
