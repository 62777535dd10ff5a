import { externalExecutor, swapRouter } from '@swapyard/contracts'
import {
  type Address,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  keccak256,
  parseAbi,
  zeroAddress,
  zeroHash,
} from 'viem'
import type { SignedTransaction } from '../../swap/ports/swap-chain.ts'
import { nativeAddress } from '../chains/evm/native-coin.ts'
import { decodeRoute } from '../dex/decode-route.ts'
import { decodeAggregatorCall } from '../dex/encode-aggregator-call.ts'
import { decodeSwap } from '../dex/encode-swap.ts'

const abi = parseAbi(['function approve(address spender, uint256 units) returns (bool)'])
const router = swapRouter.address.toLowerCase()
const external = externalExecutor.address.toLowerCase()

/** Zero reference for the call hash: the reference depends on the hash. */
export const NO_REF = zeroHash

export const encodeApprove = (spender: string, units: bigint): Hex =>
  encodeFunctionData({ abi, functionName: 'approve', args: [spender as Address, units] })

/**
 * Decodes an approval or a call of our router; null for anything else. Calldata that does not encode to the same bytes again is
 * not decoded, because a contract could read it differently.
 */
export function decodeAction(to: string | null, input: Hex, value: bigint): SignedTransaction['action'] {
  if (to === null) return null
  if (to === router) return decodeRouterCall(input, value)
  return decodePlainApproval(to, input, value) ?? decodeUnsupportedApproval(input)
}

const APPROVE = '0x095ea7b3'
/** Besides `approve`: increaseAllowance, increaseApproval, setApprovalForAll. */
const allowanceSelectors: ReadonlySet<string> = new Set([APPROVE, '0x39509351', '0xd73dd623', '0xa22cb465'])

/** Detects allowances by selector alone: tokens also accept calldata with trailing bytes or a value. */
const decodeUnsupportedApproval = (input: Hex): SignedTransaction['action'] =>
  allowanceSelectors.has(input.slice(0, APPROVE.length)) ? { kind: 'unsupported-approval' } : null

function decodePlainApproval(token: string, input: Hex, value: bigint): SignedTransaction['action'] {
  if (value !== 0n || !input.startsWith(APPROVE) || input.length !== 2 + 2 * (4 + 64)) return null
  try {
    const [spender, units] = decodeFunctionData({ abi, data: input }).args
    return encodeApprove(spender, units) === input
      ? { kind: 'approve', token, spender: spender.toLowerCase(), units }
      : null
  } catch {
    // Non-zero bits above the address.
    return null
  }
}

function decodeRouterCall(input: Hex, value: bigint): SignedTransaction['action'] {
  const call = decodeSwap(input)
  if (call === null) return null
  const { route, ...order } = call
  const encode = (ref: Hex) =>
    encodeFunctionData({ abi: swapRouter.abi, functionName: 'swap', args: [{ ...order, ref }, route] })
  if (encode(order.ref) !== input) return null
  if (value !== (order.tokenIn === zeroAddress ? order.amountIn : 0n)) return null
  if (order.deadline > BigInt(Number.MAX_SAFE_INTEGER) || order.feePpm > 1_000_000n) return null
  const isAggregatorCall = order.executor.toLowerCase() === external
  const aggregatorCall = isAggregatorCall ? decodeAggregatorCall(route, order.tokenIn, order.tokenOut) : null
  if (isAggregatorCall && aggregatorCall === null) return null
  const names = isAggregatorCall ? { pools: [], tokens: [] } : decodeRoute(route)
  return {
    ...(aggregatorCall === null ? {} : { aggregatorCall }),
    kind: 'swap',
    executor: order.executor.toLowerCase(),
    tokenIn: tokenOf(order.tokenIn),
    tokenOut: tokenOf(order.tokenOut),
    amountIn: order.amountIn,
    minReceived: order.minOut,
    recipient: order.recipient.toLowerCase(),
    feePpm: Number(order.feePpm),
    feeTo: order.feePpm === 0n ? null : order.feeTo.toLowerCase(),
    expiry: { by: 'time', at: Number(order.deadline) },
    ref: order.ref.toLowerCase(),
    callHash: keccak256(encode(NO_REF)),
    pools: names.pools,
    routeTokens: names.tokens,
  }
}

const tokenOf = (token: string): string => (token === zeroAddress ? nativeAddress : token.toLowerCase())
