import type { Hex } from 'viem'
import { type EvmNode, ethCall } from '../chains/evm/node.ts'
import { refusalOf } from '../chains/evm/rpc.ts'

/** Codes by which nodes say that the call itself failed: geth and its kin 3 and, for other halts, -32000; Nethermind -32015. */
const failureCodes: ReadonlySet<number> = new Set([3, -32000, -32015])
/** "Internal error": of the node, or (anvil, and others on running out of gas) of the call. */
const INTERNAL = -32603
/** The identity precompile: a call that works wherever the node does. */
const IDENTITY = '0x0000000000000000000000000000000000000004'

/** The failure of a call in the contract, with what it reverted with; null where it is the node's. */
export async function callFailure(node: EvmNode, error: unknown): Promise<{ reverted: Hex | null } | null> {
  const refusal = refusalOf(error)
  if (refusal === null) return null
  const { code, reverted } = refusal
  if (reverted !== null || failureCodes.has(code)) return { reverted }
  if (code !== INTERNAL) return null
  await ethCall(node, { to: IDENTITY, data: '0x' }, 'latest')
  return { reverted }
}
