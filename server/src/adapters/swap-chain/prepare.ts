import { externalExecutor, swapExecutor, swapRouter } from '@swapyard/contracts'
import { decodeFunctionResult, encodeFunctionData, type Hex, keccak256, parseAbi, stringToHex } from 'viem'
import { AppError } from '../../core/domain/errors.ts'
import type { Network } from '../../core/domain/network.ts'
import type { BlockRef, FeeRate } from '../../core/ports/chain.ts'
import { assert, present } from '../../lib/assert.ts'
import { requireBalance } from '../../swap/ports/insufficient-balance.ts'
import { BelowMinimum, CoinRefused, type PreparedSwap, type SwapOrder } from '../../swap/ports/swap-chain.ts'
import type { FeeCaps } from '../chains/evm/fees.ts'
import { isNative } from '../chains/evm/native-coin.ts'
import { type EvmNode, ethCall } from '../chains/evm/node.ts'
import { balanceAt } from '../chains/evm/received.ts'
import { bytes } from '../chains/evm/replies.ts'
import { unavailable } from '../chains/evm/rpc.ts'
import { firstAvailable } from '../chains/shared/agreement.ts'
import { minOf } from '../chains/shared/min-max.ts'
import { encodeAggregatorCall } from '../dex/encode-aggregator-call.ts'
import { encodeSwap, type SwapTerms } from '../dex/encode-swap.ts'
import { readConfirmedFeeRate, readNonce, simulateOnNodes } from './confirm.ts'
import { encodeApprove, NO_REF } from './decode-action.ts'
import { l1GasOf } from './l1-gas.ts'
import { isCoinRefused, paidBelowMinimum, revertReason } from './revert-reason.ts'
import {
  type Estimate,
  estimateCalls,
  type LimitedCall,
  type NextBlock,
  type Outcome,
  readNextBlock,
  type UnsignedCall,
} from './simulate.ts'
import { feeMembers, serializeUnsigned } from './unsigned.ts'

export type PrepareContext = Readonly<{
  network: Network
  nodes: readonly EvmNode[]
  caps: FeeCaps
  wrapped: string
  /** Celo: the native currency is itself a token, so nothing is wrapped. */
  nativeIsToken: boolean
}>

const abi = parseAbi(['function allowance(address owner, address spender) view returns (uint256)'])
const router = swapRouter.address.toLowerCase()

/**
 * Prepares a swap from the state of one node, so that its values are consistent; the next node is used if one fails. Another node
 * confirms nonce, fees and outcome.
 */
export async function prepare(context: PrepareContext, order: SwapOrder): Promise<PreparedSwap> {
  if (order.swaps.length === 0 && order.aggregatorCall === undefined && !isWrap(context, order))
    throw new AppError('NO_ROUTE', 'there is no route between these tokens')
  return firstAvailable(context.nodes, (node) => prepareOn(node, context, order))
}

/** Native currency for its wrapped token, or the reverse. */
const isWrap = ({ wrapped, nativeIsToken }: PrepareContext, { tokenIn, tokenOut }: SwapOrder): boolean =>
  !nativeIsToken && (isNative(tokenIn) ? tokenOut === wrapped : tokenIn === wrapped && isNative(tokenOut))

async function prepareOn(node: EvmNode, context: PrepareContext, order: SwapOrder): Promise<PreparedSwap> {
  const { account, tokenIn, amountIn } = order
  const { network, nodes } = context
  const isNativeIn = isNative(tokenIn)
  const [nativeBalance, tokenBalance, allowance, nonce, fees, code, next] = await Promise.all([
    balanceAt(node, account, null, 'latest'),
    isNativeIn ? null : balanceAt(node, account, tokenIn, 'latest'),
    isNativeIn ? null : allowanceOf(node, tokenIn, account),
    readNonce(nodes, network, account),
    readConfirmedFeeRate(nodes, network, context.caps),
    node.ask('eth_getCode', [account, 'latest'], bytes),
    readNextBlock(node, network),
    checkDeployed(node, order.aggregatorCall ? externalExecutor.address : swapExecutor.address),
  ])
  if (!canSign(code)) {
    const field = { field: 'account' }
    throw new AppError('INVALID_ADDRESS', 'account is a contract, which cannot sign transactions', field)
  }
  const [of, available] = isNativeIn ? (['native', nativeBalance] as const) : (['token', tokenBalance ?? 0n] as const)
  requireBalance({ of, field: 'amount', required: amountIn, available })

  const swap = swapCall(context, order)
  const approve = allowance !== null && allowance < amountIn ? approval(order, amountIn) : null
  const calls = approve === null ? [swap] : [approve, swap]
  const granted = approve === null ? null : { token: tokenIn, owner: account, spender: router, units: amountIn }
  const estimates = await estimateCalls(node, calls, next, granted)
  const l1Gas = await l1GasOf(node, network, swap)
  if (approve !== null && refuses(estimates[0])) {
    if (allowance !== null && allowance > 0n)
      await throwIfResetNeeded(node, { network, fees, l1Gas, order, nonce, next })
    throw failed('the approval', present(estimates[0], 'the outcome of the approval'), next.parent)
  }
  const limited = calls.map((call, n) => {
    const estimate = present(estimates[n], 'the outcome of a call')
    if (!estimate.ok) throw failed('the swap', estimate, next.parent)
    return { ...call, gas: estimate.gas }
  })
  const checkGas = (some: readonly LimitedCall[]) => {
    const needed = some.reduce(
      (sum, call) => sum + call.value + (call.gas + l1Gas) * fees.rate + l1FeeOf(fees, call),
      0n,
    )
    const field = isNativeIn ? 'amount' : 'account'
    requireBalance({ of: 'native', field, required: needed, available: nativeBalance })
  }
  const options = { allowance: granted, fees: feeMembers(network, fees) }
  const { transactions, simulations } = await simulateOnNodes(
    { nodes, node, network, next },
    limited,
    options,
    checkGas,
  )
  const unsigned = transactions.map((call, n) =>
    serializeUnsigned(network, call, { nonce: nonce + n, gas: call.gas + l1Gas, fees }),
  )
  const simulated = simulations.map(({ block, outcome }) => {
    // Where the first node's simulation succeeds, the failure of the second shows that the nodes differ, and nothing about the route.
    if (!outcome.ok) throw failed('the swap', outcome, simulations.length > 1 ? null : block)
    return { block, amountOut: decodeAmountOut(outcome.returned) }
  })
  return {
    approve: unsigned.length > 1 ? present(unsigned[0], 'the approval') : null,
    swap: present(unsigned.at(-1), 'the swap'),
    simulatedOut: minOf(simulated.map(({ amountOut }) => amountOut)),
    simulations: simulated,
  }
}

/** An account without code, or with code that its key has delegated (EIP-7702). */
const canSign = (code: string): boolean => code === '0x' || /^0xef0100[0-9a-fA-F]{40}$/.test(code)

type CallContext = Pick<PrepareContext, 'wrapped' | 'nativeIsToken'>

export function hashCall(context: CallContext, order: Omit<SwapOrder, 'ref'>): Hex {
  return keccak256(swapCall(context, { ...order, ref: NO_REF }).input)
}

function swapCall({ wrapped, nativeIsToken }: CallContext, order: SwapOrder): UnsignedCall {
  const { account, tokenIn, tokenOut, swaps } = order
  const call = order.aggregatorCall
  assert(call === undefined || 'calldata' in call, 'the call of an EVM network has calldata')
  const [isNativeIn, isNativeOut] = [isNative(tokenIn), isNative(tokenOut)]
  const terms = termsOf(order)
  const route = {
    swaps,
    source: isNativeIn ? wrapped : tokenIn,
    target: isNativeOut ? wrapped : tokenOut,
    nativeIn: isNativeIn,
    nativeOut: isNativeOut,
    wrapped: nativeIsToken ? null : wrapped,
  }
  const { calldata, value } = call
    ? encodeAggregatorCall(call, { source: isNativeIn ? null : tokenIn, target: isNativeOut ? null : tokenOut }, terms)
    : encodeSwap(route, terms)
  return { from: account, to: router, input: calldata, value }
}

const termsOf = ({ amountIn, minReceived, recipient, feePpm, feeTo, expiry, ref }: SwapOrder): SwapTerms => ({
  amountIn,
  minOut: minReceived,
  recipient,
  fee: feePpm === 0 ? null : { to: present(feeTo, 'the recipient of the fee'), ppm: BigInt(feePpm) },
  reference: /^0x[0-9a-fA-F]{64}$/.test(ref) ? (ref.toLowerCase() as Hex) : keccak256(stringToHex(ref)),
  deadline: deadlineOf(expiry),
})

/** The contract requires a deadline. */
function deadlineOf(expiry: SwapOrder['expiry']): bigint {
  assert(expiry?.by === 'time', 'the order of an EVM network expires by time')
  return BigInt(expiry.at)
}

const approval = ({ account, tokenIn }: SwapOrder, units: bigint): UnsignedCall => ({
  ...{ from: account, to: tokenIn, value: 0n },
  input: encodeApprove(router, units),
})

/** Old tokens return nothing, which counts as true. Some return false instead of reverting. */
const refuses = (outcome: Estimate | undefined): boolean =>
  !outcome?.ok || (outcome.returned !== '0x' && BigInt(outcome.returned) !== 1n)

type ResetCheck = Readonly<{
  network: Network
  fees: FeeRate
  l1Gas: bigint
  order: SwapOrder
  nonce: number
  next: NextBlock
}>

/** Throws ALLOWANCE_RESET_REQUIRED if the token accepts an approval of 0: USDT requires it before a new allowance (line 205). */
async function throwIfResetNeeded(
  node: EvmNode,
  { network, fees, l1Gas, order, nonce, next }: ResetCheck,
): Promise<void> {
  const calls = [approval(order, 0n), approval(order, order.amountIn)]
  const [reset, renewed] = await estimateCalls(node, calls, next, null)
  // Without eth_simulateV1 each call runs on the current state, so the second fails as before and is not checked.
  if (!reset?.ok || refuses(reset) || renewed === undefined) return
  const rawTx = serializeUnsigned(network, approval(order, 0n), { nonce, gas: reset.gas + l1Gas, fees })
  throw new AppError(
    'ALLOWANCE_RESET_REQUIRED',
    'the token requires its old allowance to be reset first: sign and send `rawTx`, then build again',
    { extra: { rawTx } },
  )
}

async function allowanceOf(node: EvmNode, token: string, owner: string): Promise<bigint> {
  const input = encodeFunctionData({ abi, functionName: 'allowance', args: [owner as Hex, router as Hex] })
  const word = await ethCall(node, { to: token, data: input }, 'latest')
  return word.length === 66 ? BigInt(word) : 0n
}

/** Checked because a call of an address without code succeeds and does nothing. */
async function checkDeployed(node: EvmNode, executor: Hex): Promise<void> {
  for (const address of [swapRouter.address, executor]) {
    const code = await node.ask('eth_getCode', [address, 'latest'], bytes)
    if (code === '0x') throw unavailable(`${node.name} has no swap contract at ${address}`)
  }
}

/** `l1Fee` is the L1 fee of a transfer of 200 bytes. It grows with the size of the transaction. */
function l1FeeOf({ l1Fee = 0n }: FeeRate, { input }: UnsignedCall): bigint {
  const size = BigInt(input.length / 2 + 120)
  return (l1Fee * size + 199n) / 200n
}

function decodeAmountOut(returned: Hex): bigint {
  try {
    return decodeFunctionResult({ abi: swapRouter.abi, functionName: 'swap', data: returned })
  } catch (cause) {
    throw new AppError('SIMULATION_FAILED', 'the swap would return no result', { cause })
  }
}

/** `block`: where the outcome proves something about the route; null where it does not. */
function failed(what: string, outcome: Estimate | Outcome, block: BlockRef | null): AppError {
  const reason = outcome.ok ? 'the token returns false' : revertReason(outcome.reverted)
  const message = `${what} would fail on chain: ${reason}`
  if (!outcome.ok && isCoinRefused(outcome.reverted)) return new CoinRefused(message, reason)
  const amountOut = outcome.ok ? null : paidBelowMinimum(outcome.reverted)
  return amountOut === null || block === null
    ? new AppError('SIMULATION_FAILED', message, { extra: { reason } })
    : new BelowMinimum(message, reason, { block, amountOut })
}
