import { swapExecutor, swapRouter } from '@swapyard/contracts'
import { decodeFunctionData, encodeFunctionData, type Hex, zeroAddress } from 'viem'
import { encodeRoute, type RouteToEncode } from './encode-route.ts'

/** The parameters of SwapRouter apart from the route. */
export type SwapTerms = Readonly<{
  amountIn: bigint
  /** Minimum amount for the recipient, after the fee. */
  minOut: bigint
  recipient: string
  /** Millionths of the output, rounded down, paid to `to`. */
  fee: Readonly<{ to: string; ppm: bigint }> | null
  /** The swap's reference in the router's log, 32 bytes. */
  reference: Hex
  /** Latest block timestamp, Unix seconds. */
  deadline: bigint
}>

/** The router call that executes a route. */
export type EncodedSwap = Readonly<{ to: Hex; calldata: Hex /** wei sent with the call */; value: bigint }>

type OrderTokens = Readonly<{ tokenIn: string; tokenOut: string; executor: string }>

/** The fields of SwapRouter's struct, in its order. The zero address is the native currency. */
export const orderOf = ({ tokenIn, tokenOut, executor }: OrderTokens, terms: SwapTerms) => ({
  tokenIn: tokenIn as Hex,
  amountIn: terms.amountIn,
  tokenOut: tokenOut as Hex,
  minOut: terms.minOut,
  recipient: terms.recipient as Hex,
  feeTo: (terms.fee?.to ?? zeroAddress) as Hex,
  feePpm: terms.fee?.ppm ?? 0n,
  ref: terms.reference,
  deadline: terms.deadline,
  executor: executor as Hex,
})

export function encodeSwap(route: RouteToEncode, terms: SwapTerms): EncodedSwap {
  const order = orderOf(
    {
      tokenIn: route.nativeIn ? zeroAddress : route.source,
      tokenOut: route.nativeOut ? zeroAddress : route.target,
      executor: swapExecutor.address,
    },
    terms,
  )
  const calldata = encodeFunctionData({ abi: swapRouter.abi, functionName: 'swap', args: [order, encodeRoute(route)] })
  return { to: swapRouter.address, calldata, value: route.nativeIn ? terms.amountIn : 0n }
}

/** Decodes a router call; the zero address is the native currency. Null if it is not a call of `swap`. */
export function decodeSwap(calldata: Hex) {
  try {
    const { functionName, args } = decodeFunctionData({ abi: swapRouter.abi, data: calldata })
    if (functionName !== 'swap') return null
    const [order, route] = args
    return { ...order, route }
  } catch {
    // Too short, a call of another contract, or malformed arguments.
    return null
  }
}
