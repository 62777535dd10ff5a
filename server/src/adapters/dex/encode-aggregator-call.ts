import { externalExecutor, swapRouter } from '@swapyard/contracts'
import { encodeFunctionData, type Hex, zeroAddress } from 'viem'
import type { AggregatorCall } from '../../swap/domain/aggregator-call.ts'
import { type EncodedSwap, orderOf, type SwapTerms } from './encode-swap.ts'

/** What ExternalExecutor.sol reads before the call's bytes. */
const HEAD = 5
const WORD_HEX = 64
const ADDRESS_MAX = (1n << 160n) - 1n

/** The call of our router by which its executor calls an outside router. null stands for the native coin. */
export function encodeAggregatorCall(
  call: AggregatorCall,
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

/** The call in a route of ExternalExecutor between these tokens; null for what it would not carry out, or we would not write. */
export function decodeAggregatorCall(route: readonly bigint[], tokenIn: string, tokenOut: string): AggregatorCall | null {
  const [source, target, called, spender, length] = route
  if (source === undefined || target === undefined || called === undefined) return null
  if (spender === undefined || length === undefined || [source, target, called, spender].some(isNoAddress)) return null
  if (source !== BigInt(tokenIn) || target !== BigInt(tokenOut) || source === target) return null
  const bytes = route.slice(HEAD).map((word) => word.toString(16).padStart(WORD_HEX, '0'))
  if (length < 4n || BigInt(bytes.length) !== (length + 31n) / 32n) return null
  const end = 2 * Number.parseInt(length.toString(), 10)
  const all = bytes.join('')
  // What the last word has beyond is nothing.
  if (!/^0*$/.test(all.slice(end))) return null
  if ((source === 0n) !== (spender === 0n)) return null
  const addressOf = (word: bigint): Hex => `0x${word.toString(16).padStart(40, '0')}`
  return {
    target: addressOf(called),
    spender: spender === 0n ? null : addressOf(spender),
    calldata: `0x${all.slice(0, end)}`,
  }
}

const isNoAddress = (word: bigint): boolean => word > ADDRESS_MAX
