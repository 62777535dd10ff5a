/*
 * A swap as a programmable transaction. The amounts of later hops and of shares are computed on chain from what the earlier ones paid:
 * `fixed_point32` takes a share of 2^24 parts exactly. The last `coin::split` aborts if the output, less the fee, is below the minimum.
 */
import { bcs } from '@mysten/sui/bcs'
import { lastPriceOf } from '@swapyard/lib/pools/sui/concentrated-q64.ts'
import { AppError } from '../../core/domain/errors.ts'
import { assert, present } from '../../lib/assert.ts'
import type { SwapOrder } from '../../swap/ports/swap-chain.ts'
import { type RouteSwap, SHARE_ALL, SHARE_BITS } from '../../swap/routing/execute.ts'
import { nativeCoin } from './address-format.ts'
import type { ObjectRef } from './node.ts'

export type Argument = typeof bcs.Argument.$inferInput
export type Command = typeof bcs.Command.$inferInput
export type CallArg = typeof bcs.CallArg.$inferInput
export type Programmable = Readonly<{ inputs: CallArg[]; commands: Command[] }>

/** Positions of the inputs that every swap has; the two of the fee follow where there is one. */
export const inputPlaces = { ref: 0, recipient: 1, amountIn: 2, minReceived: 3, feeTo: 4, feePpm: 5 } as const
const MILLION = 1_000_000n
/** `fixed_point32` has 32 binary decimals. */
const FRACTION_BITS = 32n
export const CLOCK = `0x${'6'.padStart(64, '0')}`

export const functions = {
  split: '0x2::coin::split',
  rational: '0x1::fixed_point32::create_from_rational',
  flashSwap: 'pool::flash_swap',
} as const

/** Initial versions of shared objects by id. */
export type SharedVersions = (id: string) => bigint

/** Collects inputs, each once, and commands. The user's coins come last, so that their number moves no other input. */
function createBuilder(sharedVersions: SharedVersions) {
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
    pure: (type: 'bool' | 'u64' | 'u128', bytes: Uint8Array) => place(`${type} ${bytes}`, { Pure: { bytes } }),
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
type Builder = ReturnType<typeof createBuilder>

const u64 = (value: bigint): Uint8Array => bcs.u64().serialize(value).toBytes()
const nested = (result: Argument, index: number): Argument => {
  assert('Result' in result && typeof result.Result === 'number', 'a result of a command')
  return { NestedResult: [result.Result, index] }
}

/** Placeholder of the user's `index`-th coin until the number of other inputs is known. */
const coinAt = (index: number): Argument => ({ Input: -1 - index })

/** The amount that goes in, as a coin of its own: split off the gas coin, or off the user's coins. */
function takeInput(builder: Builder, { tokenIn }: Pick<SwapOrder, 'tokenIn'>, coins: number): Argument {
  const amount: Argument = { Input: inputPlaces.amountIn }
  if (tokenIn === nativeCoin) return builder.call(functions.split, [tokenIn], [{ GasCoin: true }, amount])
  const others = Array.from({ length: coins - 1 }, (_, index) => coinAt(index + 1))
  if (others.length > 0) builder.add({ MergeCoins: { destination: coinAt(0), sources: others } })
  return builder.call(functions.split, [tokenIn], [coinAt(0), amount])
}

/** A part of a coin as a balance, and its amount. */
function takeShare(builder: Builder, token: string, coin: Argument, share: number) {
  const held = builder.call('0x2::coin::value', [token], [coin])
  if (share === SHARE_ALL) return { amount: held, part: coin }
  const raw = BigInt(share) << (FRACTION_BITS - SHARE_BITS)
  const factor = builder.call('0x1::fixed_point32::create_from_raw_value', [], [builder.pure('u64', u64(raw))])
  const amount = builder.call('0x1::fixed_point32::multiply_u64', [], [held, factor])
  return { amount, part: builder.call(functions.split, [token], [coin, amount]) }
}

/** Returns the coin that the pool pays. */
function addSwap(builder: Builder, { pool, tokenIn, tokenOut, share }: RouteSwap, coin: Argument): Argument {
  assert(pool.kind === 'cetus', `a pool of Sui, not ${pool.kind}`)
  const [typeIn, typeOut] = [
    present(pool.tokens[tokenIn], 'the coin in'),
    present(pool.tokens[tokenOut], 'the coin out'),
  ]
  const a2b = tokenIn === 0
  const { amount, part } = takeShare(builder, typeIn, coin, share)
  const objects = [builder.shared(pool.config, false), builder.shared(pool.id, true)]
  const isTrue = builder.pure('bool', bcs.bool().serialize(true).toBytes())
  const direction = builder.pure('bool', bcs.bool().serialize(a2b).toBytes())
  const limit = builder.pure('u128', bcs.u128().serialize(lastPriceOf(a2b)).toBytes())
  const inputs = [...objects, direction, isTrue, amount, limit, builder.shared(CLOCK, false)]
  const swapped = builder.call(`${pool.package}::${functions.flashSwap}`, pool.tokens, inputs)
  const payment = builder.call('0x2::coin::into_balance', [typeIn], [part])
  const zero = builder.call('0x2::balance::zero', [typeOut], [])
  builder.call('0x2::balance::destroy_zero', [typeIn], [nested(swapped, a2b ? 0 : 1)])
  const payments = a2b ? [payment, zero] : [zero, payment]
  builder.call(`${pool.package}::pool::repay_flash_swap`, pool.tokens, [...objects, ...payments, nested(swapped, 2)])
  return builder.call('0x2::coin::from_balance', [typeOut], [nested(swapped, a2b ? 1 : 0)])
}

/** Swaps in their order, on the coins that the earlier ones have paid. Returns the output, and coins of other types that are left. */
function addRoute(builder: Builder, { swaps, tokenIn, tokenOut }: Omit<SwapOrder, 'ref'>, input: Argument) {
  const held = new Map([[tokenIn, input]])
  for (const swap of swaps) {
    const typeIn = present(swap.pool.tokens[swap.tokenIn], 'the coin in')
    const typeOut = present(swap.pool.tokens[swap.tokenOut], 'the coin out')
    const paid = addSwap(builder, swap, present(held.get(typeIn), 'a coin to swap'))
    if (swap.share === SHARE_ALL) held.delete(typeIn)
    const before = held.get(typeOut)
    if (before === undefined) held.set(typeOut, paid)
    else builder.add({ MergeCoins: { destination: before, sources: [paid] } })
  }
  const output = held.get(tokenOut)
  held.delete(tokenOut)
  if (output === undefined) throw new AppError('NO_ROUTE', 'there is no route between these coins')
  return { output, rest: [...held.values()] }
}

/** The fee is a share of the actual output, rounded down. */
function takeFee(builder: Builder, tokenOut: string, output: Argument): void {
  const rate = [{ Input: inputPlaces.feePpm }, builder.pure('u64', u64(MILLION))]
  const amount = builder.call('0x2::coin::value', [tokenOut], [output])
  const factor = builder.call(functions.rational, [], rate)
  const fee = builder.call('0x1::fixed_point32::multiply_u64', [], [amount, factor])
  const coin = builder.call(functions.split, [tokenOut], [output, fee])
  builder.add({ TransferObjects: { objects: [coin], address: { Input: inputPlaces.feeTo } } })
}

/** Replaces the placeholders of the user's coins. */
function placeCoins(commands: readonly Command[], first: number): Command[] {
  const placed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(placed)
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
    if ('Input' in value && typeof value.Input === 'number' && value.Input < 0)
      return { Input: first - value.Input - 1 }
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, placed(member)]))
  }
  return commands.map((command) => placed(command) as Command)
}

/** `coins`: the user's coins of the input, unless that is SUI, which the gas coin pays. */
export function composeSwap(
  order: SwapOrder,
  coins: readonly ObjectRef[],
  sharedVersions: SharedVersions,
): Programmable {
  const { ref, recipient, tokenIn, tokenOut, amountIn, minReceived, feePpm, feeTo } = order
  const builder = createBuilder(sharedVersions)
  const address = (text: string) => bcs.Address.serialize(text).toBytes()
  for (const bytes of [address(ref), address(recipient), u64(amountIn), u64(minReceived)]) builder.input(bytes)
  if (feeTo !== null) for (const bytes of [address(feeTo), u64(BigInt(feePpm))]) builder.input(bytes)
  builder.add({ MakeMoveVec: { type: 'address', elements: [{ Input: inputPlaces.ref }] } })
  const { output, rest } = addRoute(builder, order, takeInput(builder, { tokenIn }, coins.length))
  if (feeTo !== null) takeFee(builder, tokenOut, output)
  const received = builder.call(functions.split, [tokenOut], [output, { Input: inputPlaces.minReceived }])
  builder.add({ MergeCoins: { destination: received, sources: [output] } })
  builder.add({ TransferObjects: { objects: [received, ...rest], address: { Input: inputPlaces.recipient } } })
  const owned = coins.map((coin): CallArg => ({ Object: { ImmOrOwnedObject: { ...coin } } }))
  return {
    inputs: [...builder.inputs, ...(tokenIn === nativeCoin ? [] : owned)],
    commands: placeCoins(builder.commands, builder.inputs.length),
  }
}
