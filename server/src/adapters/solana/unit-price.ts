import { fieldsOf, listOf, type SolanaNode, toUnits } from './nodes.ts'

/** Millionths of a lamport. At the limit of 1.4 million units the highest price is 0.0014 SOL. */
export const PRICE_MAX = 1_000_000n
/** The share of recent blocks whose least price is below ours. */
const RANK = 0.75

/** The price of a compute unit that recent blocks took for writes of these accounts. */
export async function readUnitPrice(node: SolanaNode, writable: readonly string[]): Promise<bigint> {
  const reply = await node.ask('getRecentPrioritizationFees', [writable])
  const prices = listOf(reply)
    .map((one) => toUnits(fieldsOf(one)['prioritizationFee']))
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const price = prices[Math.floor(prices.length * RANK)] ?? 0n
  return price < PRICE_MAX ? price : PRICE_MAX
}
