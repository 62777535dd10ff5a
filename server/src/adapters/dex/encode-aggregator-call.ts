import { externalExecutor, swapRouter } from '@swapyard/contracts'
import { encodeFunctionData, type Hex, zeroAddress } from 'viem'
import type { ContractCall } from '../../swap/ports/aggregator.ts'
import { type EncodedSwap, orderOf, type SwapTerms } from './encode-swap.ts'

/** Words that ExternalExecutor.sol reads before the calldata. */
const HEAD = 5
const WORD_HEX = 64
const ADDRESS_MAX = (1n << 160n) - 1n

/** The call of our router whose executor calls an aggregator. A null token is the native currency. */
export function encodeAggregatorCall(
  call: ContractCall,
  { source, target }: Readonly<{ source: string | null; target: string | null }>,
  terms: SwapTerms,
): EncodedSwap {
  const [tokenIn, tokenOut] = [source ?? zeroAddress, target ?? zeroAddress]
  const order = orderOf({ tokenIn, tokenOut, executor: externalExecutor.address }, terms)
  const bytes = call.calldata.slice(2)
  const words = bytes.match(new RegExp(`.{1,${WORD_HEX}}`, 'g')) ?? []
  const route = [
    BigInt(tokenIn),
    BigInt(tokenOut),
    BigInt(call.target),
    BigInt(call.spender ?? zeroAddress),
    BigInt(bytes.length / 2),
    ...words.map((word) => BigInt(`0x${word.padEnd(WORD_HEX, '0')}`)),
  ]
  const calldata = encodeFunctionData({ abi: swapRouter.abi, functionName: 'swap', args: [order, route] })
  return { to: swapRouter.address, calldata, value: source === null ? terms.amountIn : 0n }
}

/** Decodes the aggregator call of a route between these tokens; null if the executor would reject it or we would not encode it so. */
export function decodeAggregatorCall(route: readonly bigint[], tokenIn: string, tokenOut: string): ContractCall | null {
  const [source, target, callTarget, spender, length] = route
  if (source === undefined || target === undefined || callTarget === undefined) return null
  if (spender === undefined || length === undefined || [source, target, callTarget, spender].some(isNoAddress))
    return null
  if (source !== BigInt(tokenIn) || target !== BigInt(tokenOut) || source === target) return null
  const bytes = route.slice(HEAD).map((word) => word.toString(16).padStart(WORD_HEX, '0'))
  if (length < 4n || BigInt(bytes.length) !== (length + 31n) / 32n) return null
  const end = 2 * Number.parseInt(length.toString(), 10)
  const all = bytes.join('')
  // The padding of the last word must be zero.
  if (!/^0*$/.test(all.slice(end))) return null
  if ((source === 0n) !== (spender === 0n)) return null
  const addressOf = (word: bigint): Hex => `0x${word.toString(16).padStart(40, '0')}`
  return {
    target: addressOf(callTarget),
    spender: spender === 0n ? null : addressOf(spender),
    calldata: `0x${all.slice(0, end)}`,
  }
}

const isNoAddress = (word: bigint): boolean => word > ADDRESS_MAX
