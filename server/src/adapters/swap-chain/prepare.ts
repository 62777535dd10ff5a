import { externalExecutor, swapExecutor, swapRouter } from '@swapyard/contracts'
import { decodeFunctionResult, encodeFunctionData, type Hex, keccak256, parseAbi, stringToHex } from 'viem'
import { AppError } from '../../core/domain/errors.ts'
import type { Network } from '../../core/domain/network.ts'
import { present } from '../../lib/assert.ts'
import { isNative } from '../../swap/domain/token.ts'
import type { PreparedSwap, SwapOrder } from '../../swap/ports/swap-chain.ts'
import { type FeeCaps, readFeeRate } from '../chains/evm/fees.ts'
import { type EvmNode, ethCall } from '../chains/evm/node.ts'
import { balanceAt } from '../chains/evm/received.ts'
import { bytes, count } from '../chains/evm/replies.ts'
import { unavailable } from '../chains/evm/rpc.ts'
import { encodeOutside } from '../dex/encode-outside.ts'
import { encodeSwap, type SwapTerms } from '../dex/encode-swap.ts'
import { encodeApprove, NO_REF } from './act.ts'
import { l1GasOf } from './l1-gas.ts'
import { revertReason } from './revert-reason.ts'
import { type UnsignedCall, type Outcome, simulate } from './simulate.ts'
import { type FeeRates, serializeUnsigned } from './unsigned.ts'

export type PrepareContext = Readonly<{
  network: Network
  nodes: readonly EvmNode[]
  caps: FeeCaps
  wrapped: string
  /** The coin is itself a token (Celo): nothing is wrapped. */
  nativeIsToken: boolean
}>

const abi = parseAbi(['function allowance(address owner, address spender) view returns (uint256)'])
const router = swapRouter.address.toLowerCase()

/** Everything is read from one node, so that it fits together; the next is asked only where one does not answer. */
export async function prepare(parts: PrepareContext, order: SwapOrder): Promise<PreparedSwap> {
  if (order.swaps.length === 0 && order.aggregatorCall === undefined && !isWrap(parts, order))
    throw new AppError('NO_ROUTE', 'there is no route between these tokens')
  if (order.minReceived <= 0n || order.amountIn <= 0n) {
    throw new AppError('AMOUNT_BELOW_MIN', 'the amount is too small: nothing would be received', { field: 'amount' })
  }
  let last: unknown
  for (const node of parts.nodes) {
    try {
      return await prepareOn(node, parts, order)
    } catch (error) {
      if (!(error instanceof AppError && error.retryable)) throw error
      last = error
    }
  }
  throw last
}

/** The coin for its wrapped token, or back. */
const isWrap = ({ wrapped, nativeIsToken }: PrepareContext, { tokenIn, tokenOut }: SwapOrder): boolean =>
  !nativeIsToken && (isNative(tokenIn) ? tokenOut === wrapped : tokenIn === wrapped && isNative(tokenOut))

async function prepareOn(node: EvmNode, parts: PrepareContext, order: SwapOrder): Promise<PreparedSwap> {
  const { account, tokenIn, amountIn } = order
  const coinIn = isNative(tokenIn)
  const [coins, tokens, allowed, nonce, fee, code] = await Promise.all([
    balanceAt(node, account, null, 'latest'),
    coinIn ? null : balanceAt(node, account, tokenIn, 'latest'),
    coinIn ? null : allowanceOf(node, tokenIn, account),
    nonceOf(parts.nodes, node, account),
    readFeeRate([node], parts.network, parts.caps),
    node.ask('eth_getCode', [account, 'latest'], bytes),
    checkDeployed(node, order.aggregatorCall ? externalExecutor.address : swapExecutor.address),
  ])
  if (!canSign(code)) {
    const field = { field: 'account' }
    throw new AppError('INVALID_ADDRESS', 'account is a contract: nobody can sign its transactions', field)
  }
  const held = tokens ?? coins
  if (held < amountIn) throw insufficient({ ofCoin: coinIn, field: 'amount' }, amountIn, held)

  const swap = swapCall(parts, order)
  const approve = allowed !== null && allowed < amountIn ? approval(order, amountIn) : null
  const outcomes = await simulate(node, {
    calls: approve === null ? [swap] : [approve, swap],
    allows: approve === null ? null : { token: tokenIn, owner: account, spender: router, units: amountIn },
  })
  const own = { network: parts.network, fees: fee, l1Gas: await l1GasOf(node, parts.network, swap) }
  if (approve !== null && refuses(outcomes[0])) {
    if (allowed !== null && allowed > 0n) await askReset(node, { ...own, order, nonce })
    throw failed('the approval', present(outcomes[0], 'the outcome of the approval'))
  }
  const done = present(outcomes.at(-1), 'the outcome of the swap')
  if (!done.ok) throw failed('the swap', done)
  const simulatedOut = outOf(done.returned)

  const made: Made[] = []
  const [approved] = outcomes
  if (approve !== null && approved?.ok) made.push({ call: approve, nonce, gas: approved.gas + own.l1Gas })
  made.push({ call: swap, nonce: nonce + made.length, gas: done.gas + own.l1Gas })
  const needed = made.reduce((sum, one) => sum + one.call.value + one.gas * fee.rate + l1FeeOf(fee, one.call), 0n)
  if (coins < needed) throw insufficient({ ofCoin: true, field: coinIn ? 'amount' : 'account' }, needed, coins)
  const [first, second] = made.map((one) => serializeUnsigned(parts.network, one.call, { ...one, fees: fee }))
  const last = present(second ?? first, 'the swap')
  return { approve: second === undefined ? null : present(first, 'the approval'), swap: last, simulatedOut }
}

/** An account without code, or one that had its key lend it some (EIP-7702). */
const canSign = (code: string): boolean => code === '0x' || /^0xef0100[0-9a-fA-F]{40}$/.test(code)

type Made = Readonly<{ call: UnsignedCall; nonce: number; gas: bigint }>

type CallParts = Pick<PrepareContext, 'wrapped' | 'nativeIsToken'>

export function callHash(parts: CallParts, order: Omit<SwapOrder, 'ref'>): Hex {
  return keccak256(swapCall(parts, { ...order, ref: NO_REF }).input)
}

function swapCall({ wrapped, nativeIsToken }: CallParts, order: SwapOrder): UnsignedCall {
  const { account, tokenIn, tokenOut, swaps, aggregatorCall } = order
  const [coinIn, coinOut] = [isNative(tokenIn), isNative(tokenOut)]
  const terms = termsOf(order)
  const route = {
    swaps,
    source: coinIn ? wrapped : tokenIn,
    target: coinOut ? wrapped : tokenOut,
    coinIn,
    coinOut,
    wrapped: nativeIsToken ? null : wrapped,
  }
  const { calldata, value } = aggregatorCall
    ? encodeOutside(aggregatorCall, { source: coinIn ? null : tokenIn, target: coinOut ? null : tokenOut }, terms)
    : encodeSwap(route, terms)
  return { from: account, to: router, input: calldata, value }
}

const termsOf = ({ amountIn, minReceived, recipient, feePpm, feeTo, deadline, ref }: SwapOrder): SwapTerms => ({
  amountIn,
  minOut: minReceived,
  recipient,
  fee: feePpm === 0 ? null : { to: feeTo, ppm: BigInt(feePpm) },
  reference: /^0x[0-9a-fA-F]{64}$/.test(ref) ? (ref.toLowerCase() as Hex) : keccak256(stringToHex(ref)),
  deadline: BigInt(deadline),
})

const approval = ({ account, tokenIn }: SwapOrder, units: bigint): UnsignedCall => ({
  ...{ from: account, to: tokenIn, value: 0n },
  input: encodeApprove(router, units),
})

/** Old tokens return nothing, which is as good as true; some return false in place of a revert. */
const refuses = (outcome: Outcome | undefined): boolean =>
  !outcome?.ok || (outcome.returned !== '0x' && BigInt(outcome.returned) !== 1n)

type Resetting = Readonly<{ network: Network; fees: FeeRates; l1Gas: bigint; order: SwapOrder; nonce: number }>

/** Throws ALLOWANCE_RESET_REQUIRED where the token takes an approval of nothing: USDT wants that before another (its line 205). */
async function askReset(node: EvmNode, { network, fees, l1Gas, order, nonce }: Resetting): Promise<void> {
  const calls = [approval(order, 0n), approval(order, order.amountIn)]
  const [reset, renewed] = await simulate(node, { calls, allows: null })
  // Without eth_simulateV1 each is tried on the state as it is: then the second fails for the same reason as before.
  if (!reset?.ok || refuses(reset) || renewed === undefined) return
  const rawTx = serializeUnsigned(network, approval(order, 0n), { nonce, gas: reset.gas + l1Gas, fees })
  throw new AppError(
    'ALLOWANCE_RESET_REQUIRED',
    'the token takes no new allowance while an old one stands: sign and send `rawTx`, then ask again',
    { extra: { rawTx } },
  )
}

/** Nodes differ in what they have seen: the highest is right, for a lower one would replace what waits. */
async function nonceOf(nodes: readonly EvmNode[], own: EvmNode, account: string): Promise<number> {
  const ask = (node: EvmNode) => node.ask('eth_getTransactionCount', [account, 'pending'], count)
  const others = await Promise.all(nodes.filter((node) => node !== own).map((node) => ask(node).catch(() => 0)))
  return Math.max(await ask(own), ...others)
}

async function allowanceOf(node: EvmNode, token: string, owner: string): Promise<bigint> {
  const input = encodeFunctionData({ abi, functionName: 'allowance', args: [owner as Hex, router as Hex] })
  const word = await ethCall(node, { to: token, data: input }, 'latest')
  return word.length === 66 ? BigInt(word) : 0n
}

/** A call of an address without code succeeds and does nothing. */
async function checkDeployed(node: EvmNode, executor: Hex): Promise<void> {
  for (const address of [swapRouter.address, executor]) {
    const code = await node.ask('eth_getCode', [address, 'latest'], bytes)
    if (code === '0x') throw unavailable(`${node.name} has no swap contract at ${address}`)
  }
}

/** What the first layer takes is told for a transfer of 200 bytes, and grows with the bytes. */
function l1FeeOf({ l1Fee = 0n }: FeeRates, { input }: UnsignedCall): bigint {
  const size = BigInt(input.length / 2 + 120)
  return (l1Fee * size + 199n) / 200n
}

function outOf(returned: Hex): bigint {
  try {
    return decodeFunctionResult({ abi: swapRouter.abi, functionName: 'swap', data: returned })
  } catch (cause) {
    throw new AppError('SIMULATION_FAILED', 'the swap would end without a result', { cause })
  }
}

function failed(what: string, outcome: Outcome): AppError {
  const reason = outcome.ok ? 'the token answers false' : revertReason(outcome.reverted)
  return new AppError('SIMULATION_FAILED', `${what} would fail on chain: ${reason}`, { extra: { reason } })
}

type Lack = Readonly<{ /** with what gas costs */ ofCoin: boolean; field: 'amount' | 'account' }>

/** In units: whoever knows the token tells partners in decimals. */
function insufficient({ ofCoin, field }: Lack, required: bigint, available: bigint): AppError {
  const message = `the account holds too little of the ${ofCoin ? 'native coin' : 'token to swap'}`
  const extra = { of: ofCoin ? 'coin' : 'token', required: required.toString(), available: available.toString() }
  return new AppError('INSUFFICIENT_BALANCE', message, { field, extra })
}
