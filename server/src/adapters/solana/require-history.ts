import { fieldsOf, listOf, type SolanaNode, type SolanaNodes, toCount, unavailable } from './nodes.ts'

export type FinalBlock = Readonly<{ height: number; slot: number }>
type Heights = Readonly<{ since: number; until: number }>

/** Slots that are looked through for each block, until all blocks are found: some slots have no block, in a halt many. */
const SLOTS_PER_BLOCK = [2, 16, 128, 1_024] as const

/**
 * Requires the blocks of every node after the height `since`, up to that of `until`. A node that has pruned a transaction answers as one
 * that never had it, and so does a node that lost slots: after a restart from a snapshot, those before it are missing.
 */
export async function requireHistory(nodes: SolanaNodes, heights: Heights, finals: readonly FinalBlock[]) {
  const { height, slot } = finals.reduce((newest, one) => (one.slot > newest.slot ? one : newest))
  // Slots without a block have no height: the block of `until` is in this slot, or in an earlier one.
  const end = Math.max(0, slot - Math.max(0, height - heights.until))
  await nodes.every((node) => requireBlocks(node, heights, end))
}

async function requireBlocks(node: SolanaNode, { since, until }: Heights, end: number): Promise<void> {
  const missing = (what: string) =>
    unavailable(node.network, `${node.name} has no ${what}, and a swap may be in one: raise its retention`)
  const first = toCount(await node.ask('getFirstAvailableBlock', []))
  // A slot is at least the height of its block.
  if (first > since && (await readHeightAt(node, first)) > Math.max(since, 0))
    throw missing(`blocks below slot ${first}`)
  const from = Math.max(since + 1, 0)
  for (const perBlock of SLOTS_PER_BLOCK) {
    const start = Math.max(0, end - perBlock * (until - since))
    const slots = listOf(await node.ask('getBlocks', [start, end])).map(toCount)
    const latest = slots.at(-1)
    const highest = latest === undefined ? 0 : await readHeightAt(node, latest)
    if (highest < until) throw missing(`block of height ${until} up to slot ${end}`)
    // If no block is missing, the heights of the list are consecutive.
    const slot = slots[slots.length - 1 - (highest - from)]
    if (slot === undefined) continue
    if ((await readHeightAt(node, slot)) === from) return
    throw missing(`whole list of the blocks between slot ${slot} and slot ${end}`)
  }
  throw missing(`list of the blocks from height ${from} on`)
}

async function readHeightAt(node: SolanaNode, slot: number): Promise<number> {
  const options = { transactionDetails: 'none', rewards: false, maxSupportedTransactionVersion: 0 }
  return toCount(fieldsOf(await node.ask('getBlock', [slot, options]))['blockHeight'])
}
