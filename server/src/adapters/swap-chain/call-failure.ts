import type { Hex } from 'viem'
import { type EvmNode, ethCall } from '../chains/evm/node.ts'
import { refusalOf } from '../chains/evm/rpc.ts'

/** Error codes of a failed call: geth and its forks 3, for other halts -32000; Nethermind -32015. */
const failureCodes: ReadonlySet<number> = new Set([3, -32000, -32015])
/** "Internal error": of the node, or of the call (anvil; other nodes when a call runs out of gas). */
const INTERNAL = -32603
/** The identity precompile: its call succeeds if the node works. */
const IDENTITY = '0x0000000000000000000000000000000000000004'

/** The failure of a call in the contract, with its revert data. Null if the node failed; may throw if the node is down. */
export async function callFailure(node: EvmNode, error: unknown): Promise<{ reverted: Hex | null } | null> {
  const refusal = refusalOf(error)
  if (refusal === null) return null
  const { code, reverted } = refusal
  if (reverted !== null || failureCodes.has(code)) return { reverted }
  if (code !== INTERNAL) return null
  await ethCall(node, { to: IDENTITY, data: '0x' }, 'latest')
  return { reverted }
}
