import type { Chain } from '../../ports/chain.ts'
import type { Deposit } from '../../ports/store/execution.ts'

/**
 * Whether the chain's own tag has passed the deposit's block. A network whose nodes do not offer the tag is waited for
 * until the depth at which nothing is looked at again: a deposit must not wait for ever because of a node's settings.
 */
export async function hasReachedFinalityTag(
  { network, reader }: Chain,
  { block, requiredTag }: Deposit,
  head: number,
): Promise<boolean> {
  if (requiredTag === null || block === null) return block !== null
  const reached = await reader.tagHeight(requiredTag)
  return reached === null ? head - block.height + 1 >= network.finalityBlocks : reached >= block.height
}
