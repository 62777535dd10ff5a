import type { Chain } from '../../ports/chain.ts'
import type { Deposit } from '../../ports/store/execution.ts'

/**
 * Whether the chain's finality tag has reached the deposit's block. If a node does not offer the tag, `finalityBlocks`
 * decide instead, so that a deposit does not wait for ever because of a node's settings.
 */
export async function hasReachedFinalityTag(
  { network, reader }: Chain,
  { block, requiredTag }: Deposit,
  head: number,
): Promise<boolean> {
  if (requiredTag === null || block === null) return block !== null
  const tagHeight = await reader.tagHeight(requiredTag)
  return tagHeight === null ? head - block.height + 1 >= network.finalityBlocks : tagHeight >= block.height
}
