/*
 * A swap as a programmable transaction. The amounts of later hops and of shares are computed on chain from what the earlier ones paid:
 * `fixed_point32` takes a share of 2^24 parts exactly. The last `coin::split` aborts if the output, less the fee, is below the minimum.
 */
import { bcs } from '@mysten/sui/bcs'
import { AppError } from '../../core/domain/errors.ts'
import { present } from '../../lib/assert.ts'
import type { SwapOrder } from '../../swap/ports/swap-chain.ts'
import { SHARE_ALL, SHARE_BITS } from '../../swap/routing/execute.ts'
import { nativeCoin } from './address-format.ts'
import {
  type Argument,
  type Builder,
  type CallArg,
  type Command,
  createBuilder,
  type SharedVersions,
  u64,
} from './builder.ts'
import type { ObjectRef } from './node.ts'
import { addPoolSwap } from './pool-calls.ts'

export type Programmable = Readonly<{ inputs: CallArg[]; commands: Command[] }>

/** Positions of the inputs that every swap has; the two of the fee follow where there is one. */
export const inputPlaces = { ref: 0, recipient: 1, amountIn: 2, minReceived: 3, feeTo: 4, feePpm: 5 } as const
const MILLION = 1_000_000n
/** `fixed_point32` has 32 binary decimals. */
const FRACTION_BITS = 32n

export const functions = {
  split: '0x2::coin::split',
  rational: '0x1::fixed_point32::create_from_rational',
} as const

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

type Coins = Map<string, Argument>

function addCoin(builder: Builder, coins: Coins, type: string, coin: Argument): void {
  const held = coins.get(type)
  if (held === undefined) coins.set(type, coin)
  else builder.add({ MergeCoins: { destination: held, sources: [coin] } })
}

/**
 * Swaps in their order, on the coins that the earlier ones have paid. Returns the output, coins of other types that are left, and what
 * pools have left of their inputs.
 */
function addRoute(builder: Builder, { swaps, tokenIn, tokenOut, account }: Omit<SwapOrder, 'ref'>, input: Argument) {
  const held: Coins = new Map([[tokenIn, input]])
  const unused: Coins = new Map()
  for (const { pool, share, ...swap } of swaps) {
    const typeIn = present(pool.tokens[swap.tokenIn], 'the coin in')
    const typeOut = present(pool.tokens[swap.tokenOut], 'the coin out')
    const { amount, part } = takeShare(builder, typeIn, present(held.get(typeIn), 'a coin to swap'), share)
    const swapped = addPoolSwap(builder, pool, { coin: part, amount, tokenIn: swap.tokenIn, account })
    if (share === SHARE_ALL) held.delete(typeIn)
    addCoin(builder, held, typeOut, swapped.paid)
    if (swapped.rest !== null) addCoin(builder, unused, typeIn, swapped.rest)
  }
  const output = held.get(tokenOut)
  held.delete(tokenOut)
  if (output === undefined) throw new AppError('NO_ROUTE', 'there is no route between these coins')
  return { output, rest: [...held.values()], unused }
}

/** What pools have left goes back into the coin that paid, or to the sender. */
function returnUnused(builder: Builder, { tokenIn, account }: Omit<SwapOrder, 'ref'>, unused: Coins): void {
  const paidWith: Argument = tokenIn === nativeCoin ? { GasCoin: true } : coinAt(0)
  const input = unused.get(tokenIn)
  if (input !== undefined) builder.add({ MergeCoins: { destination: paidWith, sources: [input] } })
  const others = [...unused].flatMap(([type, coin]) => (type === tokenIn ? [] : [coin]))
  if (others.length === 0) return
  const sender = builder.pure('address', bcs.Address.serialize(account).toBytes())
  builder.add({ TransferObjects: { objects: others, address: sender } })
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
  const { output, rest, unused } = addRoute(builder, order, takeInput(builder, { tokenIn }, coins.length))
  returnUnused(builder, order, unused)
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
