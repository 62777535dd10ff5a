import { decodeFunctionData, encodeFunctionData, type Hex, parseAbi } from 'viem'
import type { ContractCall } from '../../swap/ports/aggregator.ts'
import { askEveryNode, type EvmNode, ethCall } from '../chains/evm/node.ts'
import { callFailure } from './call-failure.ts'

/** 0x's AllowanceHolder: lets `operator` take `amount` of `token` from its caller while it calls `target`. */
const abi = parseAbi([
  'function exec(address operator, address token, uint256 amount, address target, bytes data)',
  'function ownerOf(uint256 feature) view returns (address)',
  'function prev(uint128 feature) view returns (address)',
])
const EXEC = '0x2213bc0b'
/** On chains with and without the Cancun fork. */
const holders: ReadonlySet<string> = new Set([
  '0x0000000000001ff3684f28c67538d4d072c22734',
  '0x000000000000175a8b9bc6d539b3708eed92ea6c',
])
/** 0x's registry of its Settler contracts, at the same address on every chain (github.com/0xProject/0x-settler, README). */
const REGISTRY = '0x00000000000004533fe15556b1e086bb1a72ceae'
/** Swaps that the taker submits. */
const FEATURE = 2n

/**
 * Whether a call hands its input only to contracts that are known. 0x's AllowanceHolder calls any contract, so the Settler that it
 * names must be in 0x's registry, of every node. Calls of other aggregators are not decoded: their routers take any steps.
 */
export async function isKnownCall(
  nodes: readonly EvmNode[],
  { target, spender, calldata }: ContractCall,
  tokenIn: string,
): Promise<boolean> {
  if (!holders.has(target) && !calldata.startsWith(EXEC)) return true
  const call = decodeExec(calldata)
  if (call === null) return false
  const settlers = await askEveryNode(nodes, readSettlers)
  const isSettler = (address: string) => settlers.every((some) => some.has(address))
  if (!isSettler(call.target)) return false
  // Native currency is sent as value: no operator takes it.
  return spender === null || (call.operator === call.target && call.token === tokenIn)
}

function decodeExec(calldata: string): Readonly<{ operator: string; token: string; target: string }> | null {
  try {
    const { functionName, args } = decodeFunctionData({ abi, data: calldata as Hex })
    if (functionName !== 'exec') return null
    const [operator, token, , target] = args
    return { operator: operator.toLowerCase(), token: token.toLowerCase(), target: target.toLowerCase() }
  } catch {
    // Another function.
    return null
  }
}

/** The current Settler and the one before it, which stays valid for a while. Empty if the registry is absent, or 0x has paused. */
async function readSettlers(node: EvmNode): Promise<ReadonlySet<string>> {
  const [current, previous] = await Promise.all([
    readAddress(node, encodeFunctionData({ abi, functionName: 'ownerOf', args: [FEATURE] })),
    readAddress(node, encodeFunctionData({ abi, functionName: 'prev', args: [FEATURE] })),
  ])
  return new Set(current === null ? [] : [current, ...(previous === null ? [] : [previous])])
}

/** Null for a revert, an empty answer, and the zero address. */
async function readAddress(node: EvmNode, data: Hex): Promise<string | null> {
  try {
    const answer = await ethCall(node, { to: REGISTRY, data }, 'latest')
    return answer.length === 66 && BigInt(answer) !== 0n ? `0x${answer.slice(-40).toLowerCase()}` : null
  } catch (error) {
    if ((await callFailure(node, error)) !== null) return null
    throw error
  }
}
