/* The functions of 0x2::coin and 0x2::balance that wallets and swaps use. */
import {
  FunctionAbort,
  type MoveFunction,
  type MoveFunctions,
  mutable,
  type Parameter,
  packageFunctions,
  reference,
  value,
} from './move-function.ts'
import {
  balanceValue,
  coinValue,
  type MoveValue,
  readAddress,
  readBalance,
  readU64,
  readWithdrawal,
  setBalance,
  u64Max,
  u64Value,
} from './move-value.ts'

const units = 20n
/** Abort codes of 0x2::balance. */
const notZero = 0n
const overflow = 1n
const notEnough = 2n

const coin = '0x2::coin::Coin<$0>'
const balance = '0x2::balance::Balance<$0>'
const withdrawal = '0x2::funds_accumulator::Withdrawal<0x2::balance::Balance<$0>>'

const define = (parameters: readonly Parameter[], run: MoveFunction['run']): MoveFunction => ({
  ...{ typeParameters: 1, units },
  parameters,
  run,
})

function take(from: MoveValue, amount: bigint): bigint {
  const rest = readBalance(from) - amount
  if (rest < 0n) throw new FunctionAbort(notEnough, 'balance')
  setBalance(from, rest)
  return amount
}

function add(to: MoveValue, amount: bigint): void {
  const sum = readBalance(to) + amount
  if (sum > u64Max) throw new FunctionAbort(overflow, 'balance')
  setBalance(to, sum)
}

function requireZero(amount: bigint): void {
  if (amount !== 0n) throw new FunctionAbort(notZero, 'balance')
}

/** A balance is a u64 alone; a coin has its id in front. */
const amountOf = (held: MoveValue): bigint => (held.abilities.has('key') ? readBalance(held) : readU64(held))

/** The interpreter has compared the number of arguments with that of the parameters. */
type Arguments = readonly [MoveValue, MoveValue]
const pair = (values: readonly MoveValue[]): Arguments => values as Arguments
const single = (values: readonly MoveValue[]): MoveValue => pair(values)[0]
const typeOf = (typeArguments: readonly string[]): string => (typeArguments as readonly [string])[0]

const sendFunds = (parameter: string): MoveFunction =>
  define([value(parameter), value('address')], ({ arguments: values, typeArguments, context }) => {
    const [held, recipient] = pair(values)
    context.changeAddressBalance(readAddress(recipient), typeOf(typeArguments), amountOf(held))
    return []
  })

function redeem(call: Parameters<MoveFunction['run']>[0]): bigint {
  const { owner, limit } = readWithdrawal(single(call.arguments))
  call.context.changeAddressBalance(owner, typeOf(call.typeArguments), -limit)
  return limit
}

export const coinFunctions: MoveFunctions = packageFunctions('0x2', {
  'coin::zero': define([], ({ typeArguments, context }) => [coinValue(typeOf(typeArguments), context.createId(), 0n)]),
  'coin::value': define([reference(coin)], ({ arguments: values }) => [u64Value(readBalance(single(values)))]),
  'coin::join': define([mutable(coin), value(coin)], ({ arguments: values }) => {
    const [target, source] = pair(values)
    add(target, readBalance(source))
    return []
  }),
  'coin::split': define([mutable(coin), value('u64')], ({ arguments: values, typeArguments, context }) => {
    const [source, amount] = pair(values)
    return [coinValue(typeOf(typeArguments), context.createId(), take(source, readU64(amount)))]
  }),
  'coin::destroy_zero': define([value(coin)], ({ arguments: values }) => {
    requireZero(readBalance(single(values)))
    return []
  }),
  'coin::into_balance': define([value(coin)], ({ arguments: values, typeArguments }) => [
    balanceValue(typeOf(typeArguments), readBalance(single(values))),
  ]),
  'coin::from_balance': define([value(balance)], ({ arguments: values, typeArguments, context }) => [
    coinValue(typeOf(typeArguments), context.createId(), amountOf(single(values))),
  ]),
  'coin::send_funds': sendFunds(coin),
  'coin::redeem_funds': define([value(withdrawal)], (call) => [
    coinValue(typeOf(call.typeArguments), call.context.createId(), redeem(call)),
  ]),
  'balance::zero': define([], ({ typeArguments }) => [balanceValue(typeOf(typeArguments), 0n)]),
  'balance::value': define([reference(balance)], ({ arguments: values }) => [u64Value(amountOf(single(values)))]),
  'balance::join': define([mutable(balance), value(balance)], ({ arguments: values }) => {
    const [target, source] = pair(values)
    const sum = amountOf(target) + amountOf(source)
    if (sum > u64Max) throw new FunctionAbort(overflow)
    setBalance(target, sum)
    return [u64Value(sum)]
  }),
  'balance::split': define([mutable(balance), value('u64')], ({ arguments: values, typeArguments }) => {
    const [source, part] = pair(values)
    const rest = amountOf(source) - readU64(part)
    if (rest < 0n) throw new FunctionAbort(notEnough)
    setBalance(source, rest)
    return [balanceValue(typeOf(typeArguments), readU64(part))]
  }),
  'balance::destroy_zero': define([value(balance)], ({ arguments: values }) => {
    requireZero(amountOf(single(values)))
    return []
  }),
  'balance::send_funds': sendFunds(balance),
  'balance::redeem_funds': define([value(withdrawal)], (call) => [
    balanceValue(typeOf(call.typeArguments), redeem(call)),
  ]),
})
