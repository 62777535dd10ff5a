import { AppError } from '../../core/domain/errors.ts'
import { type SolanaNode, type SolanaNodes, toCount } from './nodes.ts'

/*
 * A single node can invent any state. Where several are configured, a second one simulates the same transaction. A node that does not
 * answer, or that does not follow the chain, confirms nothing: then the swap is built from one node (SECURITY.md).
 */

/** Time for a second node to catch up with the first. */
const CATCH_UP_MS = 2_000
const CATCH_UP_PACE_MS = 200
/** A node whose newest block is older, by our clock, does not follow the chain. */
const HEAD_AGE_MS = 90_000

/** The simulation by another node than `node`, which simulated at `slot`; null if none confirms anything. */
export async function simulateOnOther<T extends Readonly<{ slot: number }>>(
  nodes: SolanaNodes,
  { node, slot }: Readonly<{ node: SolanaNode; slot: number }>,
  simulate: (other: SolanaNode) => Promise<T>,
): Promise<T | null> {
  for (const other of nodes.others(node)) {
    const simulated = await simulateOn(other, slot, simulate)
    if (simulated !== null) return simulated
  }
  return null
}

async function simulateOn<T extends Readonly<{ slot: number }>>(
  other: SolanaNode,
  slot: number,
  simulate: (other: SolanaNode) => Promise<T>,
): Promise<T | null> {
  try {
    let simulated = await simulate(other)
    // A payment to the account in the newest block may not have reached this node yet.
    for (let waitedMs = 0; simulated.slot < slot && waitedMs < CATCH_UP_MS; waitedMs += CATCH_UP_PACE_MS) {
      await new Promise((resolve) => setTimeout(resolve, CATCH_UP_PACE_MS))
      simulated = await simulate(other)
    }
    return simulated.slot >= slot || (await isFollowing(other, simulated.slot)) ? simulated : null
  } catch (error) {
    if (error instanceof AppError && error.retryable) return null
    throw error
  }
}

/** Whether the time of the node's newest block shows that it follows the chain. The slot that another node claims shows nothing. */
async function isFollowing(node: SolanaNode, slot: number): Promise<boolean> {
  return Date.now() - 1000 * toCount(await node.ask('getBlockTime', [slot])) <= HEAD_AGE_MS
}
