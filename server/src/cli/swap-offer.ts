import type { SwapOffer } from '../app/swaps.ts'
import type { Config } from '../config/load.ts'
import { readSandbox } from './evm-nodes.ts'

/** The networks of swaps. Imported here: most commands need no chain, and start in half the time without. */
export async function readOffer(config: Config): Promise<SwapOffer> {
  const { productionSwaps, sandboxSwaps } = await import('../app/swaps.ts')
  if (config.environment === 'sandbox') return sandboxSwaps(readSandbox(config))
  const nodes = [...config.networks].map(([network, { rpcUrls }]) => ({ network, rpcUrls }))
  return productionSwaps(nodes, config.swaps)
}
