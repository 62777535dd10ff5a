import { swapExecutor, swapRouter } from '@swapyard/contracts'
import { decodeFunctionData, encodeFunctionData, type Hex, zeroAddress } from 'viem'
import { encodeRoute, type RouteToEncode } from './encode-route.ts'

/** What SwapRouter is told, but for the route. */
export type SwapTerms = Readonly<{
  amountIn: bigint
  /** What the recipient must get at least, after the fee. */
  minOut: bigint
  recipient: string
  /** Millionths of the output, rounded down; `to` gets them. */
  fee: Readonly<{ to: string; ppm: bigint }> | null
  /** The swap's reference in the router's log, 32 bytes. */
  reference: Hex
  /** Unix seconds of the last block that may hold it. */
  deadline: bigint
}>

/** The call of the router that carries a route out. */
export type EncodedSwap = Readonly<{ to: Hex; calldata: Hex /** coins that come with it */; value: bigint }>

type Traded = Readonly<{ tokenIn: string; tokenOut: string; executor: string }>

/** What SwapRouter takes, in the order of its struct. The zero address is the native coin. */
export const orderOf = ({ tokenIn, tokenOut, executor }: Traded, terms: SwapTerms) => ({
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

/** What a call of the router says; the zero address is the native coin. Null where it is no call of `swap`. */
export function decodeSwap(calldata: Hex) {
  try {
    const { functionName, args } = decodeFunctionData({ abi: swapRouter.abi, data: calldata })
    if (functionName !== 'swap') return null
    const [order, route] = args
    return { ...order, route }
  } catch {
    // Shorter than a selector, of another contract, or not what the selector promises.
    return null
  }
}
